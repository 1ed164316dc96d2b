# SPDX-License-Identifier: MIT
"""The tables of the tap's benchmark, and its targets: what was wanted, what came, whether that is enough."""

import hooks

# What, where in the results, unit, at most or at least, how much.
TARGETS = (
    ("dispatch hook", ("dispatch", "instructions", "tap"), "instructions", "<=", 40),
    ("dispatch hook, in a Metal program", ("dispatch", "ns", "added"), "ns", "<=", 10),
    ("dispatch hook, in a Metal program, median", ("dispatch", "ns", "median", "added"), "ns", "<=", 10),
    ("dispatch hook, on its own", ("peers", "tap", "ns"), "ns", "<=", 10),
    ("dispatch hook, p99.9 on its own", ("peers", "tap", "p999_ns"), "ns", "<=", 100),
    ("command buffer: create, commit, handlers", ("command_buffer", "instructions", "tap_of_buffer"), "instructions",
     "<=", 180),
    ("command buffer's records and anchors, alone", ("peers", "tap-buffers", "ns"), "ns", "<=", 70),
    ("command buffer: create and commit, Metal's part too", ("command_buffer", "ns", "added_of_buffer"), "ns", "<=", 70),
    ("bytes per dispatch", ("peers", "tap", "bytes"), "bytes", "<=", 32.5),
    ("bytes per command buffer", ("command_buffer", "instructions", "bytes"), "bytes", "<=", 128),
)
REPORT_TARGETS = (
    ("full JSON of {}", "full", "per_cpu_second", "M dispatches/s", ">=", 5, 1e6),
    ("full JSON of {}, peak memory", "full", "peak_kib", "MB", "<=", 8, 1024),
    ("aggregates only, of {}", "summary", "per_cpu_second", "M dispatches/s", ">=", 50, 1e6),
)


def found(results, path):
    for key in path:
        results = results.get(key) if isinstance(results, dict) else None
    return results


def verdict(value, sign, target):
    if value is None:
        return "not measured"
    factor = value / target if sign == "<=" else target / max(value, 1e-9)
    return "met" if factor <= 1 else f"not met: {factor:.1f}x"


def targets(results):
    rows = [(what, found(results, path), unit, sign, target) for what, path, unit, sign, target in TARGETS]
    for count, spool in results["report"]["spools"].items():
        for what, detail, key, unit, sign, target, scale in REPORT_TARGETS:
            rows.append((what.format(short(int(count))), spool[detail][key] / scale, unit, sign, target))
    return [{"what": what, "value": value, "unit": unit, "target": f"{sign} {target:g}",
             "verdict": verdict(value, sign, target)} for what, value, unit, sign, target in rows]


# ---- printing ----
def short(count):
    return f"{count // 1_000_000}M" if count >= 1_000_000 else f"{count // 1000}k"


def number(value):
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.1f}"


