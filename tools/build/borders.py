#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the borders between the parts of the tree, and what every file must have. Run by `make lint`.

Reads only files that belong to the project; changes nothing. Each finding is one line "file:line: what".
An argument names another tree to look at, for the test of this check.
"""

import pathlib
import re
import sys

TOP = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent.parent).resolve()
CODE_FOLDERS = ("interpose", "src", "shaders", "tools", "tests", ".ci", "docs")
TOP_FILES = ("Makefile", "README.md", "CHANGELOG.md")
CODE = {".c", ".m", ".h", ".def", ".py", ".sh", ".mk", ".metal"}

# A part, and the places its quoted includes may lead to (besides its own folder).
INCLUDES_ALLOWED = {
    "interpose": ("interpose/", "src/objc/", "src/spool/format.h", "src/os/", "src/options/", "src/version.h",
                  "src/views/report.h"),
}
# A part, places that its includes may not lead to, and exceptions.
INCLUDES_FORBIDDEN = {
    "tools": ("interpose/", ()),
    "src": ("interpose/", ()),
}
# Objective-C is what softmetal and machrun are made of; tests have targets in it. Nothing else may.
OBJC_ALLOWED = ("src/softmetal/", "tools/machrun/", "tests/targets/", "tests/unit/", "tests/bench/")
CPLUSPLUS_ALLOWED = ("src/softmetal/stdlib/",)

# Where files outside the project would be named: homes of single machines, and hosts that packages come from.
FORBIDDEN_TEXT = (
    (re.compile(r"(?<![\w.])/(?:home|Users|root|work)/"), "an absolute path of one machine"),
    (re.compile(r"\b(?:npm[j]s\.|py[p]i\.org|docker\.i[o]|crates\.i[o]|ghcr\.i[o])"), "a package registry"),
    (re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b"), "an unfinished place"),
)
INCLUDE = re.compile(r'^\s*#\s*(?:include|import)\s*([<"])([^">]+)[">]')


def project_files():
    for folder in CODE_FOLDERS:
        for path in sorted((TOP / folder).rglob("*")):
            if path.is_file() and not path.name.startswith(".") and "__pycache__" not in path.parts:
                yield path
    for name in TOP_FILES:
        if (TOP / name).exists():
            yield TOP / name


def resolve(name, source):
    """The project file that an include means, relative to the top; None if it is not ours."""
    for base in (source.parent, TOP / "src/softmetal", TOP / "src/softmetal/include", TOP / "src", TOP / "interpose", TOP):
        candidate = (base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(TOP):
            return candidate.relative_to(TOP).as_posix()
    return None


def check_include(place, part, wanted):
    allowed = INCLUDES_ALLOWED.get(part)
    if allowed and not wanted.startswith(allowed):
        return f"{place}: {part}/ may not include {wanted}"
    forbidden, exceptions = INCLUDES_FORBIDDEN.get(part, (None, ()))
    if forbidden and wanted.startswith(forbidden) and wanted not in exceptions:
        return f"{place}: {part}/ may not include {wanted}"
    return None


def check_lines(path, name, lines):
    part = name.split("/")[0]
    for number, line in enumerate(lines, 1):
        place = f"{name}:{number}"
        match = INCLUDE.match(line)
        if match and path.suffix in {".c", ".m", ".h", ".def"}:
            wanted = resolve(match.group(2), path)
            finding = wanted and check_include(place, part, wanted)
            if finding:
                yield finding
        for pattern, what in FORBIDDEN_TEXT:
            if pattern.search(line):
                yield f"{place}: names {what}"


def check_file(path):
    name = path.relative_to(TOP).as_posix()
    try:
        lines = path.read_text().splitlines()
    except UnicodeDecodeError:
        return  # data
    is_code = path.suffix in CODE or name in ("Makefile", "tests/run", ".ci/run") or "/stdlib/" in name
    if is_code and not any("SPDX-License-Identifier: MIT" in line for line in lines[:3]):
        yield f"{name}:1: no SPDX line at its head"
    if path.suffix == ".m" and not name.startswith(OBJC_ALLOWED):
        yield f"{name}:1: Objective-C has no place here"
    if path.suffix in {".cpp", ".cc", ".hpp", ".mm"} and not name.startswith(CPLUSPLUS_ALLOWED):
        yield f"{name}:1: C++ has no place here"
    if is_code:
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                yield f"{name}:{number}: blanks at the end of the line"
    yield from check_lines(path, name, lines)


def main():
    findings = [finding for path in project_files() for finding in check_file(path)]
    for finding in findings:
        print(finding, file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
