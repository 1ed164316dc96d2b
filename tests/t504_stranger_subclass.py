# SPDX-License-Identifier: MIT
# shows: calls of classes made below the driver's, which call super and each other, are counted once
"""tests/targets/stranger_subclass gives objects of the driver a class of its own making, one or two levels down, so
that classes of one line all have hooks. Its own methods run as often as without the tap."""

import os
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402

QUEUES = {("0", "apple"): "SoftG1FamilyCommandQueue", ("0", "amd"): "SoftR1CommandQueue",
          ("1", "apple"): "SMDebugCommandQueue", ("2", "amd"): "SMDebugCommandQueue"}
OWN_METHODS = "commits 9, waits 9, labels 9, dispatches 27, ends 9\n"  # 3 buffers at each of the levels 0, 1, 2


def check(depth, profile, queue):
    folder = r.WORK / f"{depth}{profile}"
    command = [r.target("stranger_subclass"), queue]
    settings = {"SOFTMETAL_DEBUG_LAYER": depth, "SOFTMETAL_PROFILE": profile}
    output = r.must_work(r.run(command, folder, **settings))
    r.expect("own methods", True, output.endswith(OWN_METHODS))
    r.expect("output with the tap", output, r.must_work(r.tapped(command, folder, **settings)))
    report = r.Report(folder / "report.json")
    r.check_consistency(report)
    r.check_work(report, output)


for (layers, gpu), name in QUEUES.items():
    check(layers, gpu, name)
