# SPDX-License-Identifier: MIT
# shows: output, words and exit of a program are the same with the tap, however it ends; what it did is reported
"""Each way of tests/targets/stranger_ways to end, plain and tapped. Where the program leaves no moment for the report,
the spool has everything."""

import os
import signal
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402
import sanitizers  # noqa: E402

PROGRAM = r.target("stranger_ways")
# way: what subprocess gives as its exit, whether a report can be written, command buffers
ENDS = {"return": (5, True, 3), "exit": (3, True, 3), "at-exit": (4, True, 3), "in-handler": (7, True, 1),
        "_exit": (6, False, 3), "abort": (-signal.SIGABRT, False, 3), "crash": (-signal.SIGSEGV, False, 3),
        "signal": (-signal.SIGTERM, False, 3)}


def outcome(done):
    return done.returncode, done.stdout, done.stderr


def report_of(folder, written):
    r.expect(f"{folder.name}: report written", written, (folder / "report.json").exists())
    if not written:
        made = r.run([r.BUILD / "bin/metaltap", "report", "--json", "made.json", "report.mtap"], folder)
        r.expect(f"{folder.name}: metaltap report", 0, made.returncode)
    return r.Report(folder / ("report.json" if written else "made.json"))


def check(way, code, written, buffers, **settings):
    folder = r.WORK / f"{way}{settings.get('SOFTMETAL_DEBUG_LAYER', '')}"
    plain = r.run([PROGRAM, way], folder, **settings)
    r.expect(f"{way}: exit", code, plain.returncode)
    r.expect(f"{way} with the tap", outcome(plain), outcome(r.tapped([PROGRAM, way], folder, **settings)))
    report = report_of(folder, written)
    r.expect(f"{way}: state", "ended" if written else "killed", report["process"]["state"])
    r.expect(f"{way}: committed", buffers, len([row for row in report["command_buffers"] if row["commit_ns"]]))
    if way != "in-handler":
        r.check_consistency(report)
        r.expect(f"{way}: labels", {"step"}, {row["label"] for row in report["command_buffers"]})


def check_launcher(way, code):
    """The launcher passes a signal on as shells do."""
    folder = r.WORK / f"run-{way}"
    plain = r.run([PROGRAM, way], folder)
    done = r.run([r.BUILD / "bin/metaltap", "run", "--quiet", "--out", "report.json", "--", PROGRAM, way], folder)
    r.expect(f"metaltap run {way}", (code if code >= 0 else 128 - code, plain.stdout), (done.returncode, done.stdout))


sanitizers.leave_crashes()
for name, (status, at_exit, count) in ENDS.items():
    check(name, status, at_exit, count)
    check_launcher(name, status)
check("return", 5, True, 3, SOFTMETAL_DEBUG_LAYER="2")
