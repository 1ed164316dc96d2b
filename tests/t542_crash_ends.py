# SPDX-License-Identifier: MIT
# shows: a Metal program that ends by SIGSEGV, abort, _exit or exec leaves a spool with every dispatch it had made
"""The exit code and the output are those of a run without the tap, and the tap does not say a word."""

import os
import pathlib
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import crashes  # noqa: E402
import sanitizers  # noqa: E402

DISPATCHES = 30000
ENDS = {"segv": -11, "abort": -6, "_exit": 7, "exec": 5, "normal": 0}


def run(folder, end, **variables):
    target = crashes.start(pathlib.Path(folder), crashes.command(6, end, DISPATCHES), **variables)
    out, err = target.communicate(timeout=crashes.HANG_S)
    return target.returncode, out, err


def main():
    sanitizers.leave_crashes()
    for end, code in ENDS.items():
        usual = run(f"{end}-usual", end, LD_PRELOAD="")
        tapped = run(f"{end}-tapped", end)
        another = end == "exec" and sanitizers.cannot_tap("sh")
        if not another and (usual != tapped or tapped[0] != code or tapped[2]):
            sys.exit(f"{end}: {usual} without the tap, {tapped} with it, expected {code}")
        count = crashes.check(pathlib.Path(f"{end}-tapped"))
        if count < DISPATCHES:
            sys.exit(f"{end}: {count} dispatches on record")
        print(f"{end}: {count} dispatches on record")


main()
