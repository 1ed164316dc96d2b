# SPDX-License-Identifier: MIT
# shows: a tap that is loaded into a running program reports everything from then on, with the names that can be known
"""tests/targets/stranger_late loads the tap itself by dlopen; Python does so with ctypes, before and behind Metal."""

import os
import pathlib
import sys

sys.path.insert(0, os.environ["TESTLIB"])
import report as r  # noqa: E402
import sanitizers  # noqa: E402

HALF_ENCODED = "half encoded"  # its encoder was open when the tap came: its dispatches cannot be placed


def check_late(folder, **settings):
    plain = r.must_work(r.run([r.target("stranger_late"), "-"], folder, **settings))
    output = r.must_work(r.run([r.target("stranger_late"), r.LIBRARY], folder, METALTAP_OUT="report.json", **settings))
    r.expect("output with the tap", plain, output)
    report = r.Report(folder / "report.json")
    last = report.command_buffers()[-1]
    r.expect("what was half encoded", (HALF_ENCODED, "completed", ["seen_late"], 0),
             (last["label"], last["end"], last["flags"], last["encoders"]))
    r.check_consistency(report)
    report["command_buffers"].remove(next(row for row in report["command_buffers"] if row["label"] == HALF_ENCODED))
    report["waits"][:] = [row for row in report["waits"] if row["command_buffer"] != last["id"]]
    unnamed = next(row for row in report["pipelines"] if row["name"] not in ("an old pipeline", "late"))
    r.expect("flags of an old pipeline", ["seen_late"], unnamed["flags"])
    unnamed["name"] = "?"
    r.check_work(report, output)
    r.expect("queues", [("old queue", True), ("new queue", False)],
             [(row["label"], row["seen_late"]) for row in report["queues"]])


# ---- Python ----
SCRIPT = r'''
import ctypes, os, sys, time
metal, tap, when, spool = sys.argv[1:]
if when == "before":
    ctypes.CDLL(tap)
metal = ctypes.CDLL(metal)
objc = ctypes.CDLL("libobjc.so.4")
for function in (objc.objc_msg_lookup, objc.sel_registerName, objc.objc_getClass,
                 metal.MTLCreateSystemDefaultDevice):
    function.restype = ctypes.c_void_p

def send(receiver, selector, *arguments):
    selector = ctypes.c_void_p(objc.sel_registerName(selector.encode()))
    method = objc.objc_msg_lookup(ctypes.c_void_p(receiver), selector)
    types = [ctypes.c_char_p if isinstance(a, bytes) else ctypes.c_void_p for a in arguments]
    call = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, *types)(method)
    return call(receiver, selector, *arguments)

def string(text):
    return send(objc.objc_getClass(b"NSString"), "stringWithUTF8String:", text.encode())

pool = send(objc.objc_getClass(b"NSAutoreleasePool"), "new")
device = metal.MTLCreateSystemDefaultDevice()
queue = send(device, "newCommandQueue")
send(send(queue, "commandBuffer"), "commit")
if when == "behind":
    ctypes.CDLL(tap)
while when == "before" and not os.path.exists(spool): # until the tap has seen Metal
    time.sleep(0.01)
if when == "before":
    time.sleep(0.5)
for i in range(3):
    commands = send(queue, "commandBuffer")
    send(commands, "setLabel:", string(f"step {i}"))
    encoder = send(commands, "computeCommandEncoder")
    send(encoder, "setLabel:", string("from Python"))
    send(encoder, "endEncoding")
    send(commands, "commit")
    send(commands, "waitUntilCompleted")
send(pool, "drain")
print("done", flush=True)
'''


def check_python(when, **settings):
    folder = r.WORK / f"python-{when}"
    folder.mkdir()
    script = folder / "script.py"
    script.write_text(SCRIPT)
    python = pathlib.Path(sys.executable).resolve()
    command = [python, script, r.LIBMETAL, r.LIBRARY, when, folder / "report.mtap"]
    r.expect(f"Python, {when}", "done\n", r.must_work(r.run(command, folder, METALTAP_OUT="report.json", **settings)))
    report = r.Report(folder / "report.json")
    r.check_consistency(report)
    named = [row for row in report.command_buffers() if row["label"]]
    r.expect(f"Python, {when}: labels", ["step 0", "step 1", "step 2"], [row["label"] for row in named])
    r.expect(f"Python, {when}: waits", [row["id"] for row in named], [row["command_buffer"] for row in report["waits"]])
    r.expect(f"Python, {when}: encoders", ["from Python"] * 3, [row["label"] for row in report["encoders"]])
    r.expect(f"Python, {when}: the first", when == "launch", len(report["command_buffers"]) == 4)


for depth in "012":
    check_late(r.WORK / depth, SOFTMETAL_DEBUG_LAYER=depth)
if not sanitizers.cannot_tap("Python"):
    check_python("behind")
    check_python("before")
    check_python("launch", LD_PRELOAD=r.LIBRARY)
