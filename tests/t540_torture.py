# SPDX-License-Identifier: MIT
# shows: whatever call of the tap fails, the program's output stays the same, files stay valid, losses are told
# timeout: 600
"""One failure per place in the tap that a fallible call comes from; `make torture` does this and much more."""

import os
import pathlib
import subprocess
import sys

BUILD, SRC, WORK = (pathlib.Path(os.environ[name]) for name in ("BUILD", "SRC", "WORK"))

if "san-" in BUILD.name:
    print("skip: sanitizers have a malloc of their own")
    sys.exit(77)
sys.exit(subprocess.run([sys.executable, SRC / "tests/torture/torture.py", "--build", BUILD, "--work", WORK / "runs",
                         "--depth", "2", "--stay", "mmap,fallocate,pthread_create", "--new"], check=False).returncode)
