# SPDX-License-Identifier: MIT
# shows: reports follow their schema, their sections agree with each other, hard names and large numbers come through
"""Has the unit test views_json write sample spools and their reports, and reads them as a stranger would."""

import copy
import json
import os
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.access("/usr/bin/python3", os.X_OK):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])  # where Debian's package is
    print("skip: no jsonschema (Debian: python3-jsonschema)")
    sys.exit(77)

WORK = pathlib.Path(os.environ["WORK"])
SCHEMA = pathlib.Path(os.environ["SRC"]) / "docs/report.schema.json"
PROGRAM = pathlib.Path(os.environ["BUILD"]) / "tests/unit/views_json"
HUGE = 2**53 + 1
ROWS = ("command_buffers", "encoders", "waits")


def expect(what, expected, actual):
    if expected != actual:
        sys.exit(f"{what}:\n  expected {expected!r}\n  got      {actual!r}")


def load(name):
    text = (WORK / name).read_bytes().decode("utf-8")  # fails on invalid UTF-8
    expect(f"{name}: begins as a report", True, text.startswith('{"schema":"metaltap-report/'))
    for character in "<>&\u2028\u2029\x7f":
        expect(f"{name}: {character!r} in it", False, character in text)
    return json.loads(text)


def check_schema(validator, reports):
    for name, report in reports.items():
        for error in validator.iter_errors(report):
            sys.exit(f"{name}: {list(error.absolute_path)}: {error.message[:300]}")
    # The schema must be able to say no.
    for spoil in (lambda r: r.pop("summary"), lambda r: r.update(more=1), lambda r: r["kernels"][0].pop("gpu_time"),
                  lambda r: r["dispatches"]["rows"][0].append(1), lambda r: r.pop("dispatches"),
                  lambda r: r["summary"]["counts"].update(dispatches=-1), lambda r: r.update(detail="cb"),
                  lambda r: r["process"].update(state="gone"), lambda r: r["memory"].pop("events")):
        report = copy.deepcopy(reports["whole.full.json"])
        spoil(report)
        expect("a spoilt report is valid", False, validator.is_valid(report))


def as_dicts(table):
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def check_counts(name, report):
    counts = report["summary"]["counts"]
    for section in ROWS:
        expect(f"{name}: rows of {section}", counts[section], len(report[section]))
    dispatches = as_dicts(report["dispatches"])
    expect(f"{name}: rows of dispatches", counts["dispatches"], len(dispatches))
    expect(f"{name}: rows of memory", counts["memory_events"], len(report["memory"]["events"]["rows"]))
    for section in ("kernels", "labels", "queues", "command_buffers", "encoders"):
        expect(f"{name}: dispatches of {section}", counts["dispatches"], sum(row["dispatches"] for row in report[section]))
    expect(f"{name}: command buffers of labels", counts["command_buffers"],
           sum(row["command_buffers"] for row in report["labels"]))
    ends = ("completed", "failed", "in_flight", "uncommitted", "discarded")
    for end in ends:
        expect(f"{name}: {end}", counts[end], sum(row["end"] == end for row in report["command_buffers"]))
    for form in ("threadgroups", "threads", "indirect"):
        expect(f"{name}: {form}", counts[f"dispatches_{form}"], sum(row["form"] == form for row in dispatches))
        expect(f"{name}: {form} of kernels", counts[f"dispatches_{form}"],
               sum(row["forms"][form] for row in report["kernels"]))
    for row in report["command_buffers"]:
        mine = [dispatch for dispatch in dispatches if dispatch["command_buffer"] == row["id"]]
        expect(f"{name}: dispatches of command buffer {row['id']}", row["dispatches"], len(mine))
    expect(f"{name}: errors", counts["errors"], report["errors"]["count"])


def union(intervals):
    total, reach = 0, -1
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, reach))
        reach = max(reach, end)
    return total


