# SPDX-License-Identifier: MIT
# shows: on a terminal a long run shows one line that counts and goes away; elsewhere there is none
# timeout: 600
"""Runs a Metal program under a terminal, reads what metaltap shows there, and ends the program."""

import os
import pathlib
import pty
import re
import signal
import subprocess
import sys

BUILD = pathlib.Path(os.environ["BUILD"])
METALTAP = str(BUILD / "bin/metaltap")
STRESS = str(BUILD / "tests/targets/stress")
LINE = re.compile(rb"\r\x1b\[Kmetaltap: (\d+):(\d\d), (\d+) command buffers, (\d+) dispatches, ([\d.]+) MB recorded")


def main():
    if not (BUILD / "lib/libmetaltap.so").exists():
        print("skip: build/lib/libmetaltap.so is not built")
        sys.exit(77)
    master, slave = pty.openpty()
    with open("out", "wb") as out:
        process = subprocess.Popen([METALTAP, "run", "--out", "run.json", "--", STRESS, "144000"], stdin=slave,
                                   stdout=out, stderr=slave, start_new_session=True)
    os.close(slave)
    seen = b""
    signalled = False
    while True:
        try:
            bytes_read = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        seen += bytes_read
        lines = LINE.findall(seen)
        if not signalled and len(lines) >= 3 and int(lines[-1][3]) > 0:
            process.send_signal(signal.SIGTERM)
            signalled = True
    code = process.wait()
    if code != 128 + signal.SIGTERM:
        sys.exit(f"exit code {code} came\n{seen!r}")
    lines = LINE.findall(seen)
    counts = [tuple(int(x) for x in line[2:4]) for line in lines]
    if counts != sorted(counts):
        sys.exit(f"counts go back: {counts}")
    end = seen.rfind(b"MB recorded")
    if not seen[end:].startswith(b"MB recorded\r\x1b[K") or b"stir" not in seen[end:]:
        sys.exit(f"the line should go away and the summary follow: {seen[end - 100:end + 300]!r}")
    if b"\x1b" in pathlib.Path("out").read_bytes():
        sys.exit("something of ours is on standard output")

    # Not on a terminal, or with --quiet: no line. The program ends itself after enough time for one.
    plain = subprocess.run([METALTAP, "run", "--", "sleep", "3.5"], capture_output=True, check=True)
    if b"\x1b" in plain.stderr or b"command buffers" in plain.stderr:
        sys.exit(f"progress although standard error is no terminal: {plain.stderr!r}")


main()
