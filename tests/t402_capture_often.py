# SPDX-License-Identifier: MIT
# shows: captures of programs with several threads and queues end, time after time, and hold what was asked for
# timeout: 3000
"""CAPTURE_RUNS=500 for a long run. The windows come from a fixed seed."""

import os
import random
import shutil
import sys

sys.path.insert(0, os.environ["TESTLIB"])
from captures import WAYS, WORK, check_report, expect, tapped  # noqa: E402

RUNS = int(os.environ.get("CAPTURE_RUNS", "25"))
BUFFERS = {"parallel": 12, "alone": 32, "racing": 32, "queues": 8, "early": 6}


def one(number, random_numbers):
    way = random_numbers.choice(sorted(BUFFERS))
    first = random_numbers.randrange(BUFFERS[way])
    count = random_numbers.randrange(1, BUFFERS[way] - first + 1)
    folder = WORK / str(number)
    run = tapped(folder, [WAYS, way], f"cb:{first}+{count}",
                 SOFTMETAL_DEBUG_LAYER=str(random_numbers.randrange(3)))
    expect(f"{run.name} cb:{first}+{count}: exit code\n{run.out}{run.err}", 0, run.code)
    expect(f"{run.name} cb:{first}+{count}: nothing to say", "", run.err)
    ids = check_report(run, count)
    expect(f"{run.name} cb:{first}+{count}: ids", first + 1, ids[0])
    shutil.rmtree(folder)


def main():
    random_numbers = random.Random(3)
    for number in range(RUNS):
        one(number, random_numbers)
    print(f"{RUNS} runs")


main()