def check_times(name, report):
    gpu = report["summary"]["gpu"]
    rows = [row for row in report["command_buffers"] if row["gpu_ns"] is not None]
    counted = [row for row in rows if "captured" not in row["flags"]]
    if not rows:
        expect(f"{name}: no GPU time", None, gpu)
        return
    intervals = [(row["gpu_start_ns"], row["gpu_end_ns"]) for row in counted]
    everything = [(row["gpu_start_ns"], row["gpu_end_ns"]) for row in rows]
    span = max(end for _, end in everything) - min(begin for begin, _ in everything)
    expect(f"{name}: busy", union(intervals), gpu["busy_ns"])
    expect(f"{name}: sum", sum(row["gpu_ns"] for row in counted), gpu["sum_ns"])
    expect(f"{name}: overlap", gpu["sum_ns"] - gpu["busy_ns"], gpu["overlap_ns"])
    expect(f"{name}: idle", span - union(everything), gpu["idle_ns"])
    expect(f"{name}: captured", union(everything) - union(intervals), gpu["captured_ns"])
    expect(f"{name}: busy within wall", True, gpu["busy_ns"] <= report["summary"]["wall_ns"])
    expect(f"{name}: labels' GPU time", gpu["sum_ns"], sum(r["gpu"]["total_ns"] for r in report["labels"] if r["gpu"]))
    expect(f"{name}: queues' GPU time", gpu["sum_ns"], sum(row["gpu_sum_ns"] for row in report["queues"]))
    expect(f"{name}: waits", report["summary"]["waits"]["total_ns"], sum(row["took_ns"] or 0 for row in report["waits"]))
    for kernel in report["kernels"]:
        if kernel["gpu_time"]:
            expect(f"{name}: covered", True, kernel["gpu_time"]["covered_dispatches"] <= kernel["dispatches"])


def check_references(name, report):
    ids = {section: {row["id"] for row in report[section]} for section in
           ("devices", "queues", "threads", "libraries", "functions", "pipelines", "kernels", "command_buffers",
            "encoders", "groups")}
    rows = [("dispatches", row) for row in as_dicts(report["dispatches"])]
    rows += [(section, row) for section in ("command_buffers", "encoders", "waits", "pipelines") for row in report[section]]
    sections = {"command_buffer": "command_buffers", "encoder": "encoders", "pipeline": "pipelines", "queue": "queues",
                "group": "groups", "kernel": "kernels", "device": "devices", "function": "functions"}
    for section, row in rows:
        for key, wanted in sections.items():
            if row.get(key) is not None:
                expect(f"{name}: {section} refer to {key} {row[key]}", True, row[key] in ids[wanted])


def check_names(report):
    labels = [row["label"] for row in report["command_buffers"]]
    expect("quotes and controls", True, 'say "hi" \\ there\n\tnow\x01\x7f' in labels)
    expect("HTML", True, "</script><img src=x onerror=alert(1)>&amp;\u2028\u2029" in labels)
    expect("invalid UTF-8", True, "bad \ufffd\ufffd \ufffd( \ufffd \ufffd\ufffd\ufffd \U0001f600 end\ufffd" in labels)
    expect("a NUL byte", True, "before\0after" in labels)
    expect("right-to-left", True, "abc\u202edef\u05d0\x1b[31m" in labels)
    long_name = "".join(chr(ord("a") + i % 26) for i in range(64 * 1024))
    expect("64 KiB", True, long_name in labels)
    expect("in labels too", set(labels), {row["label"] for row in report["labels"]})


