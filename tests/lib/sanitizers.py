# SPDX-License-Identifier: MIT
"""What tests do differently under `make test SAN=...`. Only programs built with a sanitizer can load libraries that
have it: a tap with one cannot be in sh, env or Python."""

import os
import pathlib

VARIANT = pathlib.Path(os.environ["BUILD"]).name
NAME = VARIANT[len("san-"):] if VARIANT.startswith("san-") else None  # address, undefined, thread


def options(text):
    """More options for the sanitizer of every program that this test starts."""
    for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        os.environ[variable] += f":{text}"


def without_symbols():
    """For programs under the tap: the symbolizer inherits LD_PRELOAD, cannot start and says so, also where all that
    was found is suppressed. llvm-symbolizer --obj=... makes something of the addresses by hand."""
    options("symbolize=0")


def leave_crashes():
    """A crash ends the program as it would without a sanitizer: by the signal, and without a word."""
    options("handle_segv=0")


def forked():
    """Variables for a program whose forked child ends by exit: the search for leaks would look for the threads of the
    parent."""
    return {"ASAN_OPTIONS": f"{os.environ['ASAN_OPTIONS']}:detect_leaks=0"}


def cannot_tap(what):
    """Whether programs that have no sanitizer cannot be tapped; says what is not tried then."""
    if NAME:
        print(f"not tried: {what} (it has no sanitizer)")
    return NAME is not None
