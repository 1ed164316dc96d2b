# SPDX-License-Identifier: MIT
# shows: each rule of devices, queues, command buffers, encoders ends in Metal's abort at any depth; none is untested
# timeout: 900
"""Breaks every rule that tests/targets/misuse_submission knows, each in a process of its own at each wrapper depth,
and compares the places where they failed with all the asserts in the sources: an assert that no rule reaches fails."""

import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys

MISUSE = pathlib.Path(os.environ["BUILD"]) / "tests/targets/misuse_submission"
METAL = pathlib.Path(os.environ["SRC"]) / "src/softmetal/metal"
FILES = ["device.m", "queue.m", "queue_threads.m", "command_buffer.m", "commands.m", "command_info.m", "encoder.m",
         "compute_encoder.m", "blit_encoder.m", "playback.m", "families.m", "debug_layer.m", "debug_encoders.m"]
ASSERT = re.compile(r"\bsm_(assert_metal|assert_metal_as|fail_metal|assert_encoding)\(")
MESSAGE = re.compile(r"(?P<method>-\[.*\]):(?P<line>\d+): failed assertion `(?P<text>.*)'")


def asserts(name):
    """(file, first line, last line) of every assert in the file; __LINE__ is one of these lines."""
    lines = (METAL / name).read_text(encoding="utf-8").splitlines()
    for first, text in enumerate(lines):
        if ASSERT.search(text):
            last = next(n for n in range(first, len(lines)) if lines[n].rstrip().endswith(";"))
            yield name, first + 1, last + 1


def run(*arguments, **variables):
    return subprocess.run([MISUSE, *arguments], env={**os.environ, **variables}, capture_output=True, text=True,
                          check=False)


def break_rule(rule, depth):
    """Returns (what is wrong, None) or (None, the place (file, line) that stopped it)."""
    name, profile, _, file, method, text = rule
    done = run(name, SOFTMETAL_PROFILE=profile, SOFTMETAL_DEBUG_LAYER=depth)
    message = MESSAGE.search(done.stderr)
    if done.returncode == -signal.SIGABRT and message and message["method"] == method and text in message["text"]:
        return None, (file, int(message["line"]))
    return (f"{name} at depth {depth}: exit code {done.returncode}, expected {method} ... {text}\n"
            f"    got: {done.stderr.strip()[-600:]}"), None


def main():
    listed = run("--list")
    rules = [line.split("|") for line in listed.stdout.splitlines()]
    if listed.returncode or not rules or len({rule[0] for rule in rules}) != len(rules):
        sys.exit(f"the list of rules is empty, or has a rule twice:\n{listed.stdout}{listed.stderr}")
    jobs = [(rule, depth) for rule in rules for depth in rule[2].split()]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda job: break_rule(*job), jobs))
    wrong = [why for why, _ in results if why]
    reached = {place for _, place in results if place}
    places = [place for name in FILES for place in asserts(name)]
    missed = [place for place in places
              if not any((place[0], line) in reached for line in range(place[1], place[2] + 1))]
    known = {(name, line) for name, first, last in places for line in range(first, last + 1)}
    print(f"{len(rules)} rules, {len(jobs)} runs, {len(places)} asserts, {len(missed)} not reached")
    print(*wrong, sep="\n")
    for name, first, _ in missed:
        print(f"no rule reaches {name}:{first}")
    for name, line in sorted(reached - known):
        print(f"{name}:{line} is named by a rule, but has no assert")
    sys.exit(1 if wrong or missed or reached - known else 0)


main()
