# SPDX-License-Identifier: MIT
# shows: limits on file sizes, descriptors and memory cost the record, with a word, and the program nothing
"""Runs tests/targets/torture with the tap under resource limits that the program itself can live with."""

import json
import os
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import sanitizers  # noqa: E402

BUILD = pathlib.Path(os.environ["BUILD"])
TORTURE = BUILD / "tests/targets/torture"
METALTAP = BUILD / "bin/metaltap"
LIBRARY = BUILD / "lib/libmetaltap.so"
HANG_S = 120
MOST_LINES = 3


def run(folder, *arguments, limit=None, tap=True, **variables):
    folder = pathlib.Path(folder)
    folder.mkdir(exist_ok=True)
    env = {**os.environ, "METALTAP_OUT": "report.json", "LD_PRELOAD": str(LIBRARY) if tap else "", **variables}
    return subprocess.run([TORTURE, *arguments], cwd=folder, env=env, capture_output=True, timeout=HANG_S, check=False,
                          stdin=subprocess.DEVNULL,
                          preexec_fn=lambda: limit and resource.setrlimit(limit[0], (limit[1], limit[1])))


def reports(folder):
    """What the run left: the report, and what the command line reads from the spool."""
    folder = pathlib.Path(folder)
    if (folder / "report.json").exists():
        yield json.loads((folder / "report.json").read_text())
    if (folder / "report.mtap").exists():
        done = subprocess.run([METALTAP, "report", "report.mtap", "--json", "read.json"], cwd=folder,
                              capture_output=True, text=True, timeout=HANG_S, check=False)
        if done.returncode:
            sys.exit(f"{folder}: metaltap report ended with {done.returncode}: {done.stderr}")
        yield json.loads((folder / "read.json").read_text())


def check(folder, done, usual):
    """Right output, few words, and a loss is told. Gives the words."""
    lines = done.stderr.decode().splitlines()
    if (done.returncode, done.stdout) != usual:
        sys.exit(f"{folder}: exit code {done.returncode}, output {done.stdout}, {lines}")
    if len(lines) > MOST_LINES or any(not line.startswith("metaltap: ") for line in lines):
        sys.exit(f"{folder}: {lines}")
    left = list(reports(folder))
    for report in left:
        dropped = report["dropped"]
        if not report["complete"] or bool(dropped["stop_reason"]) != any("recording stopped" in line for line in lines):
            sys.exit(f"{folder}: {lines}, {dropped}")
    if len(left) < 2 and not lines:
        sys.exit(f"{folder}: something is missing, and not a word")
    return lines


def check_file_size(usual):
    """SIGXFSZ would end the program: neither the spool nor the report may go over the limit. The thread sanitizer
    would write half a MiB to a file if it found a folder for it."""
    seen = set()
    for kilobytes in (0, 8, 16, 100, 271, 272, 300, 528, 800, 1500, 2500, 4000, 10000):
        folder = f"file-size-{kilobytes}"
        done = run(folder, limit=(resource.RLIMIT_FSIZE, kilobytes * 1024), TMPDIR="/nowhere")
        for line in check(folder, done, usual):
            seen.add(line.split(",")[0].split(":")[1].strip())
    print(f"file sizes: {sorted(seen)}")
    for words in ("cannot record", "recording stopped", "no report"):
        if not any(line.startswith(words) for line in seen):
            sys.exit(f"never came to '{words}': {seen}")


def fewest_descriptors():
    """The smallest limit under which the program works without the tap."""
    return next(count for count in range(3, 64)
                if run("fewest", limit=(resource.RLIMIT_NOFILE, count), tap=False).returncode == 0)


def check_descriptors(usual):
    done = run("descriptors", "descriptors", limit=(resource.RLIMIT_NOFILE, 64))
    lines = check("descriptors", done, usual)
    if not any("cannot record" in line and "Too many open files" in line for line in lines):
        sys.exit(f"descriptors: {lines}")
    # The tap holds one of its own while it records, and needs another to read its record at the end.
    few = fewest_descriptors()
    words = [check(f"descriptors-{more}", run(f"descriptors-{more}", limit=(resource.RLIMIT_NOFILE, few + more)), usual)
             for more in (1, 2, 3, 5, 10)]
    print(f"descriptors: the program needs {few}; {words}")


def check_memory():
    """The process may not grow any more, from the middle of the program on."""
    done = run("memory-usual", "memory", tap=False)
    lines = check("memory", run("memory", "memory"), (done.returncode, done.stdout))
    if not any("recording stopped" in line and "no memory" in line for line in lines):
        sys.exit(f"memory: {lines}")


def main():
    sanitizers.without_symbols()
    done = run("usual", tap=False)
    usual = (done.returncode, done.stdout)
    check_file_size(usual)
    if sanitizers.NAME:
        return  # they need descriptors and memory of their own
    check_descriptors(usual)
    check_memory()


main()
