# SPDX-License-Identifier: MIT
# shows: on a terminal a long run shows one line that counts and goes away; elsewhere there is none
# timeout: 600
"""Runs a Metal program under a terminal, reads what metaltap shows there, and ends the program."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ["BUILD"])
METALTAP = str(BUILD / "bin/metaltap")
STRESS = str(BUILD / "tests/targets/stress")
LIBRARY = "dummy.so"  # one that can be loaded into any program, whatever the build
LINE = re.compile(rb"\r\x1b\[Kmetaltap: (\d+):(\d\d), (\d+) command buffers, (\d+) dispatches, ([\d.]+) MB recorded")


def recorded():
    """The number of the process and of its dispatches so far, as the report of a running program says."""
    done = subprocess.run([METALTAP, "report", "--json", "-", "--detail", "summary", "run.mtap"], capture_output=True,
                          check=False)
    if not done.stdout:
        return 0, 0
    report = json.loads(done.stdout)
    return report["process"]["pid"], report["summary"]["counts"]["dispatches"]


def read_until(master, seen, condition):
    """What the terminal shows, up to the condition or the end of it."""
    while not condition(seen):
        try:
            seen += os.read(master, 65536)
        except OSError:  # the other side is closed
            break
    return seen


def main():
    if not (BUILD / "lib/libmetaltap.so").exists():
        print("skip: build/lib/libmetaltap.so is not built")
        sys.exit(77)
    master, slave = pty.openpty()
    with open("out", "wb") as out:
        process = subprocess.Popen([METALTAP, "run", "--out", "run.json", "--", STRESS, "144000"], stdin=slave,
                                   stdout=out, stderr=slave, start_new_session=True)
    os.close(slave)
    # Held as soon as something is recorded, so that nothing depends on how long it would have run.
    pid, dispatches = recorded()
    while dispatches < 100:
        time.sleep(0.01)
        pid, dispatches = recorded()
    os.kill(pid, signal.SIGSTOP)
    seen = read_until(master, b"", lambda text: len([x for x in LINE.findall(text) if int(x[3]) >= 100]) >= 2)
    os.kill(pid, signal.SIGCONT)
    process.send_signal(signal.SIGTERM)
    seen = read_until(master, seen, lambda text: False)
    code = process.wait()
    if code != 128 + signal.SIGTERM:
        sys.exit(f"exit code {code} came\n{seen!r}")
    counts = [tuple(int(x) for x in line[2:4]) for line in LINE.findall(seen)]
    if counts != sorted(counts):
        sys.exit(f"counts go back: {counts}")
    end = seen.rfind(b"MB recorded")
    if not seen[end:].startswith(b"MB recorded\r\x1b[K") or b"stir" not in seen[end:]:
        sys.exit(f"the line should go away and the summary follow: {seen[end - 100:end + 300]!r}")
    if b"\x1b" in pathlib.Path("out").read_bytes():
        sys.exit("something of ours is on standard output")

    # Not on a terminal: no line. The program ends itself after enough time for one.
    pathlib.Path("dummy.c").write_text("int dummy;\n")
    subprocess.run(["clang-19", "-shared", "-fPIC", "-o", LIBRARY, "dummy.c"], check=True)
    plain = subprocess.run([METALTAP, "run", "--library", LIBRARY, "--", "sleep", "3.5"], capture_output=True,
                           check=True)
    if b"\x1b" in plain.stderr or b"command buffers" in plain.stderr:
        sys.exit(f"progress although standard error is no terminal: {plain.stderr!r}")


main()
