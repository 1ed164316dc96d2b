# SPDX-License-Identifier: MIT
# shows: which processes are tapped, and that none loses or overwrites the files of another or of somebody else
"""Programs without Metal, METALTAP_ONLY, forks, children, several at once, foreign files, hard arguments."""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402
import sanitizers  # noqa: E402

PROGRAM = r.target("stranger_ways")
SOMEBODY = 65534


def fresh(name):
    folder = r.WORK / name
    folder.mkdir()
    return folder


def names(folder):
    return sorted(os.listdir(folder))


def reports(folder):
    return [r.Report(folder / name) for name in names(folder) if name.endswith(".json")]


def check_without_metal():
    folder = fresh("without")
    others = (["sh", "-c", "echo out; echo err >&2; exit 9"], ["cat", "/proc/self/comm"], ["/bin/true"],
              [sys.executable, "-c", "import ctypes; print(ctypes.CDLL('libc.so.6').getpid() > 0)"])
    for command in others if not sanitizers.cannot_tap("programs without Metal") else ():
        plain, tapped = r.run(command, folder), r.tapped(command, folder)
        r.expect(f"{command}", (plain.returncode, plain.stdout, plain.stderr),
                 (tapped.returncode, tapped.stdout, tapped.stderr))
    r.expect("files of programs without Metal", [], names(folder))
    done = r.tapped([PROGRAM, "nothing of the sort"], folder) # has Metal, does not use it
    r.expect("program that does not use Metal", (2, []), (done.returncode, names(folder)))


def check_only():
    for glob, wanted in (("stranger_*", True), ("stranger_way?", True), ("*other*", False), ("sh", False)):
        folder = fresh(f"only-{'yes' if wanted else 'no'}-{len(glob)}")
        started = [PROGRAM, "return"] if sanitizers.NAME else ["sh", "-c", f"'{PROGRAM}' return"]
        done = r.tapped(started, folder, METALTAP_ONLY=glob)
        r.expect(f"{glob}: exit and files", (5, ["report.json", "report.mtap"] if wanted else []),
                 (done.returncode, names(folder)))


def check_forks():
    for way, code in (("fork-before", 11), ("fork-behind", 12)):
        plain = r.must_work(r.run([PROGRAM, way], r.WORK / "plain", **sanitizers.forked()))
        r.expect(f"{way}: child", True, f"child {code}" in plain)
        folder = fresh(way)
        r.expect(f"{way}: output", plain, r.must_work(r.tapped([PROGRAM, way], folder, **sanitizers.forked())))
        r.expect(f"{way}: files", ["report.json", "report.mtap"], names(folder))
        report = r.Report(folder / "report.json")
        r.check_consistency(report)
        r.expect(f"{way}: command buffers", 3 if way == "fork-before" else 4, report.counts["completed"])
        r.expect(f"{way}: state", "ended", report["process"]["state"])


def check_followed_fork():
    """The child is a process like others; it has a report of its own."""
    folder = fresh("follow")
    plain = r.must_work(r.run([PROGRAM, "fork-before"], r.WORK / "plain", **sanitizers.forked()))
    output = r.must_work(r.tapped([PROGRAM, "fork-before"], folder, METALTAP_FOLLOW="fork", **sanitizers.forked()))
    r.expect("followed fork: output", plain, output)
    found = reports(folder)
    for report in found:
        r.check_consistency(report)
        r.expect("followed fork: labels", ["step"] * 3, [row["label"] for row in report["command_buffers"]])
    pids = {report["process"]["pid"]: report["process"]["parent"] for report in found}
    r.expect("followed fork: processes", 2, len(pids))
    r.expect("followed fork: parent and child", 1, len(set(pids) & set(pids.values())))


def check_children():
    plain = r.must_work(r.run([PROGRAM, "start-others"], r.WORK / "plain"))
    for pattern in ("report.json", "%p.json", "%n-%p.json"):
        folder = fresh(f"children-{len(pattern)}")
        r.expect(f"{pattern}: output", plain,
                 r.must_work(r.tapped([PROGRAM, "start-others"], folder, METALTAP_OUT=pattern)))
        found = reports(folder)
        r.expect(f"{pattern}: files", 8, len(names(folder)))
        for report in found:
            r.check_consistency(report)
            r.expect(f"{pattern}: labels", ["step"] * 3, [row["label"] for row in report["command_buffers"]])
        r.expect(f"{pattern}: processes", 4, len({report["process"]["pid"] for report in found}))
        arguments = sorted(report["process"]["arguments"][1] for report in found)
        r.expect(f"{pattern}: arguments", ["return"] * 3 + ["start-others"], arguments)
    r.require("%p is the process", all((folder / f"stranger_ways-{report['process']['pid']}.json").exists()
                                       for report in found))


def check_one_after_another():
    """Programs of one run, of which each ends before the next begins: a shell has no Metal, but hands on the run."""
    if sanitizers.cannot_tap("a shell"):
        return
    folder = fresh("after")
    r.expect("exit", 5, r.tapped(["sh", "-c", f"'{PROGRAM}' return; '{PROGRAM}' exit; '{PROGRAM}' return"],
                                 folder).returncode)
    r.expect("one after another", ["exit", "return", "return"],
             sorted(report["process"]["arguments"][1] for report in reports(folder)))
    r.expect("the next run takes their place", 5, r.tapped([PROGRAM, "return"], folder).returncode)
    r.expect("reports", 3, len(reports(folder)))


