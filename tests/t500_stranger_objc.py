# SPDX-License-Identifier: MIT
# shows: the report of an Objective-C program is exactly what the program says it did, on every GPU and wrapper depth
# timeout: 900
"""Runs tests/targets/stranger_objc plain and tapped; the report, its words and softmetal's log agree."""

import os
import shutil
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402

HALF = "a\ufffdb\ufffd\ufffd"
FAILS = 3  # the fourth command buffer that is committed


def made(lines, kind):
    return [(line[kind], line["detail"], line["made"]) for line in lines if kind in line and "made" in line]


def check_made(report, lines):
    r.expect("queues", [(HALF if name == "half" else name, detail) for name, detail, _ in made(lines, "queue")],
             [(row["label"], str(row["max_command_buffers"] or 0)) for row in report["queues"]])
    r.expect("libraries", [(form, ok) for form, _, ok in made(lines, "library")],
             [(row["form"] + (",async" if row["async"] else ""), int(not row["error"])) for row in report["libraries"]])
    r.expect("functions", made(lines, "function"),
             [(row["name"], row["constants"], int(not row["error"])) for row in report["functions"]])
    r.expect("pipelines", made(lines, "pipeline"),
             [(row["name"], ",".join(sorted(row["flags"])), int(not row["error"])) for row in report["pipelines"]])
    for row in report["pipelines"]:
        function = next(f for f in report["functions"] if f["id"] == row["function"])
        r.expect(f"constants of {row}", function["constants"], row["constants"])


def check_events(report, lines):
    waited = next(line for line in lines if "shared_event_waits" in line)["shared_event_waits"]
    r.expect("waits for shared events", waited,
             [row["value"] for row in report["waits"] if row["kind"] == "shared_event"])


def check_failure(report):
    failed = [row for row in report["command_buffers"] if row["end"] == "failed"]
    r.expect("failed", 1, len(failed))
    r.require(f"error of {failed[0]}", failed[0]["status"] == 5 and failed[0]["error"])
    listed = {(row["object"], row["name"]) for row in report["errors"]["listed"]}
    r.require(f"errors of a buffer, a library and a pipeline: {listed}",
              {kind for kind, _ in listed} >= {"command_buffer", "library", "pipeline"})


def check(folder, **settings):
    folder.mkdir()
    program = folder / "stranger_objc"
    shutil.copy(r.target("stranger_objc"), program)
    (folder / "default.metal").write_text("kernel void beside_the_program() {}\n")
    settings = {"LD_LIBRARY_PATH": r.BUILD / "lib", "SOFTMETAL_FAULT": f"fail-cb:{FAILS}", **settings}
    plain = r.run([program, folder], folder, **settings)
    output = r.must_work(plain)
    done = r.tapped([program, folder], folder, SOFTMETAL_LOG=folder / "log", **settings)
    r.expect("output with the tap", output, r.must_work(done))
    report = r.Report(folder / "report.json")
    r.check_consistency(report)
    lines = r.lines_of(output)
    check_made(report, lines)
    r.check_work(report, output)
    check_events(report, lines)
    check_failure(report)
    r.check_log(report, folder / "log", output)


for depth in "012":
    for profile in ("apple", "amd", "none"):
        check(r.WORK / f"{depth}{profile}", SOFTMETAL_DEBUG_LAYER=depth, SOFTMETAL_PROFILE=profile)
