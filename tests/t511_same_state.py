# SPDX-License-Identifier: MIT
# shows: errno, signal handlers and masks, owners of objects and the environment are the same with the tap
"""What tests/targets/stranger_ways sees of itself, plain and tapped, at every wrapper depth."""

import os
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402
import sanitizers  # noqa: E402

PROGRAM = r.target("stranger_ways")


def check_same(way, depth):
    folder = r.WORK / f"{way}{depth}"
    plain = r.must_work(r.run([PROGRAM, way], folder, SOFTMETAL_DEBUG_LAYER=depth))
    r.expect(f"{way} at depth {depth}", plain,
             r.must_work(r.tapped([PROGRAM, way], folder, SOFTMETAL_DEBUG_LAYER=depth)))
    r.require(f"{way}: a report", (folder / "report.json").exists())
    return plain


def environment(output):
    pairs = [entry.split("=", 1) for entry in output.split("\0") if entry]
    names = [name for name, _ in pairs]
    r.expect("names are different", len(set(names)), len(names))
    return dict(pairs)


def check_environment():
    """A child gets what the program got, and the run's number."""
    if sanitizers.cannot_tap("env"):
        return
    folder = r.WORK / "environment"
    given = {"NOTHING": "", "HARD": "a=b\n\"c\" \\", "SOFTMETAL_DEBUG_LAYER": "1"}
    plain = environment(r.run([PROGRAM, "environment"], folder, **given).stdout.decode().split("\n", 1)[1])
    tapped = environment(r.tapped([PROGRAM, "environment"], folder, **given).stdout.decode().split("\n", 1)[1])
    r.require("a number of 16 digits", len(tapped["METALTAP_RUN"]) == 16 and int(tapped.pop("METALTAP_RUN"), 16))
    r.expect("environment of a child", {**plain, "LD_PRELOAD": str(r.LIBRARY), "METALTAP_OUT": "report.json"}, tapped)
    again = environment(r.tapped([PROGRAM, "environment"], folder, METALTAP_RUN="00000000000000ab",
                                 **given).stdout.decode().split("\n", 1)[1])
    r.expect("the number of a run that goes on", "00000000000000ab", again["METALTAP_RUN"])


for layers in "012":
    for name in ("errno", "signals", "delivery", "retain-counts"):
        said = check_same(name, layers)
    owners = dict(line.split(": ") for line in said.splitlines())
    r.expect("owners of what new gave", ("1", "1"), (owners["pipeline behind"], owners["buffer behind"]))
check_environment()
