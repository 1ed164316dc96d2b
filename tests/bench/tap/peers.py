# SPDX-License-Identifier: MIT
"""What recorders cost on one hooked point: the tap, LTTng-UST, and two that lock, print and (one of them) flush."""

import bench as common

COUNTED = 10_000  # events under callgrind, and twice that
SLOW = ("fflush",)
ROUGH = ("lttng", "fprintf", "fflush")  # so far from the tap that one look at the details is enough
PEERS = ("tap", "lttng", "fprintf", "fflush")


def events_of(bench, peer):
    return bench.size.slow_events if peer in SLOW else bench.size.events


def run_one(bench, session, peer, mode, threads):
    """One run of a peer: what it printed and how many bytes it left."""
    arguments = (peer, mode, events_of(bench, peer), threads)
    file = bench.spool
    if peer != "lttng":
        result = bench.run("peers", *arguments, file)
        if peer.startswith("tap"):
            result["bytes"] = common.slots(common.records(file)) * common.SLOT_BYTES
        else:
            result["bytes"] = file.stat().st_size if file.exists() else 0
        return result
    with session.session() as (folder, stop):
        result = bench.run("peers-lttng", *arguments, file, environment=dict(bench.environment, **session.variables))
        result["discarded"] = stop()
        result["bytes"] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return result


def time_all(bench, session):
    names = ["none", *[peer for peer in PEERS if peer != "lttng" or session], "tap-buffers"]
    runs = {(peer, key): [] for peer in names for key in ("loop", "two", "spread")}
    for turn in range(bench.size.peer_rounds):
        for peer in names:
            runs[peer, "loop"].append(run_one(bench, session, peer, "loop", 1))
            if turn and peer in ROUGH:
                continue
            runs[peer, "two"].append(run_one(bench, session, peer, "loop", 2))
            runs[peer, "spread"].append(run_one(bench, session, peer, "spread", 1))
    least = {key: common.together(found) for key, found in runs.items()}
    return {peer: row_of(least, peer) for peer in names}


def row_of(least, peer):
    loop, two, spread = (least[peer, key] for key in ("loop", "two", "spread"))
    row = {"ns": loop["ns"] - least["none", "loop"]["ns"], "two_threads_ns": two["ns"] - least["none", "two"]["ns"],
           "median_ns": loop["median_ns"] - least["none", "loop"]["median_ns"],
           "bytes": loop["bytes"] / loop["events"], "discarded": loop.get("discarded", 0)}
    for key in ("p50_ns", "p99_ns", "p999_ns"):
        row[key] = spread[key] - least["none", "spread"]["p50_ns"]
    return row if peer != "none" else dict(row, ns=loop["ns"], median_ns=loop["median_ns"], two_threads_ns=two["ns"])


def count_all(bench, session, counter, rows):
    """Adds instructions per event to the rows of time_all."""
    def per_event(peer):
        program, name = ("peers-lttng", "lttng") if peer == "lttng" else ("peers", peer)
        counts = []
        for factor in (1, 2):
            file = bench.work / "counted"
            file.unlink(missing_ok=True)
            arguments = (program, name, "loop", COUNTED * factor, 1, file)
            if peer == "lttng":
                with session.session():
                    counts.append(counter.count(f"peer-{peer}", *arguments, more=session.variables).total())
            else:
                counts.append(counter.count(f"peer-{peer}", *arguments).total())
        return (counts[1] - counts[0]) / COUNTED

    none = per_event("none")
    for peer, row in rows.items():
        row["instructions"] = none if peer == "none" else per_event(peer) - none
