# SPDX-License-Identifier: MIT
# shows: a disk that fills up at any stage, or takes no files, costs the record its end and the program nothing
"""Runs tests/targets/torture with spool, report or both on a small file system of its own (as root)."""

import json
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ["BUILD"])
TORTURE = BUILD / "tests/targets/torture"
METALTAP = BUILD / "bin/metaltap"
LIBRARY = BUILD / "lib/libmetaltap.so"
HANG_S = 120
DISPATCHES, OTHER_RECORDS = 45048, 2000  # of the program; at most
SIZES = ("4k", "16k", "64k", "272k", "276k", "300k", "528k", "560k", "1m", "1536k", "2m", "2560k", "4m", "16m")
BOTH = {"METALTAP_OUT": "disk/report.json"}
ONLY_SPOOL = {"METALTAP_OUT": "report.json", "METALTAP_SPOOL": "disk/report.mtap"}
ONLY_REPORT = {"METALTAP_OUT": "disk/report.json", "METALTAP_SPOOL": "report.mtap"}
# The mount is gone with the shell, so what lies there is copied out.
SCRIPT = """mount -t tmpfs -o "$1" tmpfs disk || exit 99
shift
status=0
"$@" || status=$?
cp disk/* . 2>cp.err || :
exit $status"""


def in_mount(folder, options, command, variables):
    (folder / "disk").mkdir(parents=True)
    return subprocess.run(["unshare", "-m", "sh", "-c", SCRIPT, "sh", options, "env",
                           *[f"{key}={value}" for key, value in variables.items()], *command], cwd=folder,
                          capture_output=True, timeout=HANG_S, check=False)


def can_mount():
    try:
        return in_mount(pathlib.Path("probe"), "size=4k", ["true"], {}).returncode == 0
    except OSError:
        return False


def read(folder):
    """The report, or what the command line makes of the spool; None if there is neither."""
    path = folder / "report.json"
    if not path.exists() and (folder / "report.mtap").exists():
        done = subprocess.run([METALTAP, "report", "report.mtap", "--json", "report.json"], cwd=folder,
                              capture_output=True, text=True, timeout=HANG_S, check=False)
        if done.returncode:
            sys.exit(f"{folder}: metaltap report ended with {done.returncode}: {done.stderr}")
    return json.loads(path.read_text()) if path.exists() else None


def check(name, usual, options, variables):
    """Gives how it went: "whole", "stopped", "nothing" or "no report"."""
    folder = pathlib.Path(name)
    # The search for leaks starts a program that cannot be under the tap of this build.
    variables = {"LD_PRELOAD": LIBRARY, "ASAN_OPTIONS": "detect_leaks=0", **variables}
    done = in_mount(folder, options, [TORTURE], variables)
    lines = done.stderr.decode().splitlines()
    if (done.returncode, done.stdout) != usual:
        sys.exit(f"{name}: exit code {done.returncode}, output {done.stdout}, {lines}")
    for words in ("recording stopped", "cannot record", "no report"):
        if sum(words in line for line in lines) > 1:
            sys.exit(f"{name}: said twice: {lines}")
    if any(not line.startswith("metaltap: ") for line in lines):
        sys.exit(f"{name}: not our words: {lines}")
    stopped, nothing = (any(words in line for line in lines) for words in ("recording stopped", "cannot record"))
    report = read(folder)
    dropped = report["dropped"] if report else {}
    if nothing or not report:
        if not nothing or report or len(lines) != 1:
            sys.exit(f"{name}: a report without a record, or neither and no word")
        return "nothing"
    if stopped != bool(dropped["stop_reason"]) or stopped != (dropped["records"] > 0):
        sys.exit(f"{name}: stopped and did not count, or the other way round")
    recorded = len(report["dispatches"]["rows"])
    if not DISPATCHES <= recorded + dropped["records"] <= DISPATCHES + OTHER_RECORDS:
        sys.exit(f"{name}: {recorded} dispatches, {dropped['records']} records dropped")
    if len(lines) != stopped + any("no report" in line for line in lines):
        sys.exit(f"{name}: {lines}")
    if any("no report" in line for line in lines):
        return "no report"
    return "stopped" if stopped else "whole"


def main():
    if os.geteuid() or not can_mount():
        print("skip: needs the right to mount")
        sys.exit(77)
    done = subprocess.run([TORTURE], capture_output=True, check=False)
    usual = (done.returncode, done.stdout)
    seen = {kind: [check(f"{kind}-{size}", usual, f"size={size}", variables) for size in SIZES]
            for kind, variables in (("both", BOTH), ("spool", ONLY_SPOOL), ("report", ONLY_REPORT))}
    seen["read-only"] = [check(f"read-only-{kind}", usual, "ro", variables)
                         for kind, variables in (("both", BOTH), ("spool", ONLY_SPOOL), ("report", ONLY_REPORT))]
    print(seen)
    # Each way of ending must have been there, or the sizes are the wrong ones.
    wanted = {"both": {"nothing", "no report", "whole"}, "spool": {"nothing", "stopped", "whole"},
              "report": {"no report", "whole"}}
    for kind, ways in wanted.items():
        if not ways <= set(seen[kind]):
            sys.exit(f"{kind}: expected {ways}, seen {set(seen[kind])}")


main()
