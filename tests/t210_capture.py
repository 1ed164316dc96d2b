# SPDX-License-Identifier: MIT
# shows: a capture has the command buffers made after its start and committed before its stop, and says what is wrong
"""Runs tests/targets/capture in every way it has, at every wrapper depth, and reads the bundles it leaves."""

import json
import os
import pathlib
import subprocess
import sys

CAPTURE = pathlib.Path(os.environ["BUILD"]) / "tests/targets/capture"
WORK = pathlib.Path(os.environ["WORK"])
NOT_ENABLED = "Set METAL_CAPTURE_ENABLED=1 in the environment before the first device is made."


def expect(what, expected, actual):
    if expected != actual:
        sys.exit(f"{what}:\n  expected {expected}\n  got      {actual}")


def capture(folder, way, **variables):
    """Runs one way in a folder of its own; returns the lines it printed and what it wrote to stderr."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([CAPTURE, way], cwd=folder, env={**os.environ, **variables}, capture_output=True,
                          text=True, check=False)
    if done.returncode:
        sys.exit(f"capture {way}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines(), done.stderr


def manifest(bundle):
    with open(bundle / "softmetal-capture.json", encoding="utf-8") as file:
        return json.load(file)


def labels(bundle):
    return [buffer["label"] for buffer in manifest(bundle)["command_buffers"]]


def check_errors(folder, enabled):
    lines, _ = capture(folder, "errors", **enabled)
    invalid = "MTLCaptureErrorDomain 3 "
    expect("errors", [
        "supports documents 1, developer tools 0",
        f"no object: {invalid}Capture object must not be nil.",
        f"wrong object: {invalid}Capture object must be a device, a command queue or a capture scope.",
        f"no URL: {invalid}Output URL must be a file URL.",
        f"no file URL: {invalid}Output URL must be a file URL.",
        f"existing path: {invalid}Output URL already exists: {folder / 'there'}",
        "developer tools: MTLCaptureErrorDomain 1 Capturing to developer tools is not supported.",
        "older form, capturing 0",
        "right: started, capturing 1, error none",
        "second: MTLCaptureErrorDomain 2 A capture is already in progress.",
        "stopped, capturing 0",
        f"again: {invalid}Output URL already exists: {folder / 'a.gputrace'}",
    ], lines)
    expect("only the right one left something", ["a.gputrace", "there"], sorted(os.listdir(folder)))


def check_not_enabled(folder):
    for name, variables in {"unset": {}, "zero": {"METAL_CAPTURE_ENABLED": "0"}}.items():
        lines, _ = capture(folder / name, "errors", **variables)
        expect("not enabled", "supports documents 0, developer tools 0", lines[0])
        right = [line for line in lines if line.startswith("right: MTLCaptureErrorDomain 1 ")]
        expect("refused with the reason", [True], [line.endswith(NOT_ENABLED) for line in right])
    lines, _ = capture(folder / "late", "late")
    expect("enabled after the first device", True, lines[0].endswith(NOT_ENABLED))
    lines, _ = capture(folder / "other-name", "errors", MTL_CAPTURE_ENABLED="1")
    expect("the other variable", "supports documents 1, developer tools 0", lines[0])


def check_span(folder, enabled):
    lines, _ = capture(folder, "span", **enabled)
    expect("span", ["span: started, capturing 1, error none", "stopped, capturing 0"], lines[:2])
    expect("made after the start, committed before the stop, in order of commit", ["two", "one"],
           labels(folder / "span.gputrace"))
    found = manifest(folder / "span.gputrace")
    expect("queues", ["", "first"], [buffer["queue"] for buffer in found["command_buffers"]])
    expect("producer", ("softmetal", 1), (found["producer"], found["version"]))
    expect("captured", {"type": "device", "name": "Softmetal G1"}, found["capture_object"])
    expect("start before stop", True, 0 < found["start_ns"] < found["stop_ns"])
    expect("nothing in between", [], labels(folder / "empty.gputrace"))
    note = (folder / "span.gputrace/README-softmetal.txt").read_text()
    expect("the note says whose it is", True, "softmetal" in note and "Xcode cannot open it" in note)


def check_objects(folder, enabled):
    capture(folder, "queue", **enabled)
    expect("only that queue's", ["mine"], labels(folder / "queue.gputrace"))
    expect("object", {"type": "queue", "name": "first"}, manifest(folder / "queue.gputrace")["capture_object"])
    lines, _ = capture(folder, "scopes", **enabled)
    expect("scopes", ["default scope 1, its queue 1", "scope-queue.gputrace: started, capturing 1, error none",
                      "ended, capturing 0", "scope-device.gputrace: started, capturing 1, error none",
                      "ended, capturing 0"], lines)
    expect("the scope of a queue", ["in"], labels(folder / "scope-queue.gputrace"))
    expect("the scope of a device", ["in", "in, other queue"], labels(folder / "scope-device.gputrace"))
    expect("object", {"type": "scope", "name": "the scope"},
           manifest(folder / "scope-queue.gputrace")["capture_object"])


def check_contents(folder, enabled):
    lines, _ = capture(folder, "contents", **enabled)
    expect("it ran", "status 4, a: 1 1 1", lines[-1])
    bundle = folder / "contents.gputrace"
    found = manifest(bundle)
    [buffer] = found["command_buffers"]
    work = {"kernel": "work", "buffers": [0], "threadgroup_memory": 32}
    expect("command buffer", {"label": "all kinds", "queue": "first", "encoders": [
        {"type": "compute", "label": 'compute "1"', "dispatch_type": "serial", "commands": 3, "dispatches": [
            {**work, "form": "threads", "grid": [5, 2, 1], "threadgroup": [4, 1, 1]},
            {**work, "form": "threadgroups", "grid": [24, 1, 1], "threadgroup": [8, 1, 1], "group": "outer/inner"},
            {**work, "form": "indirect", "threadgroup": [1, 1, 1]}]},
        {"type": "compute", "label": "", "dispatch_type": "concurrent", "commands": 1, "dispatches": [
            {"form": "indirect command buffer", "kernel": "", "buffers": [], "threadgroup_memory": 0}]}]}, buffer)
    expect("pipelines that were used", ["recorded", "work", "work"], [p["kernel"] for p in found["pipelines"]])
    sources = {p["source"]: (bundle / p["source"]).read_text() for p in found["pipelines"]}
    expect("their files", ["sources/recorded.metal", "sources/work-2.metal", "sources/work.metal"], sorted(sources))
    texts = sorted(sources.values())
    expect("their sources", [True, True, True],
           ["a[0] = 1" in texts[1] and "unused" in texts[1], "a[1] = 1" in texts[2], "a[2] = 1" in texts[0]])


def check_taken(folder, enabled):
    lines, messages = capture(folder, "taken", **enabled)
    expect("stopped all the same", "stopped, capturing 0", lines[-1])
    expect("what came in between stays", [], os.listdir(folder / "taken.gputrace"))
    expect("nothing else is left", ["taken.gputrace"], os.listdir(folder))
    expect("it is told", f"softmetal: capture: cannot write {folder / 'taken.gputrace'}: File exists\n", messages)


def main():
    check_not_enabled(WORK / "off")
    for depth in ("0", "1", "2"):
        enabled = {"METAL_CAPTURE_ENABLED": "1", "SOFTMETAL_DEBUG_LAYER": depth}
        for check in (check_errors, check_span, check_objects, check_contents, check_taken):
            check(WORK / f"depth{depth}" / check.__name__, enabled)


main()
