# SPDX-License-Identifier: Apache-2.0
"""Figures of attributions and runs, read again from their JSON, independent of the program's own summary."""
import json
import statistics

PARTS = ("compute_ns", "exposed_transfer_ns", "exposed_wait_ns", "below_clock_error_ns", "exposed_undivided_ns",
         "exposed_copy_ns", "host_late_ns", "dependency_idle_ns", "launch_gap_ns", "profiler_overhead_ns",
         "unattributed_ns")


def time_of(row, part):
    """ns; 0 for null (how undivided communication divides) and in versions that do not have the part."""
    return row.get(part) or 0


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def sums_exactly(attribution):
    """(steps whose parts sum to the step, steps)."""
    rows = attribution["ledger"]
    return sum(sum(time_of(row, part) for part in PARTS) == row["end_ns"] - row["start_ns"] for row in rows), len(rows)


def losses(attribution):
    """Name -> count over all recordings, without those that are zero."""
    lost = {}
    for recording in attribution["recordings"]:
        for name, count in recording["losses"].items():
            if count:
                lost[name] = lost.get(name, 0) + count
    return lost


def averaged(attribution):
    """Ledger rows that count: those not excluded, or all of them if none is left."""
    rows = attribution["ledger"]
    return [row for row in rows if not row["excluded"]] or rows


def parts(attribution):
    """Mean of each part and of the step over ranks and steps that count, ns."""
    rows = averaged(attribution)
    means = {part: statistics.fmean(time_of(row, part) for row in rows) for part in PARTS} if rows else {}
    if rows:
        means["step_ns"] = statistics.fmean(row["end_ns"] - row["start_ns"] for row in rows)
    return means


def spoken_for(attribution):
    """(collectives of which NCCL said how, collectives listed, kernels without partner)."""
    collectives = attribution["collectives"]
    listed = collectives["listed"]
    return sum(entry["algorithm"] is not None for entry in listed), len(listed), collectives["unmatched_kernels"]


def forced_ways(run):
    """Of comm.nccl: way -> [points asked for, points of which the profiler says that it ran]."""
    ways = {}
    for point in nccl_points(run):
        asked = point["setting"]
        if not asked.get("algorithm"):
            continue
        way = f"{asked['algorithm']}/{asked['protocol']}"
        counts = ways.setdefault(way, [0, 0])
        counts[0] += 1
        counts[1] += way == f"{asked.get('ran_algorithm')}/{asked.get('ran_protocol')}"
    return ways


def offered_ways(run):
    """Ways of comm.nccl for which NCCL predicted a time."""
    asked = [point["setting"] for point in nccl_points(run, predictions=True)]
    return sorted({f"{setting['predicted_algorithm']}/{setting['predicted_protocol']}" for setting in asked})


def nccl_points(run, predictions=False):
    """What comm.nccl measured; or what NCCL expects, which stands in points of its own."""
    points = [point for record in run["probes"] if record["name"] == "comm.nccl" for point in record["points"]]
    return [point for point in points if ("predicted_algorithm" in point["setting"]) == predictions]


def step_times(path):
    """Seconds per step as a workload wrote them, one list per rank."""
    return load(path)["step_s"]