def table(title, heads, rows):
    cells = [heads, *[[number(cell) for cell in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    print(f"\n{title}")
    for row in cells:
        print("  " + row[0].ljust(widths[0]) + "".join(f"  {cell.rjust(width)}"
                                                       for cell, width in zip(row[1:], widths[1:])))


def show_dispatch(results):
    ns, counts = results["dispatch"]["ns"], results["dispatch"].get("instructions", {})
    spread = ns["spread"]
    rows = [("instructions", counts.get("untapped"), counts.get("tapped"), counts.get("added")),
            ("  of these in the tap", None, counts.get("tap"), counts.get("tap")),
            ("ns, undisturbed", ns["untapped"], ns["tapped"], ns["added"]),
            ("ns, median", ns["median"]["untapped"], ns["median"]["tapped"], ns["median"]["added"])]
    rows += [(f"ns, {name} of single calls", spread["untapped"][key], spread["tapped"][key], spread["added"][key])
             for name, key in (("p50", "p50_ns"), ("p99", "p99_ns"), ("p99.9", "p999_ns"))]
    table("A dispatch, encoded (added, of single calls: over the un-tapped median)",
          ["", "un-tapped", "tapped", "added"], rows)


def show_buffer(results):
    ns, counts = results["command_buffer"]["ns"], results["command_buffer"].get("instructions", {})
    calls = {"create": "create", "commit": "commit", "encoder": "encoder", "set pipeline": "pipeline",
             "end encoder": "end", "wait": "wait"}
    rows = []
    for row in hooks.HOOKS:
        parts = found(counts, ("hooks", row)) or {"tap": None, "system": None}
        call = calls.get(row)
        rows.append((row, parts["tap"], parts["system"], ns["untapped"].get(call), ns["tapped"].get(call),
                     ns["added"].get(call)))
    table("A command buffer with one dispatch: instructions by hook, ns by call (with what Metal does in it)",
          ["", "in the tap", "libc for it", "un-tapped ns", "tapped ns", "added ns"], rows)
    rows = [("create, commit, handlers", counts.get("tap_of_buffer")), ("all hooks", counts.get("tap")),
            ("Metal for our handlers", counts.get("metal")), ("all added", counts.get("added")),
            ("un-tapped", counts.get("untapped")), ("an anchor, at most every 5 ms", counts.get("anchor"))]
    table("Instructions per command buffer", ["", ""], rows)
    rows = [("CPU of the process, added ns", ns["added"]["cpu_ns"]), ("of un-tapped ns", ns["untapped"]["cpu_ns"]),
            ("bytes: create, commit, done", counts.get("bytes")), ("bytes: encoder, dispatch and wait too",
                                                                   counts.get("bytes_all"))]
    table("Per command buffer", ["", ""], rows)


def show_peers(results):
    rows, own = [], results["peers"]["tap"]["ns"]
    for name, row in results["peers"].items():
        ratio = f"{row['ns'] / max(own, 1e-9):.1f}" if name not in ("none", "tap-buffers") else "-"
        rows.append((name, row["ns"], ratio, row["median_ns"], row["two_threads_ns"], row["p50_ns"], row["p99_ns"], row["p999_ns"],
                     row.get("instructions"), row["bytes"]))
    table("Recorders on the same hooked call: added per event (none: the call itself; tap-buffers: a command buffer's "
          "records)", ["", "ns", "x tap", "median", "2 threads", "p50", "p99", "p99.9", "instructions", "bytes"], rows)


def show_reports(results):
    rows = []
    for count, spool in results["report"]["spools"].items():
        for detail in ("full", "cb", "summary"):
            rows.append(report_row(f"metaltap report {short(int(count))} --detail {detail}", spool[detail]))
    tree = results["report"]["tree"]
    rows.append(report_row(f"cJSON tree of {short(tree['dispatches'])} rows", tree))
    table("Reports", ["", "s", "CPU s", "M/s", "M/CPU s", "peak MB"], rows)
    full = next(iter(results["report"]["spools"].values()))["full"]
    print(f"  a tree takes {full['per_cpu_second'] / tree['per_cpu_second']:.0f} times the CPU time per dispatch and "
          f"{tree['peak_kib'] / full['peak_kib']:.0f} times the memory")


def report_row(name, used):
    return (name, f"{used['seconds']:.3f}", f"{used['cpu_seconds']:.3f}", f"{used['per_second'] / 1e6:.2f}",
            f"{used['per_cpu_second'] / 1e6:.2f}", f"{used['peak_kib'] / 1024:.1f}")


def show(results):
    show_dispatch(results)
    show_buffer(results)
    show_peers(results)
    show_reports(results)
    table("Targets", ["", "value", "unit", "target", ""],
          [(row["what"], row["value"], row["unit"], row["target"], row["verdict"]) for row in results["targets"]])
    for what, why in results["left_out"].items():
        print(f"\n  left out: {what} ({why})")
    if results["quick"]:
        print("\n  --quick: too little was run for these numbers to mean anything")
