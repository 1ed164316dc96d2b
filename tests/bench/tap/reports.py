# SPDX-License-Identifier: MIT
"""How fast `metaltap report` makes JSON of a spool, and in how much memory; beside a tree of cJSON."""

import json


def with_rate(used, dispatches):
    return dict(used, dispatches=dispatches, per_second=dispatches / max(used["seconds"], 1e-9),
                per_cpu_second=dispatches / max(used["cpu_seconds"], 1e-9))


def best(runs):
    """The run that was disturbed least."""
    return min(runs, key=lambda used: used["cpu_seconds"])


def measure(bench):
    results = {"spools": {}, "tree": None}
    out, spool = bench.work / "report.json", bench.work / "report.mtap"
    for wanted in bench.size.reports:
        spool.unlink(missing_ok=True)
        dispatches = bench.run("make_spool", spool, wanted, 4)["dispatches"]
        row = {"spool_bytes": spool.stat().st_size}
        for detail in ("full", "cb", "summary"):
            runs = []
            for _ in range(2 if wanted == bench.size.reports[0] else 1):
                runs.append(bench.run("spend", bench.build / "bin/metaltap", "report", spool, "--json", out,
                                      "--detail", detail))
            row[detail] = dict(with_rate(best(runs), dispatches), json_bytes=out.stat().st_size)
        check(out, dispatches)
        results["spools"][str(wanted)] = row
    spool.unlink(missing_ok=True)
    results["tree"] = with_rate(bench.run("spend", bench.program("tree"), out, bench.size.tree), bench.size.tree)
    out.unlink(missing_ok=True)
    return results


def check(report, dispatches):
    """The last one written is a summary: small enough to read, and it must have seen every dispatch."""
    counted = json.loads(report.read_text())["summary"]["counts"]["dispatches"]
    if counted != dispatches:
        raise RuntimeError(f"{dispatches} dispatches recorded, {counted} reported")
