# SPDX-License-Identifier: MIT
"""What the measurements share: where things are, how much is run, running a program, and reading a spool's records."""

import collections
import dataclasses
import json
import os
import pathlib
import statistics
import struct
import subprocess

HEADER_BYTES, SEGMENT_BYTES, SLOT_BYTES, FIRST_SLOT = 16384, 256 * 1024, 32, 2
EVENTS_SEGMENT = 1
TWO_SLOTS = {4, 19}  # types of records, as in src/spool/format.h
ANCHOR = 9
QUANTILES = {"median_ns", "p50_ns", "p99_ns", "p999_ns"}


@dataclasses.dataclass
class Size:
    """How much is run; `quick` is for seeing that everything works."""
    rounds: int = 7
    peer_rounds: int = 3
    dispatches: int = 1000  # in a command buffer whose dispatches are timed
    buffers: int = 2000
    events: int = 300_000  # of a peer
    slow_events: int = 20_000  # of a peer that takes microseconds
    counted: int = 200  # command buffers under callgrind, and twice that
    reports: tuple = (1_000_000, 10_000_000)
    tree: int = 1_000_000

    @staticmethod
    def quick():
        return Size(rounds=1, peer_rounds=1, dispatches=200, buffers=50, events=20_000, slow_events=5_000, counted=100,
                    reports=(10_000, 100_000), tree=10_000)


@dataclasses.dataclass
class Bench:
    build: pathlib.Path
    work: pathlib.Path
    size: Size
    environment: dict

    def program(self, name):
        return self.build / "tests/bench/tap" / name

    def run(self, name, *arguments, tapped=False, environment=None):
        """What the program printed. With the tap if asked for; what is recorded is in `spool` then."""
        variables = dict(environment or self.environment)
        self.spool.unlink(missing_ok=True)
        if tapped:
            variables.update(METALTAP_SPOOL=str(self.spool), LD_PRELOAD=str(self.build / "lib/libmetaltap.so"))
        ran = subprocess.run([self.program(name), *map(str, arguments)], env=variables, capture_output=True,
                             text=True, stdin=subprocess.DEVNULL)
        if ran.returncode:
            raise RuntimeError(f"{name} {' '.join(map(str, arguments))}: {ran.returncode}: {ran.stderr.strip()[-500:]}")
        return json.loads(ran.stdout)

    @property
    def spool(self):
        return self.work / "bench.mtap"

    def in_turns(self, name, *arguments):
        """What the program printed without the tap and with it, run in turns."""
        runs = {False: [], True: []}
        for _ in range(self.size.rounds):
            for tapped in runs:
                runs[tapped].append(self.run(name, *arguments, tapped=tapped))
        return together(runs[False]), together(runs[True])


def make(build, work, quick):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("METALTAP_", "SOFTMETAL_", "MTL_", "METAL_"))}
    environment["SOFTMETAL_CACHE"] = str(work / "cache")
    return Bench(build, work, Size.quick() if quick else Size(), environment)


def together(runs):
    """Of the runs the least disturbed, but for quantiles, which are about what disturbs: their median."""
    return {key: (statistics.median if key in QUANTILES else min)(run[key] for run in runs) for key in runs[0]}


def records(spool):
    """How many records of each type the events of a spool have."""
    counts = collections.Counter()
    data = spool.read_bytes()
    for start in range(HEADER_BYTES, len(data), SEGMENT_BYTES):
        if struct.unpack_from("<IH", data, start)[1] != EVENTS_SEGMENT:
            continue
        slot = start + FIRST_SLOT * SLOT_BYTES
        while slot < min(start + SEGMENT_BYTES, len(data)):
            time, word = struct.unpack_from("<QI", data, slot)
            if not time:
                break
            counts[word & 0xff] += 1
            slot += SLOT_BYTES * (2 if word & 0xff in TWO_SLOTS else 1)
    return counts


def slots(counts):
    return sum(count * (2 if kind in TWO_SLOTS else 1) for kind, count in counts.items())
