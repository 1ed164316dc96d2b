# SPDX-License-Identifier: MIT
# shows: with many threads, handlers and handed-over encoders the report is exactly what the program says
# timeout: 900
"""Runs tests/targets/stranger_threads plain and tapped on every GPU and wrapper depth. Buffers are matched by label,
since the order of threads is anybody's. The order within a command buffer is checked."""

import os
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402

PROGRAM = r.target("stranger_threads")


def check_threads(report):
    """A dispatch has the thread that made it; shares of a round have one each, handed encoders have two."""
    of_encoder = {}
    for row in report.table("dispatches"):
        of_encoder.setdefault(row["command_buffer"], set()).add(row["thread"])
    for row in report["command_buffers"]:
        threads = of_encoder[row["id"]]
        r.expect(f"threads of {row['label']}", 2 if row["label"].startswith("handed") else 1, len(threads))
        if not row["label"].startswith("handed"):
            r.expect(f"thread that committed {row['label']}", threads, {row["commit_thread"]})
    for number in range(ROUNDS):
        shares = [row for row in report["command_buffers"] if row["label"].startswith(f"round {number} ")]
        r.expect(f"threads of round {number}", 8, len({row["commit_thread"] for row in shares}))
        r.expect(f"makers of round {number}", 1, len({row["create_thread"] for row in shares}))


def check(folder, rounds, brief, **settings):
    command = [PROGRAM, rounds, brief]
    output = r.must_work(r.run(command, folder, **settings))
    r.expect("output with the tap", output,
             r.must_work(r.tapped(command, folder, SOFTMETAL_LOG=folder / "log", **settings)))
    report = r.Report(folder / "report.json")
    r.check_consistency(report)
    r.check_work(report, output, in_order=False)
    r.check_log(report, folder / "log", output)
    check_threads(report)


ROUNDS = 6
for depth in "012":
    for profile in ("apple", "amd", "none"):
        check(r.WORK / f"{depth}{profile}", ROUNDS, 300, SOFTMETAL_DEBUG_LAYER=depth, SOFTMETAL_PROFILE=profile)
