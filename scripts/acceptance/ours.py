# SPDX-License-Identifier: Apache-2.0
"""The figures of the acceptance table from a run directory, recomputed here from raw samples: a second reading of
run.json, independent of the program's own analysis."""
import json
import re
import statistics


def load(run_directory):
    with open(f"{run_directory}/run.json", encoding="utf-8") as file:
        return json.load(file)


def points(run, probe, **parameters):
    """Points of GPU 0 whose parameters have these values."""
    for record in run["probes"]:
        if record["name"] != probe:
            continue
        for point in record["points"]:
            asked = point["parameters"]
            if asked.get("gpu", 0) == 0 and all(asked.get(name) == value for name, value in parameters.items()):
                yield point


def rate(point, amount):
    """Median rate in the amount's unit per second; None without samples."""
    times = [time for time in point["samples"].get("wall_s", []) if time > 0]
    if not times or amount not in point["amounts"]:
        return None
    return point["amounts"][amount] / statistics.median(times)


def best(candidates, amount):
    """The fastest of the points, as (rate, point); (None, None) when there is none."""
    rated = [(rate(point, amount), point) for point in candidates]
    rated = [entry for entry in rated if entry[0] is not None]
    return max(rated, key=lambda entry: entry[0], default=(None, None))


def variation(point):
    """Coefficient of variation of the samples."""
    times = point["samples"]["wall_s"] if point else []
    return statistics.stdev(times) / statistics.mean(times) if len(times) > 2 else None


def step_change(run, variant):
    """Median step of a variant over the median of the plain one, less one: what tracing costs, what graphs gain."""
    medians = {}
    for record in run["probes"]:
        if record["name"] == "step.variants":
            for point in record["points"]:
                if point["samples"].get("step_s"):
                    medians[point["parameters"]["variant"]] = statistics.median(point["samples"]["step_s"])
    if variant not in medians or "launched" not in medians:
        return None
    return medians[variant] / medians["launched"] - 1.0


SETTLED = re.compile(r"sustained after ([0-9.e+-]+) s")
BATCH_S = 0.02  # of which a sample is the mean


def shape(point):
    """Of the product and of its measurement: the other side warms up as long and measures as long, in one turn as ours."""
    if not point:
        return None
    settled = SETTLED.search(point.get("stop_reason") or "")
    times = point["samples"]["wall_s"]
    return {**{name: point["parameters"][name] for name in ("m", "n", "k")}, "samples": len(times),
            "warm_up_s": float(settled.group(1)) if settled else 0.0, "window_s": sum(max(BATCH_S, time) for time in times)}


def gpu_fact(run, name):
    for section in run["environment"]:
        if section["name"] == "gpu 0":
            for fact in section["facts"]:
                if fact["name"] == name:
                    return fact["value"]
    return None


def large(candidates, run):
    """Streams over at least four times the L2 cache: memory and nothing else."""
    cache = gpu_fact(run, "l2_bytes") or 0
    return (point for point in candidates if point["parameters"]["working_set_bytes"] >= 4 * cache)


def figures(run):
    """Name -> value in base units, absent figures None; and the shapes behind the products, with how they were measured."""
    # Pilots have few samples: a maximum over them is noise.
    memory = {kernel: best(large(points(run, "roofline.gpu.memory", kernel=kernel, scope="device", **{"pass": "sweep"}), run), "bytes")[0]
              for kernel in ("read", "copy", "triad", "write")}
    cube = {"m": 8192, "n": 8192, "k": 8192}

    def product(precision, step, **parameters):
        return best(points(run, "roofline.gpu.gemm", precision=precision, data="uniform", **{"pass": step}, **parameters), "flops")

    steady, steady_point = product("bf16", "steady", **cube)
    shaped, shaped_point = product("bf16", "burst", family="search")
    fp8, fp8_point = product("fp8_e4m3", "steady")
    fp32, _ = best(points(run, "roofline.gpu.compute", precision="fp32"), "flops")
    upload, _ = best((point for point in points(run, "roofline.gpu.transfer", engine="copy engine", both_directions=False)
                      if point["parameters"]["source"].startswith("host (pinned")), "bytes")
    values = {
        "bf16_steady": steady,
        "bf16_steady_cv": variation(steady_point),
        "bf16_best_shape": shaped,
        "fp8_steady": fp8,
        "fp32_fma": fp32,
        "memory_copy": memory["copy"],
        "memory_read": memory["read"],
        "memory_triad": memory["triad"],
        "memory_write": memory["write"],
        "host_to_device": upload,
        "tracing_overhead": step_change(run, "traced"),
        "graphs_change": step_change(run, "graphs"),
    }
    shapes = {"bf16_steady": shape(steady_point), "bf16_best_shape": shape(shaped_point), "fp8_steady": shape(fp8_point)}
    return values, shapes
