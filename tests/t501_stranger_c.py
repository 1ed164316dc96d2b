# SPDX-License-Identifier: MIT
# shows: the report of a C program like llama.cpp is exactly what the program says, on every GPU and wrapper depth
# timeout: 900
"""Runs tests/targets/stranger_c plain, tapped, and by `metaltap run`: report, words and softmetal's log agree."""

import os
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402

PROGRAM = r.target("stranger_c")


def check_report(folder, output):
    report = r.Report(folder / "report.json")
    r.check_consistency(report)
    r.check_work(report, output)
    r.check_log(report, folder / "log", output)
    r.expect("queue", ["engine"], [row["label"] for row in report["queues"]])
    r.expect("functions", [("kernel_mul_mm", None), ("kernel_mul_mv", "0=7"), ("kernel_rms_norm", None),
                           ("kernel_add", None)], [(row["name"], row["constants"]) for row in report["functions"]])
    labels = {f"token {part}/{parts}": 2 for parts in (1, 2, 3) for part in range(parts)}
    r.expect("labels", {"prompt 0/3": 1, "prompt 1/3": 1, "prompt 2/3": 1, **labels},
             {row["label"]: row["command_buffers"] for row in report["labels"]})


def check(folder, **settings):
    output = r.must_work(r.run([PROGRAM], folder, **settings))
    r.expect("output with the tap", output,
             r.must_work(r.tapped([PROGRAM], folder, SOFTMETAL_LOG=folder / "log", **settings)))
    check_report(folder, output)
    return output


for depth in "012":
    for profile in ("apple", "amd", "none"):
        check(r.WORK / f"{depth}{profile}", SOFTMETAL_DEBUG_LAYER=depth, SOFTMETAL_PROFILE=profile)

started = r.WORK / "run"
said = r.run([r.BUILD / "bin/metaltap", "run", "--quiet", "--out", "report.json", "--", PROGRAM], started,
             SOFTMETAL_LOG=started / "log")
check_report(started, r.must_work(said))
