# SPDX-License-Identifier: MIT
# shows: a capture that cannot be taken is told in one line with reason and cure, and the program runs on
"""Each refusal once; also what is no refusal: an output that exists, variables for Metal, programs without Metal."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import sanitizers  # noqa: E402
from captures import BUILD, LIBRARY, WAYS, WORK, Run, expect, tapped  # noqa: E402

NOBODY = 65534
STEPS_OUT = Run(WORK / "plain", [WAYS, "steps"]).out
# For programs that another starts, which need not be able to load the tap.
TAPPED_WAYS = ["env", f"LD_PRELOAD={LIBRARY}", WAYS]


def check_refused(run, reason, out=STEPS_OUT):
    expect(f"{run.name}: exit code", 0, run.code)
    expect(f"{run.name}: output", out, run.out)
    expect(f"{run.name}: told", f"metaltap: capture not started: {reason}\n", run.err)
    [event] = run.report()["captures"]
    expect(f"{run.name}: event", ("failed", reason), (event["event"], event["text"]))
    expect(f"{run.name}: warning", True, f"capture not started: {reason}" in run.report()["warnings"])
    expect(f"{run.name}: no marks", [], [b for b in run.report()["command_buffers"] if "captured" in b["flags"]])


def check_forbidden():
    for name in ("METAL_CAPTURE_ENABLED", "MTL_CAPTURE_ENABLED"):
        run = tapped(WORK / name, [WAYS, "steps"], **{name: "0"})
        check_refused(run, f"{name} is set to '0'; remove it or set it to 1")


def check_late():
    """The variables come too late for Metal, unless the user has set them."""
    target = BUILD / "tests/targets/capture_late"
    plain = Run(WORK / "late-plain", [target, LIBRARY])
    run = tapped(WORK / "late", [target, LIBRARY], LD_PRELOAD="")
    check_refused(run, "Metal does not offer GPU trace documents in this process; set METAL_CAPTURE_ENABLED=1 before "
                  "the program starts, or have metaltap there from its start (metaltap run)", plain.out)
    run = tapped(WORK / "late-allowed", [target, LIBRARY], LD_PRELOAD="", METAL_CAPTURE_ENABLED="1")
    expect("late, allowed", (plain.out, ["behind"], ""), (run.out, run.labels(), run.err))


def check_own():
    plain = Run(WORK / "own-plain", [WAYS, "own"], METAL_CAPTURE_ENABLED="1")
    run = tapped(WORK / "own", [WAYS, "own"])
    check_refused(run, "another capture runs in this process; switch the program's own off, or choose a window behind it "
                  "(METALTAP_WINDOW)", plain.out)
    expect("the program's own", ["own 0", "own 1"], run.labels("own.gputrace"))


def check_folders():
    folder = WORK / "folders"
    folder.mkdir()
    (folder / "file").touch()
    for name, why in (("none", "No such file or directory"), ("file", "Not a directory")):
        run = tapped(folder, [WAYS, "steps"], METALTAP_CAPTURE=f"{name}/trace.gputrace")
        check_refused(run, f"the folder {folder / name}: {why}; create it")
    run = tapped(folder, [WAYS, "steps"], METALTAP_CAPTURE="%p/%n.gputrace")
    expect("names are expanded", True, "/capture_ways.gputrace" not in run.err and "No such file" in run.err)
    expect("nothing was left", ["file", "report.json", "report.mtap"], sorted(os.listdir(folder)))


def check_forbidden_folder():
    """As root everything may be written: then as somebody else."""
    folder = WORK / "closed"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner").chmod(0o555)
    folder.chmod(0o777)
    prefix = ["setpriv", f"--reuid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
    reachable = subprocess.run([*prefix, "test", "-r", str(LIBRARY), "-a", "-w", str(folder)], check=False).returncode == 0
    if prefix and not (shutil.which("setpriv") and reachable):
        print("not tried: a folder without permission (the build folder is closed to others)")
        return
    run = tapped(folder, [*prefix, *TAPPED_WAYS, "steps"], LD_PRELOAD="", METALTAP_CAPTURE="inner/trace.gputrace",
                 SOFTMETAL_CACHE="off")
    check_refused(run, f"cannot write to the folder {folder / 'inner'}: Permission denied; choose another "
                  "(METALTAP_CAPTURE)")


def check_space():
    small = WORK / "small"
    small.mkdir()
    mount = f"mount -t tmpfs -o size=8M none '{small}' && exec \"$@\""
    if subprocess.run(["unshare", "-m", "sh", "-c", mount, "sh", "true"], check=False, capture_output=True).returncode:
        print("not tried: a small disk (this user may not mount one)")
        return
    run = tapped(WORK / "space", ["unshare", "-m", "sh", "-c", mount, "sh", *TAPPED_WAYS, "steps"], LD_PRELOAD="",
                 METALTAP_CAPTURE=str(small / "trace.gputrace"), METALTAP_ONLY="capture_ways")
    check_refused(run, f"only 8 MB are free where {small / 'trace.gputrace'} is to be, traces take 512 MB and more; make "
                  "room or choose another folder (METALTAP_CAPTURE)")


def check_never_reached():
    check_refused(tapped(WORK / "far-cb", [WAYS, "steps"], "cb:10"), "the program ended before cb:10, after 10 command "
                  "buffers in 4 steps; choose an earlier window (METALTAP_WINDOW)")
    check_refused(tapped(WORK / "far-step", [WAYS, "steps"], "step:4+2"), "the program ended before step:4, after 10 "
                  "command buffers in 4 steps; choose an earlier window (METALTAP_WINDOW)")


def check_not_written():
    """A name that no file system takes: Metal notices when it writes."""
    name = "long" * 80 + ".gputrace"
    run = tapped(WORK / "long", [WAYS, "steps"], METALTAP_CAPTURE=name)
    expect("not written", (0, STEPS_OUT), (run.code, run.out))
    expect("told", True, f"metaltap: capture failed: Metal wrote nothing to {run.folder / name}" in run.err)
    expect("event", "failed", run.report()["captures"][-1]["event"])


def check_existing():
    """A trace never goes over another, and the name that was taken says so."""
    folder = WORK / "existing"
    for number, name in enumerate(("trace.gputrace", "trace-2.gputrace", "trace-3.gputrace")):
        run = tapped(folder, [WAYS, "steps"], f"cb:{number}")
        line = f"metaltap: capture: {folder / 'trace.gputrace'} exists, the trace goes to {folder / name}\n"
        expect(f"existing {number}", line if number else "", run.err)
        expect("path", str(folder / name), run.report()["captures"][1]["text"])
        expect("labels", [run.created()[number]], run.labels(name))
    expect("the first is as it was", ["step 0.0"], run.labels("trace.gputrace"))
    (folder / "plain").symlink_to("nowhere")
    run = tapped(folder, [WAYS, "steps"], METALTAP_CAPTURE="plain")
    expect("a link is not followed", (["step 0.0"], False), (run.labels("plain-2"), (folder / "nowhere").exists()))


def check_variables():
    """Children see what Metal was told, and only if a capture was asked for."""
    if sanitizers.cannot_tap("env"):
        return

    def seen(**variables):
        run = Run(WORK / "variables", ["env"], LD_PRELOAD=str(LIBRARY), **variables)
        expect("nothing is said without Metal", "", run.err)
        return sorted(line for line in run.out.splitlines() if "CAPTURE_ENABLED=" in line)

    expect("no capture", [], seen(METALTAP_OUT="report.json"))
    both = ["METAL_CAPTURE_ENABLED=1", "MTL_CAPTURE_ENABLED=1"]
    expect("capture", both, seen(METALTAP_CAPTURE="trace.gputrace"))
    expect("one is set", both, seen(METALTAP_CAPTURE="trace.gputrace", MTL_CAPTURE_ENABLED="1"))
    expect("one forbids", ["MTL_CAPTURE_ENABLED=0"],
           seen(METALTAP_CAPTURE="trace.gputrace", MTL_CAPTURE_ENABLED="0"))


def main():
    for check in (check_forbidden, check_late, check_own, check_folders, check_forbidden_folder, check_space,
                  check_never_reached, check_not_written, check_existing, check_variables):
        check()


main()
