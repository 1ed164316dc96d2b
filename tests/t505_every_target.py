# SPDX-License-Identifier: MIT
# shows: other programs end as they do without the tap; their reports agree with themselves and with softmetal's log
# timeout: 600
"""Target programs that were written for softmetal's own tests, with the tap."""

import os
import re
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402

PROGRAMS = ("demo", "stress", "stress_resources", "blocks_handlers")
TIMES = re.compile(rb" *[0-9.]+ (ms|s)\b")


def logged(path):
    counts = {"dispatch": 0, "command_buffer": 0}
    with open(path, encoding="utf-8") as file:
        for line in file:
            counts[re.match(r'{"event":"(\w+)"', line)[1]] += 1
    return counts


def check(name, depth):
    folder = r.WORK / f"{name}{depth}"
    plain = r.run([r.target(name)], folder, SOFTMETAL_DEBUG_LAYER=depth)
    done = r.tapped([r.target(name)], folder, SOFTMETAL_DEBUG_LAYER=depth, SOFTMETAL_LOG=folder / "log")
    r.expect(f"{name} at depth {depth}", (plain.returncode, TIMES.sub(b"", plain.stdout), plain.stderr),
             (done.returncode, TIMES.sub(b"", done.stdout), done.stderr))
    report, log = r.Report(folder / "report.json"), logged(folder / "log")
    r.check_consistency(report, memory_in_order=name != "stress_resources")
    r.expect(f"{name}: command buffers", log["command_buffer"], report.counts["completed"] + report.counts["failed"])
    if not report.counts["indirect_executes"] and not report.counts["failed"]:
        ran = {row["id"] for row in report["command_buffers"] if row["end"] == "completed"}
        r.expect(f"{name}: dispatches", log["dispatch"],
                 sum(row["command_buffer"] in ran for row in report.table("dispatches")))


for program in PROGRAMS:
    for layers in "02":
        check(program, layers)
