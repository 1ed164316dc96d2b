# SPDX-License-Identifier: MIT
"""Reports for tests: running a program under the tap, loading what it left, and checking that the report agrees with
itself, with softmetal's execution log, and with what the program said (tests/targets/stranger_*)."""

import json
import os
import pathlib
import subprocess
import sys

import sanitizers

BUILD = pathlib.Path(os.environ["BUILD"])
WORK = pathlib.Path(os.environ["WORK"])
LIBRARY = BUILD / "lib/libmetaltap.so"
LIBMETAL = BUILD / "lib/libMetal.so"
HANG_S = 240
DROPPED = ("uncommitted", "discarded")
sanitizers.without_symbols()


def expect(what, expected, actual):
    if expected != actual:
        sys.exit(f"{what}:\n  expected {str(expected)[:4000]}\n  got      {str(actual)[:4000]}")


def require(what, condition):
    if not condition:
        sys.exit(f"not so: {what}")


# ---- running ----
def target(name):
    return BUILD / "tests/targets" / name


def run(command, folder=WORK, **variables):
    """Runs without the tap, unless the variables say otherwise. A variable of None is taken away."""
    environment = {**os.environ, **variables}
    environment = {name: str(value) for name, value in environment.items() if value is not None}
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    try:
        return subprocess.run([str(part) if not isinstance(part, bytes) else part for part in command], cwd=folder,
                              env=environment, capture_output=True, timeout=HANG_S, check=False,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        return sys.exit(f"{command}: hangs\n{error.stdout}\n{error.stderr}")


def tapped(command, folder=WORK, **variables):
    return run(command, folder, **{"LD_PRELOAD": LIBRARY, "METALTAP_OUT": "report.json", **variables})


def must_work(done):
    """Its output as text; the exit code is 0 and nothing came on standard error."""
    expect(f"{done.args[0]}: exit code and words", (0, b""), (done.returncode, done.stderr[-2000:]))
    return done.stdout.decode()


# ---- reading ----
def text_of(value):
    """A program's text as a report has it: halves of surrogate pairs are replaced, empty text is none."""
    if not value:
        return None
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class Report:
    def __init__(self, path):
        with open(path, encoding="utf-8", errors="strict") as file:
            self.all = json.load(file)
        self.name = str(path)
        self.counts = self.all["summary"]["counts"]
        self.groups = {row["id"]: row["path"] for row in self.all.get("groups", [])}
        self.pipelines = {row["id"]: row for row in self.all["pipelines"]}
        self.kernels = {row["id"]: row for row in self.all["kernels"]}

    def __getitem__(self, section):
        return self.all[section]

    def table(self, *path):
        """A section of columns and rows, as dictionaries."""
        section = self.all
        for part in path:
            section = section[part]
        return [dict(zip(section["columns"], row, strict=True)) for row in section["rows"]]

    def command_buffers(self):
        return sorted(self.all["command_buffers"], key=lambda row: row["id"])

    def group(self, number):
        return self.groups[number] if number else []

    def kernel(self, pipeline):
        """Name and constants."""
        row = self.pipelines[pipeline]
        return " ".join(filter(None, (row["name"], row["constants"])))


# ---- agreement with itself ----
def check_samples(what, samples):
    """Statistics of durations."""
    if samples is None:
        return
    order = [samples[key] for key in ("min_ns", "p50_ns", "p95_ns", "max_ns")]
    expect(f"{what}: order of the quantiles", sorted(order), order)
    require(f"{what}: mean within min and max {samples}", order[0] <= samples["mean_ns"] <= order[3])
    require(f"{what}: total of {samples}",
            samples["min_ns"] * samples["count"] <= samples["total_ns"] <= samples["max_ns"] * samples["count"])


def total(rows, key):
    return sum(row[key] or 0 for row in rows)


def union_ns(intervals):
    covered, last = 0, None
    for begin, end in sorted(intervals):
        begin = begin if last is None else max(begin, last)
        covered += max(0, end - begin)
        last = end if last is None else max(last, end)
    return covered


def check_counts(report):
    buffers, encoders, dispatches = report["command_buffers"], report["encoders"], report.table("dispatches")
    counts = report.counts
    for section in ("devices", "queues", "libraries", "functions", "pipelines", "threads", "command_buffers",
                    "encoders", "waits"):
        expect(f"number of {section}", counts[section], len(report[section]))
    expect("dispatches", counts["dispatches"], len(dispatches))
    for end in ("completed", "failed", "in_flight", "uncommitted", "discarded"):
        expect(end, counts[end], sum(row["end"] == end for row in buffers))
    for form in ("threadgroups", "threads", "indirect"):
        expect(form, counts[f"dispatches_{form}"], sum(row["form"] == form for row in dispatches))
    for kind in ("compute", "blit", "other"):
        expect(kind, counts[f"{kind}_encoders"], sum(row["kind"] == kind for row in encoders))
    for key in ("barriers", "fence_waits", "fence_updates", "blits", "blit_bytes", "indirect_executes", "signposts"):
        expect(key, counts[key], total(encoders, key))
    for key in ("handlers", "presents", "event_waits", "event_signals"):
        expect(key, counts[key], total(buffers, key))
    expect("memory events", counts["memory_events"], len(report.table("memory", "events")))
    expect("captures", counts["capture_events"], len(report["captures"]))
    expect("errors", counts["errors"], report["errors"]["count"])


def by_key(rows, key):
    """Rows in lists, by what they have under a key."""
    lists = {}
    for row in rows:
        lists.setdefault(row[key], []).append(row)
    return lists


def check_dispatch_links(report):
    encoder_of, seen = {row["id"]: row for row in report["encoders"]}, {}
    threads = {row["id"] for row in report["threads"]}
    for row in report.table("dispatches"):
        require(f"dispatch {row} has an encoder", row["encoder"] in encoder_of)
        expect(f"command buffer of {row}", encoder_of[row["encoder"]]["command_buffer"], row["command_buffer"])
        expect(f"index of {row}", seen.setdefault(row["encoder"], 0), row["index"])
        seen[row["encoder"]] += 1
        require(f"thread of {row}", row["thread"] in threads)
        require(f"pipeline of {row}", row["pipeline"] in report.pipelines)
    for encoder in report["encoders"]:
        expect(f"dispatches of {encoder}", encoder["dispatches"], seen.get(encoder["id"], 0))


def check_links(report):
    """Every reference leads to a row, and rows below a row are as many as it says."""
    ids = {section: {row["id"] for row in report[section]} for section in
           ("devices", "queues", "threads", "functions", "libraries", "pipelines", "kernels", "command_buffers",
            "encoders")}
    for section, rows in ids.items():
        expect(f"{section}: ids are different", len(report[section]), len(rows))
    check_dispatch_links(report)
    encoders = by_key(report["encoders"], "command_buffer")
    expect("encoders without a command buffer", set(), set(encoders) - ids["command_buffers"])
    for buffer in report["command_buffers"]:
        inside = encoders.get(buffer["id"], [])
        expect(f"encoders of {buffer}", buffer["encoders"], len(inside))
        for key in ("dispatches", "blits", "indirect_executes"):
            expect(f"{key} of {buffer}", buffer[key], total(inside, key))
        require(f"queue of {buffer}", buffer["queue"] in ids["queues"])


def check_kernels(report):
    rows = report.table("dispatches")
    kernel_of = {number: row["id"] for row in report["kernels"] for number in row["pipelines"]}
    for kernel in report["kernels"]:
        mine = [row for row in rows if kernel_of.get(row["pipeline"]) == kernel["id"]]
        expect(f"dispatches of kernel {kernel['name']}", kernel["dispatches"], len(mine))
        for form, number in kernel["forms"].items():
            expect(f"{form} of kernel {kernel['name']}", number, sum(row["form"] == form for row in mine))
        expect(f"names of kernel {kernel['name']}", {(kernel["name"], kernel["constants"])},
               {(report.pipelines[number]["name"], report.pipelines[number]["constants"])
                for number in kernel["pipelines"]})
        for row in mine:
            require(f"{row} lies within first and last of its kernel",
                    kernel["first_ns"] <= row["time_ns"] <= kernel["last_ns"])
    expect("dispatches of all kernels", len(rows), total(report["kernels"], "dispatches"))


def check_sums(report):
    """What labels, queues and the summary add up to."""
    buffers, summary = report["command_buffers"], report["summary"]
    timed = [row for row in buffers if row["gpu_ns"] is not None and "captured" not in row["flags"]]
    gpu_sum = total(timed, "gpu_ns")
    expect("command buffers of all labels", len(buffers), total(report["labels"], "command_buffers"))
    for label in report["labels"]:
        if label["others"]:
            continue
        mine = [row for row in buffers if row["label"] == label["label"]]
        expect(f"buffers of label {label}", label["command_buffers"], len(mine))
        for key in ("encoders", "dispatches", "encode_ns", "waits", "wait_ns"):
            expect(f"{key} of label {label}", label[key], total(mine, key))
        expect(f"failed of label {label}", label["failed"], sum(row["end"] == "failed" for row in mine))
        check_samples(f"label {label['label']}", label["gpu"])
    for queue in report["queues"]:
        mine = [row for row in buffers if row["queue"] == queue["id"]]
        expect(f"buffers of {queue}", queue["command_buffers"], len(mine))
        expect(f"dispatches of {queue}", queue["dispatches"], total(mine, "dispatches"))
        expect(f"GPU time of {queue}", queue["gpu_sum_ns"], total(mine, "gpu_ns"))
    gpu = summary["gpu"]
    if gpu is None:
        expect("GPU time without a section", [], timed)
        return
    intervals = [(row["gpu_start_ns"], row["gpu_end_ns"]) for row in timed]
    expect("sum of GPU times", gpu_sum, gpu["sum_ns"])
    expect("GPU busy is the union", union_ns(intervals), gpu["busy_ns"])
    expect("overlap", gpu["sum_ns"] - gpu["busy_ns"], gpu["overlap_ns"])
    expect("busy and idle", gpu["span_ns"], gpu["busy_ns"] + gpu["idle_ns"] + gpu["captured_ns"])
    require("busy within wall", gpu["busy_ns"] <= summary["wall_ns"])
    expect("span", (min(begin for begin, _ in intervals), max(end for _, end in intervals)),
           (gpu["first_start_ns"], gpu["last_end_ns"]))
    check_samples("GPU per buffer", gpu["per_command_buffer"])
    for key in ("encode", "submit_latency", "schedule_latency", "queue_wait", "completion_latency"):
        check_samples(key, summary[key])


def slack_ns(report):
    """Two clocks meet in a report: the ticks of records and the GPU's times."""
    clock = report["clock"]
    return clock["worst_width_ns"] + clock["worst_residual_ns"] + 1000


def check_ordered(what, row, keys, slack):
    known = [(key, row[key]) for key in keys if row[key] is not None]
    for (before, earlier), (after, later) in zip(known, known[1:]):
        require(f"{what}: {before} {earlier} <= {after} {later}", earlier <= later + slack)


def check_waits(report):
    """A command buffer counts the waits that began before it was done; those that came later are only listed."""
    begins = {}
    for row in report["waits"]:
        begins.setdefault(row["command_buffer"], []).append(row["begin_ns"])
    for row in report["command_buffers"]:
        mine, done = begins.get(row["id"], []), row["completed_ns"]
        before = [begin for begin in mine if done is None or begin < done]
        require(f"waits of {row}: {mine}", len(before) <= row["waits"] <= len(mine))
        require(f"waits of {row}: {mine}", done is None or row["waits"] - len(before) <= mine.count(done))


def check_times(report):
    slack = slack_ns(report)
    for row in report["command_buffers"]:
        what = f"command buffer {row['id']}"
        check_ordered(what, row, ("create_ns", "first_encode_ns", "commit_ns", "scheduled_ns", "completed_ns"), 0)
        check_ordered(what, row, ("create_ns", "enqueue_ns", "commit_ns"), 0)
        check_ordered(what, row, ("commit_ns", "gpu_start_ns", "gpu_end_ns", "completed_ns"), slack)
        check_ordered(what, row, ("gpu_start_ns", "gpu_end_ns"), 0)
        if row["end"] == "completed":
            require(f"{what} has all times: {row}", None not in [row[key] for key in (
                "create_ns", "commit_ns", "scheduled_ns", "gpu_start_ns", "gpu_end_ns", "completed_ns")])
    begins = {row["id"]: row for row in report["encoders"]}
    for row in report["encoders"]:
        check_ordered(f"encoder {row['id']}", row, ("begin_ns", "end_ns"), 0)
    for row in report.table("dispatches"):
        encoder = begins[row["encoder"]]
        require(f"{row} inside its encoder {encoder}", encoder["begin_ns"] <= row["time_ns"] and
                (encoder["end_ns"] is None or row["time_ns"] <= encoder["end_ns"]))
    for row in report["waits"]:
        check_ordered("wait", row, ("begin_ns", "end_ns"), 0)
        require(f"length of {row}", row["end_ns"] is None or row["took_ns"] == row["end_ns"] - row["begin_ns"])
    for kind in ("completed", "scheduled", "shared_event"):
        mine = [row["took_ns"] for row in report["waits"] if row["kind"] == kind and row["took_ns"] is not None]
        samples = report["summary"]["waits"][kind]
        check_samples(kind, samples)
        expect(f"waits: {kind}", (len(mine), sum(mine)),
               (samples["count"], samples["total_ns"]) if samples else (0, 0))


def check_memory(report, in_order):
    """Releases of what was allocated, totals by kind; running totals and the peak, where one thread allocates: of
    several, one may come between another's counting and its note of the time."""
    alive, now, peak = {}, 0, 0
    sums = {kind: [0, 0, 0, 0] for kind in report["memory"]["kinds"]}
    for row in report.table("memory", "events"):
        counts = 0 if row["kind"] == "heap_buffer" else row["bytes"]
        if row["what"] == "allocate":
            alive[row["number"]] = (row["kind"], row["bytes"])
            now += counts
        else:
            expect(f"what {row} releases", alive.pop(row["number"], None), (row["kind"], row["bytes"]))
            now -= counts
        which = 0 if row["what"] == "allocate" else 1
        sums[row["kind"]][which] += 1
        sums[row["kind"]][2 + which] += row["bytes"]
        require(f"total after {row} is {now}", not in_order or now == row["total_bytes"])
        peak = max(peak, now)
    for kind, row in report["memory"]["kinds"].items():
        expect(f"memory of {kind}", sums[kind],
               [row[key] for key in ("allocations", "releases", "allocated_bytes", "released_bytes")])
    if report.counts["memory_events"] and in_order:
        expect("now and peak", (now, peak), (report["memory"]["now_bytes"], report["memory"]["peak_bytes"]))


def check_nothing_lost(report):
    lost = {key: value for key, value in report["dropped"].items() if value and key not in ("damage", "stalls")}
    expect("dropped", {}, lost)
    expect("damage", {}, {key: value for key, value in report["dropped"]["damage"].items() if value})
    expect("warnings", [], report["warnings"])
    expect("unended encoders and waits", (0, 0), (report.counts["unended_encoders"], report.counts["unended_waits"]))


def check_consistency(report, memory_in_order=True):
    """Everything that holds in every full report of an undisturbed run."""
    check_nothing_lost(report)
    check_counts(report)
    check_links(report)
    check_kernels(report)
    check_sums(report)
    check_times(report)
    check_waits(report)
    check_memory(report, memory_in_order)


# ---- agreement with the program ----
def dispatches_said(report, rows):
    for row in rows:
        grid = [row[f"grid_{axis}"] for axis in "xyz"]
        threadgroup = [row[f"threadgroup_{axis}"] for axis in "xyz"]
        yield [report.kernel(row["pipeline"]), row["form"], None if row["form"] == "indirect" else grid, threadgroup,
               row["threadgroup_memory_bytes"], row["barrier_before"], report.group(row["group"])]


def encoder_said(report, encoder, rows):
    said = {key: encoder[key] for key in ("kind", "form", "dispatch_type", "label", "barriers", "fence_waits",
                                          "fence_updates", "signposts", "indirect_executes", "blits", "blit_bytes")}
    return {**said, "group": report.group(encoder["group"]), "dispatches": list(dispatches_said(report, rows))}


def work_of(report):
    """The command buffers of a report in order of creation, in the form in which the strangers print them."""
    dispatches, encoders = by_key(report.table("dispatches"), "encoder"), {}
    waits_of = by_key(report["waits"], "command_buffer")
    for row in sorted(report["encoders"], key=lambda row: row["id"]):
        encoders.setdefault(row["command_buffer"], []).append(encoder_said(report, row, dispatches.get(row["id"], [])))
    first_queue = min((row["id"] for row in report["queues"]), default=0)
    for row in report.command_buffers():
        waits = [wait["kind"] for wait in waits_of.get(row["id"], [])]
        yield {"queue": row["queue"] - first_queue, "label": row["label"],
               "end": "dropped" if row["end"] in DROPPED else row["end"], "flags": ",".join(sorted(row["flags"])),
               "enqueued": int(row["enqueue_ns"] is not None), "handlers": row["handlers"],
               "waits_completed": waits.count("completed"), "waits_scheduled": waits.count("scheduled"),
               "event_waits": row["event_waits"], "event_signals": row["event_signals"],
               "encoders": encoders.get(row["id"], [])}


def lines_of(output):
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def work_said(output):
    """What the program printed of its command buffers, in order of creation, and how many commands it ran from
    indirect command buffers."""
    lines = [line for line in lines_of(output) if "command_buffer" in line]
    executed = 0
    for line in sorted(lines, key=lambda line: line["command_buffer"]):
        del line["command_buffer"]
        line["label"] = text_of(line["label"])
        for encoder in line["encoders"]:
            executed += encoder.pop("executed")
            encoder["label"] = text_of(encoder["label"])
            encoder["group"] = [text_of(name) for name in encoder["group"]]
            for dispatch in encoder["dispatches"]:
                dispatch[6] = [text_of(name) for name in dispatch[6]]
                if dispatch[1] == "indirect":
                    dispatch[2] = None
    return lines, executed


def check_work(report, output, in_order=True):
    """The command buffers are those that the program printed: in the same order, or with the same labels where many
    threads made them."""
    said, _ = work_said(output)
    found = list(work_of(report))
    if not in_order:
        said.sort(key=lambda line: line["label"])
        found.sort(key=lambda line: line["label"])
    expect("number of command buffers", len(said), len(found))
    for number, (line, row) in enumerate(zip(said, found)):
        for key, value in line.items():
            if key != "encoders":
                expect(f"command buffer {number}, {str(line['label'])[:80]!r}: {key}", value, row[key])
        expect(f"command buffer {number}: number of encoders", len(line["encoders"]), len(row["encoders"]))
        for index, (one, other) in enumerate(zip(line["encoders"], row["encoders"])):
            for key, value in one.items():
                expect(f"command buffer {number} {line['label']!r}, encoder {index}: {key}", value, other[key])


# ---- agreement with softmetal ----
def function_of(report, pipeline):
    """The name in the source; a pipeline's own may be another."""
    row = report.pipelines[pipeline]
    names = [function["name"] for function in report["functions"] if function["id"] == row["function"]]
    return names[0] if names else row["name"]


def threads_of(row):
    """The grid of a dispatch in threads; what an indirect one had is not known."""
    grid, threadgroup = [[row[f"{what}_{axis}"] for axis in "xyz"] for what in ("grid", "threadgroup")]
    if row["form"] == "indirect":
        return None
    return [g * t for g, t in zip(grid, threadgroup)] if row["form"] == "threadgroups" else grid


def check_logged_dispatches(report, lines, rows):
    expect("number of dispatches", len(lines), len(rows))
    lines = sorted(lines, key=lambda line: (line["encoder"], line["dispatch"]))
    for line, row in zip(lines, sorted(rows, key=lambda row: (row["encoder"], row["index"]))):
        expect(f"threadgroup of {line}", line["threadgroup"], [row[f"threadgroup_{axis}"] for axis in "xyz"])
        require(f"grid of {line}: {row}", threads_of(row) in (None, line["grid"]))
        expect(f"kernel of {line}", line["kernel"], function_of(report, row["pipeline"]))


def logged_row(report, candidates, line):
    """The command buffer that a line of the log is about: its label, and its times to the nanosecond (they pass
    through Metal's seconds)."""
    start_ns = report["clock"]["start_ns"]
    for row in candidates:
        if row["gpu_ns"] is not None and abs(row["gpu_start_ns"] + start_ns - line["start_ns"]) <= 2 and \
                abs(row["gpu_end_ns"] + start_ns - line["end_ns"]) <= 2:
            return row
    return sys.exit(f"no command buffer of the report is {str(line)[:500]}")


def check_log(report, path, output):
    """softmetal's execution log has the same command buffers with the same times, and the same dispatches; those from
    indirect command buffers are as many as the program says."""
    with open(path, encoding="utf-8") as file:
        log = [json.loads(line) for line in file]
    lines = by_key([line for line in log if line["event"] == "dispatch"], "command_buffer")
    rows = by_key(report.table("dispatches"), "command_buffer")
    ran = [row for row in report["command_buffers"] if row["end"] in ("completed", "failed")]
    labels, executed = by_key(ran, "label"), 0
    finished = [line for line in log if line["event"] == "command_buffer"]
    expect("finished command buffers", len(finished), len(ran))
    for line in finished:
        if line["status"] != 4:
            continue
        row = logged_row(report, labels.get(line["label"] or None, []), line)
        mine, theirs = rows.get(row["id"], []), lines.get(line["command_buffer"], [])
        executed += len(theirs) - len(mine)
        if not row["indirect_executes"]:
            check_logged_dispatches(report, theirs, mine)
    expect("dispatches from indirect command buffers", work_said(output)[1], executed)
