# SPDX-License-Identifier: MIT
# shows: SIGKILL at a random moment of a Metal program with many threads loses no dispatch whose call had returned
# timeout: 900
"""KILLS=100 SEED=7 in the environment for more, or for the same again."""

import os
import pathlib
import random
import shutil
import sys
import time

sys.path.insert(0, os.environ["TESTLIB"])
import crashes  # noqa: E402

KILLS = int(os.environ.get("KILLS", "25"))
SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
SLOWER = 5 if "san-" in str(crashes.BUILD) else 1
START_S, WORK_S = 0.3 * SLOWER, 0.25 * SLOWER


def wait_for_work(folder, target):
    limit = time.monotonic() + crashes.HANG_S
    while not any(crashes.read_oracle(folder)[0]):
        if target.poll() is not None or time.monotonic() > limit:
            sys.exit(f"{folder}: ended by itself with {target.poll()}")
        time.sleep(0.01)


def kill_once(number, rng):
    """Every third at any moment from the start on, the others while all threads are at work."""
    folder = pathlib.Path(f"kill{number}")
    target = crashes.start(folder, crashes.command(4 + number % 5, "forever"))
    if number % 3 == 0:
        time.sleep(rng.uniform(0, START_S))
    else:
        wait_for_work(folder, target)
        time.sleep(rng.uniform(0, WORK_S))
    target.kill()
    _, words = target.communicate()
    if target.returncode != -9 or words:
        sys.exit(f"{folder}: ended with {target.returncode}, said {words}")
    return finish(folder)


def kill_at_exit(number, rng):
    """While the report is written: either it is there and whole, or there is none."""
    folder = pathlib.Path(f"exit{number}")
    target = crashes.start(folder, crashes.command(4, "normal", 20000))
    wait_for_work(folder, target)
    time.sleep(rng.uniform(0, WORK_S))
    target.kill()
    target.communicate()
    report = folder / "report.json"
    if report.exists() and not report.read_text().rstrip().endswith('"complete":true}'):
        sys.exit(f"{folder}: half a report")
    return finish(folder)


def finish(folder):
    count = crashes.check(folder)
    shutil.rmtree(folder)
    return count


def main():
    print(f"seed {SEED}")
    rng = random.Random(SEED)
    counts = [kill_once(number, rng) for number in range(KILLS)]
    counts += [kill_at_exit(number, rng) for number in range(KILLS // 5)]
    print(f"{len(counts)} kills, {sum(counts)} dispatches on record in {sum(map(bool, counts))} spools")
    if sum(counts) < 1000 * KILLS or sum(map(bool, counts)) < KILLS / 2:
        sys.exit("the kills came too early to show anything")


main()