def check_large_numbers(report):
    wide = [row for row in as_dicts(report["dispatches"]) if row["form"] == "threads"]
    expect("a wide grid", [HUGE], [row["grid_x"] for row in wide])
    expect("its kernel's largest", [HUGE, 1, 1],
           next(row for row in report["kernels"] if row["name"].startswith("matmul"))["largest"]["threads"])
    expect("the registry id", 2**64 - 1, report["devices"][0]["registry_id"])
    expect("peak memory", HUGE + 4096, report["summary"]["allocated"]["peak_bytes"])
    expect("memory now", HUGE, report["memory"]["now_bytes"])
    expect("blit bytes", HUGE, report["summary"]["counts"]["blit_bytes"])
    expect("an event's value", [HUGE], [row["value"] for row in report["waits"] if row["kind"] == "shared_event"])
    expect("the start", ("2023-11-14T22:13:20.000000000Z", 1700000000000000000),
           (report["process"]["start"], report["process"]["start_wall_ns"]))


def check_kernels(report):
    rows = {(row["name"], row["constants"]): row for row in report["kernels"]}
    one = rows["add", "0=1 is_causal=true"]
    # Command buffers 1 and 8 have one dispatch of it, 2 has three; 3 has another kernel as well.
    expect("one kernel of two pipelines", [1, 2], one["pipelines"])
    time = one["gpu_time"]
    expect("its time", (5, 3, 500 + 700 + 1000), (time["covered_dispatches"], time["covered_command_buffers"], time["total_ns"]))
    expect("per dispatch", (2, 500, 1000), tuple(time["per_dispatch"][key] for key in ("count", "min_ns", "max_ns")))
    expect("beside a blit or failed: no time", None, rows["add", "0=2 is_causal=true"]["gpu_time"])
    # Command buffer 9; not 6, which was captured, nor 7 with an unknown pipeline.
    expect("the other", 700, rows["matmul<float, 4>", None]["gpu_time"]["total_ns"])
    expect("no time for the unknown", None, rows["(unknown)", None]["gpu_time"])
    expect("a captured command buffer has no statistics", None,
           next(row for row in report["labels"] if row["captured"])["gpu"])
    groups = {row["id"]: row["path"] for row in report["groups"]}
    grouped = [groups[row["group"]] for row in as_dicts(report["dispatches"]) if row["group"]]
    expect("debug groups", [["prefill", "layer <3>"]] * 3, grouped)
    expect("barriers", [0, 1, 0], [row["barrier_before"] for row in as_dicts(report["dispatches"]) if row["group"]])


def check_states(reports):
    expect("ended", ("ended", 20000), (reports["whole.full.json"]["process"]["state"], reports["whole.full.json"]["summary"]["wall_ns"]))
    killed = reports["killed.full.json"]
    expect("killed", ("killed", None, "last record", 2011),
           (killed["process"]["state"], killed["process"]["end_ns"], killed["summary"]["wall_until"], killed["summary"]["wall_ns"]))
    empty = reports["empty.full.json"]
    expect("empty", (None, None, []), (empty["summary"]["gpu"], empty["summary"]["encode"], empty["kernels"]))
    errors = [(row["object"], row["id"]) for row in reports["whole.full.json"]["errors"]["listed"]]
    expect("errors", [("library", 2), ("pipeline", 5), ("command_buffer", 5)], errors)


def check_tables():
    for name in ("whole", "killed", "empty"):
        spool, report = ((WORK / f"{name}.{form}.txt").read_bytes().decode("utf-8") for form in ("spool", "json"))
        expect(f"{name}: the table from the spool", report.splitlines()[:-1], spool.splitlines()[:-1])
        for character in "\x1b\u202e\x01":
            expect(f"{name}: {character!r} in the table", False, character in report)


def main():
    done = subprocess.run([PROGRAM, WORK], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{PROGRAM.name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    reports = {path.name: load(path.name) for path in sorted(WORK.glob("*.json"))}
    expect("reports", 9, len(reports))
    check_schema(jsonschema.Draft202012Validator(schema), reports)
    for name in ("whole.full.json", "killed.full.json", "empty.full.json"):
        check_counts(name, reports[name])
        check_times(name, reports[name])
        check_references(name, reports[name])
    check_names(reports["whole.full.json"])
    check_large_numbers(reports["whole.full.json"])
    check_kernels(reports["whole.full.json"])
    check_states(reports)
    check_tables()


main()
