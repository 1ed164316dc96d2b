# SPDX-License-Identifier: MIT
# shows: 100 SIGKILLs at random moments lose no published record and tear none, in a bounded spool neither
"""Runs tests/targets/recorder with several threads, kills it, and lets it compare the spool with the oracle."""

import os
import pathlib
import random
import re
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ["BUILD"])
RECORDER = BUILD / "tests/targets/recorder"
SLOW = "san-" in BUILD.name
KILLS = 100
MOST_DELAY_S = 0.15 if SLOW else 0.03
KEEP = str(3 << 20)
SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))


def records_after_kill(number, delay_s):
    spool, oracle = pathlib.Path("killed.mtap"), pathlib.Path("killed.oracle")
    for file in (spool, oracle):
        file.unlink(missing_ok=True)
    threads = str(4 + number % 4)
    keep = [KEEP] if number % 3 == 0 else []
    with subprocess.Popen([RECORDER, "run", spool, oracle, threads, "forever", *keep]) as target:
        time.sleep(delay_s)
        target.kill()
    if target.returncode != -9:
        sys.exit(f"kill {number}: ended by itself with {target.returncode}, seed {SEED}")
    return checked(number, spool, oracle)


def checked(number, spool, oracle):
    if not oracle.exists():
        return 0  # killed before main
    done = subprocess.run([RECORDER, "check", spool, oracle], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"kill {number}, seed {SEED}: the spool is not what was recorded\n{done.stdout}{done.stderr}")
    return int(re.match(r"\d+", done.stdout)[0])


def main():
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    counts = [records_after_kill(number, rng.uniform(0.0, MOST_DELAY_S)) for number in range(KILLS)]
    with_records = sum(1 for count in counts if count)
    print(f"{KILLS} kills, {sum(counts)} records in {with_records} spools")
    # Too few would prove nothing.
    if sum(counts) < 10000 or with_records < KILLS / 4:
        sys.exit("the kills came too early to show anything")


main()
