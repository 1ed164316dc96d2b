# SPDX-License-Identifier: MIT
"""What the tests of captures share: running tests/targets/capture_ways with the tap, and reading what it left."""

import json
import os
import pathlib
import subprocess
import sys

import sanitizers

BUILD = pathlib.Path(os.environ["BUILD"])
WORK = pathlib.Path(os.environ["WORK"])
WAYS = BUILD / "tests/targets/capture_ways"
LIBRARY = BUILD / "lib/libmetaltap.so"
HANG_S = 120
sanitizers.without_symbols()


def expect(what, expected, actual):
    if expected != actual:
        sys.exit(f"{what}:\n  expected {expected}\n  got      {actual}")


class Run:
    """One run in a folder of its own: what the program said, the manifest, the report."""

    def __init__(self, folder, command, **variables):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.name = f"{folder}: {' '.join(map(str, command))}"
        try:
            done = subprocess.run(command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True,
                                  timeout=HANG_S, check=False, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            sys.exit(f"{self.name}: hangs\n{error.stdout}\n{error.stderr}")
        self.out, self.err, self.code = done.stdout, done.stderr, done.returncode

    def labels(self, bundle="trace.gputrace"):
        with open(self.folder / bundle / "softmetal-capture.json", encoding="utf-8") as file:
            return [buffer["label"] for buffer in json.load(file)["command_buffers"]]

    def report(self):
        with open(self.folder / "report.json", encoding="utf-8") as file:
            return json.load(file)

    def created(self):
        """Labels in order of creation, as the program says."""
        return [line.split(" ", 2)[2] for line in self.out.splitlines() if line.startswith("buffer ")]


def tapped(folder, command, window=None, **variables):
    settings = {"LD_PRELOAD": str(LIBRARY), "METALTAP_CAPTURE": "trace.gputrace", "METALTAP_OUT": "report.json"}
    if window:
        settings["METALTAP_WINDOW"] = window
    return Run(folder, command, **{**settings, **variables})


def check_report(run, count, extra=0):
    """The report tells of one capture with so many buffers, and of none that was not asked for but `extra`. Its
    labels are those of the manifest. Returns the ids that were asked for."""
    report = run.report()
    started, stopped = report["captures"]
    expect(f"{run.name}: events", ("started", "stopped"), (started["event"], stopped["event"]))
    expect(f"{run.name}: path", str(run.folder / "trace.gputrace"), stopped["text"])
    expect(f"{run.name}: extra", extra, stopped["extra"])
    ids = range(stopped["first"], stopped["last"] + 1)
    expect(f"{run.name}: asked for", count, len(ids))
    marked = {b["id"]: b["completed_ns"] for b in report["command_buffers"] if "captured" in b["flags"]}
    expect(f"{run.name}: not marked", set(), set(ids) - set(marked))
    expect(f"{run.name}: marked, but done before the start", [],
           [i for i, completed_ns in marked.items() if completed_ns is not None and completed_ns < started["time_ns"]])
    labels = {b["id"]: b["label"] for b in report["command_buffers"] if b["end"] == "completed"}
    found = sorted(run.labels())
    wanted = sorted(labels[i] for i in ids if i in labels)
    if not extra:
        expect(f"{run.name}: report and manifest", wanted, found)
    expect(f"{run.name}: missing in the manifest", [], [label for label in wanted if label not in found])
    expect(f"{run.name}: number in the manifest", len(wanted) + extra, len(found))
    return ids
