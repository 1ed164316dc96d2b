# SPDX-License-Identifier: MIT
"""What the tests of bad ends share: running tests/targets/crash_threads under the tap, and comparing what the spool
has with what the program had counted when it ended."""

import json
import os
import pathlib
import struct
import subprocess
import sys

import sanitizers

BUILD = pathlib.Path(os.environ["BUILD"])
CRASH = BUILD / "tests/targets/crash_threads"
METALTAP = BUILD / "bin/metaltap"
LIBRARY = BUILD / "lib/libmetaltap.so"
HANG_S = 120
MOST_THREADS, PER_BUFFER, COMMITTED_EVERY = 16, 256, 8
sanitizers.without_symbols()


def command(threads, end, dispatches=None):
    return [CRASH, "oracle", str(threads), end, *([str(dispatches)] if dispatches else [])]


def start(folder, arguments, **variables):
    folder.mkdir(parents=True)
    env = {**os.environ, "LD_PRELOAD": str(LIBRARY), "METALTAP_OUT": "report.json", **variables}
    return subprocess.Popen(arguments, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def read_oracle(folder):
    """Dispatches and commits by thread; zeros if the program did not come that far."""
    path = folder / "oracle"
    data = path.read_bytes() if path.exists() else b""
    numbers = struct.unpack(f"{2 * MOST_THREADS}Q", data.ljust(16 * MOST_THREADS, b"\0"))
    return numbers[:MOST_THREADS], numbers[MOST_THREADS:]


def read_spool(folder):
    """The report that the command line makes of the spool; None if the spool has not been begun."""
    if not (folder / "report.mtap").exists():
        return None
    done = subprocess.run([METALTAP, "report", "report.mtap", "--json", "read.json"], cwd=folder, capture_output=True,
                          text=True, timeout=HANG_S, check=False)
    if done.returncode == 1 and not any(read_oracle(folder)[0]):
        return None  # ended before the header was written; it says so
    if done.returncode:
        sys.exit(f"{folder}: metaltap report ended with {done.returncode}: {done.stderr}")
    report = json.loads((folder / "read.json").read_text())
    if not report["complete"]:
        sys.exit(f"{folder}: not complete")
    return report


def expected_size(thread, number):
    if number // PER_BUFFER % COMMITTED_EVERY == 0:
        return [number % 16 + 1, thread + 1, 1]
    return [number + 1, number * 2654435761 % 65521 + 1, thread + 1]


def dispatches_by_thread(report):
    """Sizes in order, checked to be those of the thread's 1st, 2nd, ... dispatch; a thread is known by its labels."""
    rows = {}
    for row in report["dispatches"]["rows"]:
        rows.setdefault(row[1], []).append(row)
    counts = [0] * MOST_THREADS
    labelled = [(*map(int, buffer["label"].split()), buffer) for buffer in report["command_buffers"] if buffer["label"]]
    for thread, number, buffer in sorted(labelled, key=lambda entry: entry[:2]):
        mine = rows.pop(buffer["id"], [])
        if mine and counts[thread] != number * PER_BUFFER:
            sys.exit(f"thread {thread}: {counts[thread]} dispatches before command buffer {number}")
        for row in mine:
            wanted = expected_size(thread, counts[thread])
            if row[6:9] != wanted:
                sys.exit(f"thread {thread}: dispatch {counts[thread]} is {row}, expected {wanted}")
            counts[thread] += 1
    if rows:
        sys.exit(f"dispatches in command buffers without a label: {str(rows)[:500]}")
    return counts


def check(folder):
    """Nothing that was published is lost or torn; gives the number of dispatches in the spool."""
    report = read_spool(folder)
    dispatches, commits = read_oracle(folder)
    if not report:
        if any(dispatches):
            sys.exit(f"{folder}: {sum(dispatches)} dispatches and no spool")
        return 0
    damage = {**report["dropped"], **report["dropped"]["damage"], "damage": 0, "stalls": 0}
    if any(damage.values()):
        sys.exit(f"{folder}: {report['dropped']}")
    found = dispatches_by_thread(report)
    for thread, (made, got) in enumerate(zip(dispatches, found)):
        # One more may be on record than its thread came to count.
        if not made <= got <= made + 1:
            sys.exit(f"{folder}: thread {thread} made {made} dispatches, the spool has {got}")
    committed = {buffer["label"] for buffer in report["command_buffers"] if buffer["commit_ns"] is not None}
    for thread, count in enumerate(commits):
        missing = [number for number in range(0, count, COMMITTED_EVERY) if f"{thread} {number}" not in committed]
        if missing:
            sys.exit(f"{folder}: thread {thread} committed {missing}, which the spool does not have")
    return sum(found)
