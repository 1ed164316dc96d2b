#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes every allocation and every file operation of the tap fail in turn, in a program that works all the while.

A first run under fail.so lists the calls of libmetaltap.so that can fail. Then the program is run once for each place
that such a call comes from (the function and its callers), and as often as asked for each single call; that one
fails. Whatever fails: exit code and output of the program are those of a run without the tap, the tap says little or
nothing, what it leaves behind is valid, and what it lost is told. Run by `make torture` (all) and by t540 (a part)."""

import argparse
import concurrent.futures
import dataclasses
import errno
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HANG_S = 60
REPORTING = ("malloc", "calloc", "realloc", "pread", "write")
SRC = pathlib.Path(__file__).resolve().parent.parent.parent
OWN_VARIABLES = ("METALTAP_", "TORTURE_")
MOST_LINES = 4
# How else than usual these may fail. A number is an errno; "short" transfers only a part.
OTHER_WAYS = {
    "fallocate": (errno.EOPNOTSUPP, errno.EINTR, errno.EDQUOT), "ftruncate": (errno.EINTR,),
    "open": (errno.EACCES, errno.ENOSPC), "write": (errno.EINTR, "short", errno.EPIPE),
    "pwrite": (errno.EINTR, "short"), "pread": (errno.EINTR, "short"), "rename": (errno.EXDEV,),
    "mmap": (errno.EAGAIN, errno.ENODEV), "fcntl": (errno.EINVAL,),
}
MODES = {
    "plain": {},
    "keep": {"METALTAP_KEEP": "1M"},
    "capture": {"METALTAP_CAPTURE": "trace.gputrace", "METALTAP_WINDOW": "cb:2+3"},
    "spool": {"METALTAP_OUT": None, "METALTAP_SPOOL": "report.mtap"},
}
TABLES = ("devices", "queues", "libraries", "functions", "pipelines")
GROWING = ("command_buffers", "encoders", "waits")
EXPECTED_FILES = {"report.json", "report.mtap", "calls", "trace.gputrace", "read.json"}


@dataclasses.dataclass
class Call:
    number: int
    function: str
    frames: tuple  # return addresses, innermost first; those in cJSON begin with c

    def site(self, depth):
        """The call and as many of its callers in the tap, as fail.so knows it. The report has so many places which
        allocate, read and write that one caller less must do for those."""
        wanted = max(depth - (self.function in REPORTING), 1)
        ours = [number for number, frame in enumerate(self.frames) if frame[0] != "c"][:wanted]
        return " ".join((self.function, *self.frames[:ours[-1] + 1 if ours else None]))


@dataclasses.dataclass
class Fault:
    call: Call
    variables: dict
    name: str


@dataclasses.dataclass
class Result:
    code: int
    out: bytes
    err: str
    folder: pathlib.Path
    hung: bool = False


class Torture:
    def __init__(self, build, work, program, mode, jobs):
        self.build, self.work, self.program, self.mode, self.jobs = build, work, program, mode, jobs
        self.library = build / "lib/libmetaltap.so"
        self.usual = self.run("usual", {}, preload=())
        if self.usual.code or self.usual.hung:
            sys.exit(f"{program} does not work without the tap: {self.usual.code}\n{self.usual.err}")
        listed = self.run("calls", {"TORTURE_LOG": "calls"})
        self.counts = None
        problems = self.judge(listed, None)
        self.calls = [parse_call(line) for line in (listed.folder / "calls").read_text().splitlines()]
        if problems or listed.err or not self.calls:
            sys.exit(f"nothing fails, and yet: {problems} {listed.err} {len(self.calls)} calls")
        self.counts = counts_of(self.read_spool(listed)[1])

    # ---- running ----
    def run(self, name, variables, preload=None):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if preload is None:
            preload = (self.build / "tests/torture/fail.so", self.library)
        env = {key: value for key, value in os.environ.items() if not key.startswith(OWN_VARIABLES)}
        env.setdefault("SOFTMETAL_CACHE", str(SRC / "build/tests/cache"))
        env = {**env, "METALTAP_OUT": "report.json", **MODES[self.mode], **variables,
               "LD_PRELOAD": ":".join(map(str, preload))}
        env = {key: value for key, value in env.items() if value is not None}
        with subprocess.Popen([self.program], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(timeout=HANG_S)
                return Result(process.returncode, out, err.decode(errors="replace"), folder)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                return Result(process.returncode, out, err.decode(errors="replace"), folder, hung=True)

    def read_spool(self, result):
        """Whether `metaltap report` behaves, and the report it gives of a spool that it can read."""
        done = subprocess.run([self.build / "bin/metaltap", "report", "report.mtap", "--json", "read.json"],
                              cwd=result.folder, capture_output=True, text=True, timeout=HANG_S, check=False)
        if done.returncode not in (0, 1) or (done.returncode == 1 and not done.stderr):
            return f"metaltap report: exit code {done.returncode}, says {done.stderr!r}", None
        if done.returncode == 1:
            return None, None
        return None, json.loads((result.folder / "read.json").read_text())

    # ---- judging ----
    def judge(self, result, fault):
        """What is wrong with a run; an empty list if nothing."""
        if result.hung:
            return [f"hangs, after saying {result.err!r}"]
        problems = []
        if (result.code, result.out) != (self.usual.code, self.usual.out):
            problems.append(f"exit code {result.code}, output {result.out.decode(errors='replace')!r}")
        lines = result.err.splitlines()
        if len(lines) > MOST_LINES or any(not line.startswith("metaltap: ") for line in lines):
            problems.append(f"{len(lines)} lines on standard error")
        if fault and not (result.folder / "calls").exists():
            problems.append("the call did not come")
        strays = {path.name for path in result.folder.iterdir()} - EXPECTED_FILES
        if strays and not failed(result, "unlink"):
            problems.append(f"left behind: {strays}")
        try:
            problems += self.judge_files(result)
        except (ValueError, KeyError) as error:
            problems.append(f"a file is not what it should be: {error!r}")
        return problems + ([f"standard error: {result.err!r}"] if problems and result.err else [])

    def judge_files(self, result):
        problems, reports = [], []
        out, spool, trace = (result.folder / name for name in ("report.json", "report.mtap", "trace.gputrace"))
        if out.exists():
            reports.append(json.loads(out.read_text()))
        if spool.exists():
            wrong, report = self.read_spool(result)
            problems += [wrong] if wrong else []
            reports += [report] if report else []
        elif reports:
            problems.append("a report and no spool")
        if "METALTAP_OUT" not in MODES[self.mode] and not out.exists() and not result.err:
            problems.append("no report, and not a word")
        if not spool.exists() and not result.err:
            problems.append("no spool, and not a word")
        if self.mode == "capture":
            if trace.exists():
                json.loads((trace / "softmetal-capture.json").read_text())
            elif not result.err:
                problems.append("no capture, and not a word")
        return problems + [problem for report in reports for problem in self.judge_loss(report, result)]

    def judge_loss(self, report, result):
        if not report["complete"]:
            return ["the report is not complete"]
        counts = counts_of(report)
        names = TABLES if self.mode == "keep" else counts
        different = {name: (self.counts[name], counts[name]) for name in names
                     if self.counts and counts[name] != self.counts[name]}
        dropped = report["dropped"]
        told = dropped["records"] or dropped["stop_reason"] or report["warnings"] or result.err
        return [f"lost without a word: {different}"] if different and not told else []

    # ---- faults ----
    def sites(self, depth):
        """The first call of each place, which is the function and as many callers."""
        chosen = {}
        for call in self.calls:
            chosen.setdefault(call.site(depth), call)
        return chosen

    def faults(self, depth, every, stay, known=()):
        """`stay`: functions whose places go on failing in another run. `known`: places that have had their turn."""
        for site, call in self.sites(depth).items():
            if site in known:
                continue
            variables = {"TORTURE_SITE": site, "TORTURE_NTH": "1"}
            yield Fault(call, variables, f"{call.function} once")
            if call.function in stay or stay == ("all",):
                yield Fault(call, {**variables, "TORTURE_STAY": "1"}, f"{call.function} always")
        for site, call in self.sites(depth - 1).items() if not known else ():
            for way in OTHER_WAYS.get(call.function, ()):
                yield Fault(call, {"TORTURE_SITE": site, "TORTURE_NTH": "1", "TORTURE_ERROR": str(way)},
                            f"{call.function}: {way}")
        for call in self.calls[::every] if every else ():
            variables = {"TORTURE_NTH": str(call.number)}
            yield Fault(call, variables, f"call {call.number}")
            yield Fault(call, {**variables, "TORTURE_STAY": "1"}, f"all from call {call.number} on")

    def try_fault(self, numbered):
        """Which call has which number, and which of several threads comes first, changes from run to run."""
        for _ in range(3):
            verdict = self.try_once(*numbered)
            if verdict[0] != "missed":
                break
        return verdict

    def try_once(self, number, fault):
        result = self.run(f"fault{number}", {**fault.variables, "TORTURE_LOG": "calls"})
        problems = self.judge(result, fault)
        if problems == ["the call did not come"]:
            shutil.rmtree(result.folder)
            return "missed", number, fault, problems
        if not problems:
            shutil.rmtree(result.folder)
        return "failed" if problems else "passed", number, fault, problems

    def run_all(self, depth, every, stay, known=()):
        started = time.monotonic()
        faults = list(enumerate(self.faults(depth, every, stay, known)))
        verdicts = {"passed": 0, "failed": 0, "missed": 0}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for verdict, number, fault, problems in pool.map(self.try_fault, faults):
                verdicts[verdict] += 1
                if verdict == "failed":
                    self.tell(number, fault, problems)
        print(f"{self.program.name}, {self.mode}: {len(self.calls)} calls from {len(self.sites(4))} places; "
              f"{len(faults)} runs, {verdicts['failed']} wrong, {verdicts['missed']} where the call did not come, "
              f"{time.monotonic() - started:.0f} s", flush=True)
        return verdicts["failed"] == 0 and verdicts["missed"] <= max(2, len(faults) / 10)

    def tell(self, number, fault, problems):
        settings = " ".join(f"{key}={value}" for key, value in fault.variables.items())
        print(f"FAIL: {self.mode}, {fault.name} ({settings}), see fault{number}")
        for line in problems + self.source_lines(fault.call):
            print(f"    {line}")
        sys.stdout.flush()

    def source_lines(self, call):
        """Where the call came from, if there is a program that can tell."""
        addresses = [hex(int(frame, 16) - 1) for frame in call.frames if frame[0] != "c"]
        tool = shutil.which("llvm-symbolizer-19") or shutil.which("llvm-symbolizer")
        if not tool:
            return [f"from {address}" for address in addresses]
        done = subprocess.run([tool, "--obj", self.library, "--output-style=GNU", "-p", "-s", *addresses],
                              capture_output=True, text=True, check=False)
        return [f"from {line}" for line in done.stdout.splitlines() if line.strip()]


def failed(result, function):
    """Whether a call of this function was made to fail."""
    log = result.folder / "calls"
    return log.exists() and any(parse_call(line).function == function for line in log.read_text().splitlines())


def parse_call(line):
    number, function, *frames = line.split()
    return Call(int(number), function, tuple(frames))


def counts_of(report):
    if not report:
        return {}
    counts = {name: len(report[name]) for name in TABLES + GROWING}
    counts["dispatches"] = len(report["dispatches"]["rows"])
    counts["memory"] = len(report["memory"]["events"]["rows"])
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    add = parser.add_argument
    add("--build", type=pathlib.Path, required=True)
    add("--work", type=pathlib.Path, help="folder for the runs (default: BUILD/tests/torture/runs)")
    add("--program", action="append", help="of tests/targets (default: torture)")
    add("--mode", action="append", choices=MODES, help="default: all")
    add("--depth", type=int, default=4, help="callers that make places different (2 to 6)")
    add("--every", type=int, default=0, metavar="N", help="also every Nth single call")
    add("--stay", default="all", metavar="FUNCTION,...", help="whose places also go on failing; default: all")
    add("--new", action="store_true", help="after the first mode only places that were not there before")
    add("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    build = options.build.resolve()
    work = (options.work or build / "tests/torture/runs").resolve()
    right, known = True, set()
    for name in options.program or ["torture"]:
        for mode in options.mode or MODES:
            torture = Torture(build, work / name / mode, build / "tests/targets" / name, mode, options.jobs)
            right = torture.run_all(options.depth, options.every, tuple(options.stay.split(",")), known) and right
            if options.new:
                known |= set(torture.sites(options.depth))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
