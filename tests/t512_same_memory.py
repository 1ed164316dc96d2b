# SPDX-License-Identifier: MIT
# shows: the tap's memory does not grow with the number of command buffers
# timeout: 600
# serial
"""Resident memory of tests/targets/stranger_ways at the end of few and of many command buffers, plain and tapped."""

import os
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402
import sanitizers  # noqa: E402

FEW, MANY = 5000, 20000
GROWTH_KB = 2048  # of the tap's, beyond what the program grows by itself; a leak of 150 bytes per buffer is more
TAP_KB = 16384  # in all: its code, two segments ahead per thread, tables


def resident_kb(count, run, folder, **variables):
    output = r.must_work(run([r.target("stranger_ways"), "many", count], folder, **variables))
    return int(output.split()[1])


plain = [resident_kb(count, r.run, r.WORK / "plain") for count in (FEW, MANY)]
# Segments of the spool are pages of a file, counted while they are mapped: the bounded mode has few of them.
tapped = [resident_kb(count, r.tapped, r.WORK / f"tapped{count}") for count in (FEW, MANY)]
print(f"resident KiB after {FEW} and {MANY}: plain {plain}, tapped {tapped}")
if sanitizers.NAME not in ("address", "thread"):  # they have memory of their own for every access and allocation
    r.require(f"growth: {plain} {tapped}", tapped[1] - tapped[0] <= max(0, plain[1] - plain[0]) + GROWTH_KB)
    r.require(f"the tap's own: {plain} {tapped}", tapped[1] - plain[1] <= TAP_KB)
for count in (FEW, MANY):
    report = r.Report(r.WORK / f"tapped{count}" / "report.json")
    r.expect("command buffers", (count, count, count),
             tuple(report.counts[key] for key in ("command_buffers", "completed", "dispatches")))
    r.expect("labels", {"even": count // 2, "odd": count // 2},
             {row["label"]: row["command_buffers"] for row in report["labels"]})
    r.check_nothing_lost(report)
