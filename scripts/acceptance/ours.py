# SPDX-License-Identifier: Apache-2.0
"""The figures of the acceptance table from a run directory, recomputed here from raw samples: a second reading of
run.json, independent of the program's own analysis."""
import json
import re
import statistics

import protocol

NEAREST_COPY_BYTES = 4 << 30  # source and target: of the sizes that were swept the nearest one stands for memory
NEAREST_UPLOAD_BYTES = 64 << 20


def load(run_directory):
    with open(f"{run_directory}/run.json", encoding="utf-8") as file:
        return json.load(file)


def points(run, probe, **parameters):
    """Points of GPU 0 whose setting has these values."""
    for record in run["probes"]:
        if record["name"] != probe:
            continue
        for point in record["points"]:
            asked = point["setting"]
            if asked.get("gpu", 0) == 0 and all(asked.get(name) == value for name, value in parameters.items()):
                yield point


def rate(point, amount):
    """Rate in the amount's unit per second, of what is typical; None without samples."""
    times = [time for time in point["samples"].get("wall_s", []) if time > 0]
    if not times or amount not in point["amounts"]:
        return None
    return point["amounts"][amount] / protocol.typical(times, point["setting"].get("pass"))


def best(candidates, amount):
    """The fastest of the points, as (rate, point); (None, None) when there is none."""
    rated = [(rate(point, amount), point) for point in candidates]
    rated = [entry for entry in rated if entry[0] is not None]
    return max(rated, key=lambda entry: entry[0], default=(None, None))


def variation(point):
    """Coefficient of variation of the samples."""
    times = point["samples"]["wall_s"] if point else []
    return statistics.stdev(times) / statistics.mean(times) if len(times) > 2 else None


def settled_after_s(point):
    """How long the rate was watched until it stood still, or for good; 0.0 where nobody looked."""
    reason = point.get("stop_reason") or []
    if isinstance(reason, str):  # in runs of version 2
        settled = re.search(r"sustained after ([0-9.e+-]+) s", reason)
        return float(settled.group(1)) if settled else 0.0
    watched = [one["arguments"][0] for one in reason if one["id"] in ("rate_sustained", "rate_not_sustained")]
    return watched[0] if watched else 0.0


def shape(point):
    """Of the product and of its measurement: the other side warms up and measures as long, in the same regime."""
    if not point:
        return None
    times = point["samples"]["wall_s"]
    return {**{name: point["setting"][name] for name in ("m", "n", "k")}, "regime": point["setting"]["pass"],
            "warm_up_s": settled_after_s(point),
            "window_s": sum(max(protocol.BATCH_S, time) for time in times)}


def nearest(candidates, size_of, wanted):
    """The points whose size is the one nearest to `wanted`: no maximum over sizes, which the other side does not take."""
    listed = list(candidates)
    sizes = sorted({size_of(point) for point in listed}, key=lambda size: abs(size - wanted))
    return [point for point in listed if size_of(point) == sizes[0]] if sizes else []


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
    return (point for point in candidates if point["setting"]["working_set_bytes"] >= 4 * cache)


def figures(run):
    """Name -> value in base units, absent figures None; and the shapes behind what is compared, with how they were measured."""
    memory = {}
    for kernel in ("read", "copy", "triad", "write"):
        # Pilots have few samples: a maximum over them is noise.
        swept = large(points(run, "roofline.gpu.memory", kernel=kernel, scope="device", **{"pass": "sweep"}), run)
        memory[kernel] = best(nearest(swept, lambda point: point["setting"]["working_set_bytes"], NEAREST_COPY_BYTES), "bytes")
    cube = {"m": 8192, "n": 8192, "k": 8192}

    def product(precision, regime, **parameters):
        return best(points(run, "roofline.gpu.gemm", precision=precision, data="uniform", **{"pass": regime}, **parameters), "flops")

    products = {"bf16_steady": product("bf16", "steady", **cube), "bf16_burst": product("bf16", "burst", **cube),
                "bf16_best_shape": product("bf16", "burst", family="search"), "fp8_steady": product("fp8_e4m3", "steady")}
    fp32, _ = best(points(run, "roofline.gpu.compute", precision="fp32"), "flops")
    uploads = (point for point in points(run, "roofline.gpu.transfer", engine="copy_engine", both_directions=False)
               if point["setting"]["source"] == "host_pinned")
    upload, upload_point = best(nearest(uploads, lambda point: point["amounts"].get("bytes", 0), NEAREST_UPLOAD_BYTES), "bytes")
    values = {
        **{name: value for name, (value, _) in products.items()},
        "bf16_steady_cv": variation(products["bf16_steady"][1]),
        "fp32_fma": fp32,
        **{f"memory_{kernel}": value for kernel, (value, _) in memory.items()},
        "host_to_device": upload,
    }
    shapes = {name: shape(point) for name, (_, point) in products.items()}
    copied = memory["copy"][1]
    shapes["memory_copy"] = {"bytes": copied["setting"]["working_set_bytes"]} if copied else None
    shapes["host_to_device"] = {"bytes": upload_point["amounts"]["bytes"]} if upload_point else None
    return values, shapes


def own_products(run, wanted):
    """The same of a run of --shape-file: the products that `wanted` (name -> shape) asks for."""
    values, shapes = {}, {}
    for name, product in wanted.items():
        precision = "fp8_e4m3" if name.startswith("fp8") else "bf16"
        values[name], point = best(points(run, "roofline.gpu.gemm", precision=precision, family="own",
                                          **{"pass": product["regime"]}, **{side: product[side] for side in "mnk"}), "flops")
        shapes[name] = shape(point)
    return values, shapes
