# SPDX-License-Identifier: MIT
# shows: a capture holds exactly the command buffers of its window, and the report and the manifest agree
# timeout: 900
"""Every way of submitting, with windows of both kinds, at every depth of wrappers."""

import os
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import sanitizers  # noqa: E402
from captures import WAYS, WORK, Run, check_report, expect, tapped  # noqa: E402

# way, window, the buffers asked for by order of creation
EXACT = (
    ("steps", None, range(0, 1)),
    ("steps", "step:1", range(1, 3)),
    ("steps", "step:1+2", range(1, 6)),
    ("steps", "step:3", range(6, 10)),
    ("steps", "cb:0", range(0, 1)),
    ("steps", "cb:2+2", range(2, 4)),
    ("steps", "cb:9", range(9, 10)),
    ("steps", "cb:8+5", range(8, 10)),  # never full: ends with the program
    ("early", "cb:0", range(0, 1)),
    ("early", "cb:2+2", range(2, 4)),
    ("early", "step:0", range(0, 2)),  # the second is made before the wait
    ("early", "step:1", range(2, 3)),
    ("queues", "cb:2+3", range(2, 5)),
    ("queues", "step:0", range(0, 8)),
    ("parallel", "step:0", range(0, 4)),
    ("parallel", "step:1+2", range(4, 12)),
    ("parallel", "cb:1+2", range(1, 3)),
    ("parallel", "cb:3+3", range(3, 6)),
    ("alone", "cb:3+5", range(3, 8)),
    ("completed", "cb:290+5", range(290, 295)),
    ("own", "cb:2", range(2, 3)),
    ("forked", "cb:1", range(1, 2)),
)
# way, window, the buffers in the trace, how many of them were not asked for
WITH_EXTRA = (
    ("reversed", "cb:0", range(0, 2), 1),
    ("event", "cb:0", range(0, 2), 1),
    ("enqueued", "cb:0", range(0, 2), 1),
    ("chain", "cb:1", range(1, 3), 1),
)


def settled(text):
    """Output whose order does not depend on the scheduler."""
    return sorted(line if not line.startswith("buffer ") else line.split(" ", 2)[2] for line in text.splitlines())


def compare_output(run, plain):
    expect(f"{run.name}: exit code", plain.code, run.code)
    expect(f"{run.name}: output", settled(plain.out), settled(run.out))


def check_exact(folder, depth, plain):
    for way, window, asked in EXACT:
        variables = sanitizers.forked() if way == "forked" else {}
        run = tapped(folder / f"{way}-{window}", [WAYS, way], window, SOFTMETAL_DEBUG_LAYER=depth, **variables)
        compare_output(run, plain[way])
        created = run.created()
        expect(f"{run.name}: manifest", sorted(created[i] for i in asked), sorted(run.labels()))
        ids = check_report(run, len(asked))
        expect(f"{run.name}: ids", [i + 1 for i in asked], list(ids))
        expect(f"{run.name}: nothing to say", "", run.err)


def check_extra(folder, plain):
    for way, window, held, extra in WITH_EXTRA:
        run = tapped(folder / way, [WAYS, way], window)
        compare_output(run, plain[way])
        created = run.created()
        expect(f"{run.name}: manifest", sorted(created[i] for i in held), sorted(run.labels()))
        check_report(run, len(held) - extra, extra)
        expect(f"{run.name}: told once", 1, run.err.count("metaltap: "))
        expect(f"{run.name}: told", True, f"not asked for: {extra};" in run.err)


def check_racing(folder, plain):
    """Creations that meet: which ones are asked for is known by their ids only."""
    run = tapped(folder / "racing", [WAYS, "racing"], "cb:5+10")
    compare_output(run, plain["racing"])
    expect("racing: ids", list(range(6, 16)), list(check_report(run, 10)))


def check_cut(folder, plain):
    """A program that never waits has a step without end; one that keeps a buffer back has a capture without end."""
    run = tapped(folder / "completed", [WAYS, "completed"])
    compare_output(run, plain["completed"])
    check_report(run, 256)
    expect("completed: told", True, "capture: cut off after 256 command buffers" in run.err)
    run = tapped(folder / "kept", [WAYS, "kept"], "cb:0")
    compare_output(run, plain["kept"])
    expect("kept: no more than", [f"kept {i}" for i in range(1, 65)], run.labels())
    expect("kept: told", True, "1 of 1 command buffers asked for had not finished" in run.err)


def check_dropped(folder, plain):
    """The second of three is dropped. The tap may learn of it late, or never; then others come along."""
    run = tapped(folder / "dropped", [WAYS, "dropped"], "cb:0+3")
    compare_output(run, plain["dropped"])
    extra = run.report()["captures"][1]["extra"]
    expect("dropped", (["dropped 0", "dropped 2"], extra), (run.labels()[:2], len(run.labels()) - 2))


def main():
    ways = {way for way, *_ in EXACT + WITH_EXTRA} | {"racing", "completed", "kept", "dropped"}
    for depth in ("0", "1", "2"):
        plain = {way: Run(WORK / f"plain{depth}", [WAYS, way], METAL_CAPTURE_ENABLED="1", SOFTMETAL_DEBUG_LAYER=depth)
                 for way in sorted(ways)}
        check_exact(WORK / f"depth{depth}", depth, plain)
    for check in (check_extra, check_racing, check_cut, check_dropped):
        check(WORK / check.__name__, plain)


main()