def check_another_image():
    """exec leaves no moment for a report: the spool of the first image has its work."""
    folder = fresh("another")
    done = r.tapped([PROGRAM, "become-another"], folder)
    r.expect("exec: exit and output", (5, b"result 3\n" * 2), (done.returncode, done.stdout))
    spools = [name for name in names(folder) if name.endswith(".mtap")]
    r.expect("exec: spools", 2, len(spools))
    for spool in spools:
        r.expect("exec: metaltap report", 0, r.run(
            [r.BUILD / "bin/metaltap", "report", "--json", f"{spool}.made", spool], folder).returncode)
        report = r.Report(folder / f"{spool}.made")
        r.expect(f"exec: labels of {spool}", ["step"] * 3, [row["label"] for row in report["command_buffers"]])


def check_at_once(count, run):
    """All are there at the same time, each with one command buffer that has its number."""
    folder = fresh(f"once-{run or 'alone'}")
    settings = {**os.environ, "LD_PRELOAD": str(r.LIBRARY), "METALTAP_OUT": "report.json", **run}
    running = [subprocess.Popen([PROGRAM, "linger"], cwd=folder, env=settings, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True) for _ in range(count)]
    for program in running:
        r.expect("ready", "ready\n", program.stdout.readline())
    pids = [program.communicate()[0].strip() for program in running]
    labels = {row["label"]: report["process"]["pid"] for report in reports(folder)
              for row in report["command_buffers"] if row["label"]}
    r.expect("reports of processes at once", {f"of {pid.split()[1]}": int(pid.split()[1]) for pid in pids}, labels)


def check_foreign():
    """What is not ours is not touched, whatever it is."""
    folder = fresh("foreign")
    (folder / "report.json").write_text("a letter\n")
    (folder / "other.mtap").write_text("not a spool\n")
    (folder / "folder.json").mkdir()
    (folder / "target.txt").write_text("precious\n")
    (folder / "link.json").symlink_to("target.txt")
    (folder / "dangling.mtap").symlink_to("nowhere")
    for name in ("report.json", "other.json", "folder.json", "link.json", "dangling.json"):
        before = set(names(folder))
        done = r.tapped([PROGRAM, "return"], folder, METALTAP_OUT=name)
        r.expect(f"{name}: exit and output", (5, b"result 3\n"), (done.returncode, done.stdout))
        new = sorted(set(names(folder)) - before)
        r.require(f"{name}: a report under another name: {new}", any(found.endswith(".json") for found in new))
        r.expect(f"{name}: its buffers", 3, r.Report(
            folder / next(found for found in new if found.endswith(".json"))).counts["completed"])
    r.expect("foreign files", ("a letter\n", "not a spool\n", "precious\n", [], False),
             ((folder / "report.json").read_text(), (folder / "other.mtap").read_text(),
              (folder / "target.txt").read_text(), names(folder / "folder.json"), (folder / "nowhere").exists()))


def check_arguments():
    folder = fresh("arguments")
    hard = [b"quotes \" ' \\", b"line\nline\r\t\x01\x1b[0m", b"\xff\xfe bad \xc3", "ä 日本 😀".encode(), b"",
            b"<b>&amp;</b>", b"x" * 70000, b"%s%n %p"]
    done = r.tapped([PROGRAM, "return", *hard], folder)
    r.expect("exit", 5, done.returncode)
    found = r.Report(folder / "report.json")["process"]["arguments"][2:]
    r.expect("arguments", [text.decode(errors="replace") or None for text in hard],
             [text or None for text in found])


def check_raised_privileges():
    """A program with raised privileges is left alone, also if it loads the tap itself."""
    if os.geteuid() != 0 or sanitizers.cannot_tap("Python"):
        return
    script = ("import ctypes, sys; metal = ctypes.CDLL(sys.argv[2]); create = metal.MTLCreateSystemDefaultDevice\n"
              "create.restype = ctypes.c_void_p; print(create() != 0); ctypes.CDLL(sys.argv[1]); print('done')")
    python = pathlib.Path(sys.executable).resolve()
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        copy = pathlib.Path(place) / "python"
        copy.write_bytes(python.read_bytes())
        os.chmod(place, 0o777)
        for mode, wanted in ((0o4755, False), (0o755, True)):
            copy.chmod(mode)
            done = subprocess.run(
                [copy, "-c", script, r.LIBRARY, r.LIBMETAL], cwd=place, capture_output=True, check=False,
                user=None if wanted else SOMEBODY,
                env={**os.environ, "METALTAP_OUT": "report.json", "PYTHONHOME": sys.prefix})
            if done.returncode and not wanted:
                print(f"a program with raised privileges does not run here: {done.stderr[-300:]}")
                return
            r.expect("raised privileges: output", b"True\ndone\n", done.stdout)
            r.expect(f"mode {mode:o}: files", wanted, (pathlib.Path(place) / "report.json").exists())


check_without_metal()
check_only()
check_forks()
check_followed_fork()
check_children()
check_one_after_another()
check_another_image()
check_at_once(5, {})
check_at_once(5, {"METALTAP_RUN": "0123456789abcdef"})
check_foreign()
check_arguments()
check_raised_privileges()
