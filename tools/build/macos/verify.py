#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at a libmetaltap.dylib of one processor and says what is not as it must be. Run by check.sh.

Reads the file through LLVM's tools; executes nothing of it. Each finding is one line on stderr; the last line on
stdout says what the file replaces, imports and exports.

    verify.py DYLIB MINIMUM_SYSTEM ENTRY_POINT...
"""

import os
import re
import subprocess
import sys

LIBRARIES = {
    "/usr/lib/libSystem.B.dylib",
    "/usr/lib/libobjc.A.dylib",
    "/System/Library/Frameworks/Metal.framework/Versions/A/Metal",
}
# May be looked for in whatever the process has: a function of another framework, and, in this check only, cJSON.
FLAT = re.compile(r"_CGDirectDisplayCopyCurrentMetalDevice$|_cJSON_\w+$")
# The tap never ends the program, never writes to its stdout, never runs another one, and has no C++. `environ` of a
# library is not that of every program: _NSGetEnviron knows.
FORBIDDEN = re.compile(
    r"_(abort|exit|_exit|quick_exit|__assert_rtn|printf|puts|putchar|__stdoutp|system|popen|environ)$|__Z|___cxa_"
)
EXPORTED = re.compile(r"_metaltap_\w+$")
POINTER_BYTES = 8


def run(tool, *arguments):
    command = [f"{tool}-{os.environ.get('LLVM', '19')}", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def sections(path):
    """(segment, section) -> size in bytes"""
    found = {}
    segment = name = None
    for line in run("llvm-otool", "-l", path).splitlines():
        words = line.split()
        if len(words) != 2:
            continue
        if words[0] == "sectname":
            name = words[1]
        elif words[0] == "segname":
            segment = words[1]
        elif words[0] == "size" and name:
            found[segment, name] = int(words[1], 16)
            name = None
    return found


def fixups(path):
    """Rows (segment, section, library, symbol) of what dyld binds, and how many places it moves per section."""
    binds, rebases = [], {}
    for line in run("llvm-objdump", "--macho", "--bind", "--lazy-bind", path).splitlines():
        match = re.match(r"(__\S+)\s+(__\S+)\s+0x\w+\s+(?:pointer\s+-?\d+\s+)?(\S+)\s+(_\S+|dyld_stub_binder)", line)
        if match:
            binds.append(match.groups())
    for line in run("llvm-objdump", "--macho", "--rebase", path).splitlines():
        match = re.match(r"(__\S+)\s+(__\S+)\s+0x\w+\s+pointer", line)
        if match:
            rebases[match.groups()] = rebases.get(match.groups(), 0) + 1
    return binds, rebases


def check_interposed(binds, rebases, sizes, entries):
    place = ("__DATA", "__interpose")
    pairs = sizes.get(place, 0) // (2 * POINTER_BYTES)
    names = sorted(symbol for segment, section, _, symbol in binds if (segment, section) == place)
    wanted = sorted("_" + entry for entry in entries)
    if names != wanted:
        yield f"__interpose replaces {names}, entry_points.def has {wanted}"
    if pairs != len(wanted) or rebases.get(place, 0) != len(wanted):
        yield f"__interpose has {pairs} pairs and {rebases.get(place, 0)} replacements, expected {len(wanted)}"


def check_imports(binds, libraries):
    for library in sorted(set(libraries) - LIBRARIES):
        yield f"needs {library}"
    for _, _, library, symbol in sorted(set(binds)):
        if library == "flat-namespace" and not FLAT.match(symbol):
            yield f"{symbol} is looked for in all libraries of the process"
        if FORBIDDEN.match(symbol):
            yield f"imports {symbol}"


def check_commands(path, minimum):
    text = run("llvm-otool", "-l", path)
    if not re.search(rf"minos {re.escape(minimum)}\b", text):
        yield f"minimum system is not {minimum}"
    if "LC_CODE_SIGNATURE" not in text:
        yield "not signed"


def main():
    path, minimum, *entries = sys.argv[1:]
    sizes = sections(path)
    binds, rebases = fixups(path)
    own_name, *libraries = [line.split(" (")[0].strip() for line in run("llvm-otool", "-L", path).splitlines()[1:]]
    exports = [line.split()[-1] for line in run("llvm-nm", "-gU", path).splitlines() if line.strip()]

    findings = [*check_interposed(binds, rebases, sizes, entries), *check_imports(binds, libraries)]
    findings += check_commands(path, minimum)
    findings += [f"exports {name}" for name in exports if not EXPORTED.match(name)]
    findings += [f"has {s},{n}: Objective-C of its own" for s, n in sizes if n.startswith("__objc_")]
    if own_name != "@rpath/libmetaltap.dylib":
        findings.append(f"calls itself {own_name}")
    for finding in findings:
        print(f"{path}: {finding}", file=sys.stderr)
    interposed = sorted(s[1:] for segment, section, _, s in binds if section == "__interpose")
    print(f"{path}: replaces {' '.join(interposed)}; {len(set(b[2:] for b in binds))} imports; {len(exports)} exports")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
