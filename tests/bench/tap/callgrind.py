# SPDX-License-Identifier: MIT
"""Counts instructions with callgrind, by object and function.

Counts repeat exactly where times do not, so they are what changes of the tap are judged by. Programs and libraries are
run as copies without debug information: valgrind 3.19 cannot read what clang 19 writes.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess

# How many callers a function is told apart by: enough to lead from the recorder to the hook that used it.
CALLERS = 4
# A name is written once, then its number stands for it.
NAME = re.compile(r"c?(ob|fn)=\((\d+)\)(?: (.*))?$")


class Counts:
    """What one run executed: instructions by (object, functions from the innermost outwards)."""

    def __init__(self, path):
        self.by_place = collections.Counter()
        names, here, skip = {}, {"ob": "", "fn": ""}, False
        for line in open(path, errors="replace"):
            if line[:1].isdigit() or line[:1] in "+-*":
                if not skip:
                    self.by_place[here["ob"], here["fn"]] += int(line.split()[1])
                skip = False
            elif line.startswith("calls="):
                skip = True  # the next line is what the callee cost
            elif line.startswith(("ob=", "fn=", "cob=", "cfn=")):
                kind, number, name = NAME.match(line).groups()
                name = names.setdefault((kind, number), name)
                if line[0] != "c":
                    here[kind] = os.path.basename(name) if kind == "ob" else tuple(name.split("'"))

    def total(self):
        return sum(self.by_place.values())


class Callgrind:
    """Programs that run under callgrind, in a folder with copies of them and of the libraries."""

    def __init__(self, build, work, environment):
        self.folder = work / "stripped"
        self.work = work
        self.environment = dict(environment, LD_LIBRARY_PATH=str(self.folder / "lib"))
        self.library = self.folder / "lib" / "libmetaltap.so"
        for name in ("lib/libMetal.so.1", "lib/libmetaltap.so"):
            self._strip(build / name, self.folder / name)
        for name in ("libexec", "share"):
            (self.folder / name).symlink_to(build / name)
        for program in (build / "tests/bench/tap").iterdir():
            self._strip(program, self.folder / "bin" / program.name)

    @staticmethod
    def available():
        return shutil.which("valgrind") is not None and shutil.which("llvm-strip-19") is not None

    @staticmethod
    def _strip(source, copy):
        copy.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["llvm-strip-19", "-g", source, "-o", copy], check=True)

    def count(self, name, program, *arguments, spool=None, more=None):
        """Runs the program, with the tap if there is a spool to record to, and with more variables."""
        out = self.work / f"callgrind.{name}"
        environment = dict(self.environment, **(more or {}))
        if spool:
            spool.unlink(missing_ok=True)
            environment.update(METALTAP_SPOOL=str(spool), LD_PRELOAD=str(self.library))
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--separate-callers={CALLERS}",
                   self.folder / "bin" / program, *arguments]
        ran = subprocess.run([str(part) for part in command], env=environment, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True)
        if ran.returncode:
            raise RuntimeError(f"{program} under callgrind: {ran.stderr.strip()[-500:]}")
        return Counts(pathlib.Path(out))


def difference(more, less, times):
    """By place, what one of `times` repetitions executed that one run has more than the other."""
    places = more.by_place.keys() | less.by_place.keys()
    counts = {place: (more.by_place[place] - less.by_place[place]) / times for place in places}
    return {place: count for place, count in counts.items() if count}
