# SPDX-License-Identifier: MIT
# shows: everything a program makes is in the report, in every form, with names, constants, errors and sizes
"""Runs tests/targets/creation plain and tapped, with wrappers and on other GPUs: what it prints is in the report."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import sanitizers  # noqa: E402

BUILD = pathlib.Path(os.environ["BUILD"])
WORK = pathlib.Path(os.environ["WORK"])
LABELLED_LATER = "later named"
sanitizers.without_symbols()


def expect(what, expected, actual):
    if expected != actual:
        sys.exit(f"{what}:\n  expected {expected}\n  got      {actual}")


def run(folder, **variables):
    done = subprocess.run([BUILD / "tests/targets/creation", folder], env={**os.environ, **variables},
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"creation: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout.splitlines(), done.stderr


def outcome(made):
    return "failed" if made["error"] else "made"


def queues(report):
    return [f"queue {q['max_command_buffers'] or 0} {q['label'] or '-'}" for q in report["queues"]]


def libraries(report):
    for library in report["libraries"]:
        form = library["form"] + (",async" if library["async"] else "")
        name = "-" if library["name"] in (None, LABELLED_LATER) else library["name"]
        yield f"library {form} {name} {library['source_bytes'] or 0} {outcome(library)}"


def functions(report):
    for function in report["functions"]:
        yield f"function {function['name']} [{function['constants'] or ''}] {outcome(function)}"


def pipelines(report):
    for pipeline in report["pipelines"]:
        numbers = [pipeline[key] or 0 for key in ("max_threads", "execution_width", "static_threadgroup_bytes")]
        yield (f"pipeline {pipeline['name']} [{pipeline['constants'] or ''}] [{','.join(sorted(pipeline['flags']))}] "
               f"{' '.join(map(str, numbers))} {outcome(pipeline)}")


def memory_rows(report):
    events = report["memory"]["events"]
    return [dict(zip(events["columns"], row)) for row in events["rows"]]


def memory(report):
    return [f"{row['what']} {row['kind']} {row['bytes']}" for row in memory_rows(report)]


def check_kind(lines, kind, rows):
    expect(kind, [line for line in lines if line.split()[0] in kind.split("/")], list(rows))


def check_totals(report):
    """Each release is that of an allocation before it; a heap's buffers do not count."""
    alive, total, peak = {}, 0, 0
    for row in memory_rows(report):
        counts = 0 if row["kind"] == "heap_buffer" else row["bytes"]
        if row["what"] == "allocate":
            alive[row["number"]] = (row["kind"], row["bytes"])
            total += counts
        else:
            expect("what is released", alive.pop(row["number"]), (row["kind"], row["bytes"]))
            total -= counts
        expect(f"total after {row}", total, row["total_bytes"])
        peak = max(peak, total)
    expect("left alive", {}, alive)
    expect("now and peak", (0, peak), (report["memory"]["now_bytes"], report["memory"]["peak_bytes"]))


def check_links(report):
    """Names are those of the function, functions belong to the library they came from."""
    of = {function["id"]: function for function in report["functions"]}
    for pipeline in report["pipelines"]:
        function = of[pipeline["function"]]
        expect("constants of a pipeline", function["constants"], pipeline["constants"])
        expect("name of a pipeline", True, pipeline["name"] in (function["name"], "my pipeline"))
    expect("libraries of functions", {1}, {function["library"] for function in report["functions"]})
    expect("name given later", LABELLED_LATER, report["libraries"][0]["name"])
    expect("devices", {1}, {row["device"] for kind in ("queues", "libraries", "pipelines") for row in report[kind]})


def check_errors(report):
    texts = [library["error"] or "" for library in report["libraries"]]
    expect("compiler's words", 3, sum("no_such_thing" in text for text in texts))
    expect("a file that is not there", 1, sum("/no/such/file" in text for text in texts))
    expect("a pipeline's error", True, "100000" in report["pipelines"][-1]["error"])
    expect("warnings", [], report["warnings"])


def check(folder, **variables):
    folder.mkdir()
    lines, _ = run(folder, **variables)
    tapped, said = run(folder, LD_PRELOAD=str(BUILD / "lib/libmetaltap.so"), METALTAP_OUT=str(folder / "report.json"),
                       **variables)
    expect("the program's output under the tap", lines, tapped)
    expect("the tap's words", "", said)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    expect("devices", [line[len("device "):] for line in lines if line.startswith("device ")],
           [device["name"] for device in report["devices"]])
    check_kind(lines, "queue", queues(report))
    check_kind(lines, "library", libraries(report))
    check_kind(lines, "function", functions(report))
    check_kind(lines, "pipeline", pipelines(report))
    check_kind(lines, "allocate/release", memory(report))
    check_totals(report)
    check_links(report)
    check_errors(report)


SETTINGS = [{}, {"SOFTMETAL_DEBUG_LAYER": "1"}, {"SOFTMETAL_DEBUG_LAYER": "2"}, {"SOFTMETAL_PROFILE": "amd"},
            {"SOFTMETAL_DEBUG_LAYER": "2", "SOFTMETAL_PROFILE": "none"}]
for number, setting in enumerate(SETTINGS):
    check(WORK / str(number), **setting)
