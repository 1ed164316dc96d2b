# SPDX-License-Identifier: MIT
"""What the hooks cost a Metal program: instructions and nanoseconds, per dispatch and per command buffer."""

import concurrent.futures

import bench as common
import callgrind

# What a command buffer's calls are called in the tables, and the hooks that serve them.
HOOKS = {
    "create": ("mt_hook_QUEUE_commandBuffer",),
    "commit": ("mt_hook_COMMAND_BUFFER_commit",),
    "scheduled handler": ("on_scheduled",),
    "completed handler": ("on_completed",),
    "encoder": ("mt_hook_COMMAND_BUFFER_computeEncoder",),
    "set pipeline": ("mt_hook_COMPUTE_setComputePipelineState",),
    "dispatch": ("mt_hook_COMPUTE_dispatchThreadgroups",),
    "end encoder": ("mt_hook_COMPUTE_endEncoding",),
    "wait": ("mt_hook_COMMAND_BUFFER_waitUntilCompleted",),
}
# Those that the design's target for a command buffer is about.
OF_BUFFER = ("create", "commit", "scheduled handler", "completed handler")
TAP, ANCHOR = "libmetaltap.so", "anchor_now"
SYSTEM = ("libc.so", "ld-linux", "libpthread", "[vdso]", "???")


def hook_of(functions):
    """The row of HOOKS that a chain of callers leads to."""
    for function in functions:
        for row, names in HOOKS.items():
            if function in names:
                return row
    return None


def split(counts):
    """Instructions of one repetition: by hook in the tap and in the C library for it; anchors; all."""
    tap_functions = {functions[0] for (where, functions) in counts if where == TAP}
    hooks = {row: {"tap": 0.0, "system": 0.0} for row in HOOKS}
    anchors = 0.0
    for (where, functions), count in counts.items():
        for_tap = len(functions) > 1 and functions[1] in tap_functions and where.startswith(SYSTEM)
        if where != TAP and not for_tap and ANCHOR not in functions:
            continue
        row = hook_of(functions)
        if ANCHOR in functions:
            anchors += count
        elif row:
            hooks[row]["tap" if where == TAP else "system"] += count
    return hooks, anchors, sum(counts.values())


def count_runs(bench, counter, mode, small, large):
    """Differences between a large and a small run of the target, without and with the tap, and records of the last."""
    found, spools = {}, {}

    def one(tapped, arguments, which):
        spool = bench.work / f"{mode}-{which}.mtap" if tapped else None
        spools[which] = spool or spools.get(which)
        return counter.count(f"{mode}-{which}-{tapped}", "target", mode, *arguments, spool=spool)

    times = large[0] * large[1] - small[0] * small[1]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for tapped in (False, True):
            less = pool.submit(one, tapped, small, "small")
            more = pool.submit(one, tapped, large, "large")
            found[tapped] = callgrind.difference(more.result(), less.result(), times)
    written = common.records(spools["large"])
    written.subtract(common.records(spools["small"]))
    return found[False], found[True], {kind: count / times for kind, count in written.items()}


def count_dispatch(bench, counter):
    n = bench.size.counted * 10
    plain, tapped, written = count_runs(bench, counter, "encode", (n, 2), (2 * n, 2))
    hooks, _, total = split(tapped)
    return {"tap": hooks["dispatch"]["tap"], "untapped": sum(plain.values()), "tapped": total,
            "added": total - sum(plain.values()), "bytes": common.slots(written) * common.SLOT_BYTES}


def count_buffer(bench, counter):
    n = bench.size.counted
    plain, tapped, written = count_runs(bench, counter, "commit", (1, n), (1, 2 * n))
    hooks, anchors, total = split(tapped)
    ours = sum(sum(parts.values()) for parts in hooks.values())
    added = total - sum(plain.values())
    count = written.pop(common.ANCHOR, 0)
    return {
        "hooks": hooks, "tap": ours, "tap_of_buffer": sum(sum(hooks[row].values()) for row in OF_BUFFER),
        "anchor": anchors / count if count else None, "untapped": sum(plain.values()), "added": added,
        "metal": added - ours - anchors, "bytes_all": common.slots(written) * common.SLOT_BYTES,
        "bytes": sum(written.get(kind, 0) * slots for kind, slots in ((16, 1), (18, 1), (19, 2))) * common.SLOT_BYTES,
    }


def time_dispatch(bench):
    size = bench.size
    plain, tapped = bench.in_turns("target", "loop", size.dispatches, size.buffers)
    spread = bench.in_turns("target", "spread", size.dispatches, max(1, size.buffers // 5))
    return {"untapped": plain["ns"], "tapped": tapped["ns"], "added": tapped["ns"] - plain["ns"],
            "median": {"untapped": plain["median_ns"], "tapped": tapped["median_ns"],
                       "added": tapped["median_ns"] - plain["median_ns"]},
            "spread": {"untapped": spread[0], "tapped": spread[1],
                       "added": {key: spread[1][key] - spread[0]["p50_ns"] for key in spread[0]}}}


def time_buffer(bench):
    plain, tapped = bench.in_turns("target", "calls", 1, bench.size.buffers * 10)
    for rows, cpu in zip((plain, tapped), bench.in_turns("target", "commit", 1, bench.size.buffers)):
        rows.update(cpu)
    added = {key: tapped[key] - plain[key] for key in plain}
    return {"untapped": plain, "tapped": tapped, "added": added, "added_of_buffer": added["create"] + added["commit"]}
