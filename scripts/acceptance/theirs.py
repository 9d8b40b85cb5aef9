# SPDX-License-Identifier: Apache-2.0
"""The same work through PyTorch, on the same GPU, in a process of its own: one side of a turn of turns.py. Prints one JSON
object; figures that this PyTorch does not have are left out and named in "missing".
Usage: theirs.py SHAPES_JSON   (figure name -> {"m", "n", "k", "regime", "warm_up_s", "window_s"}, {"bytes"} or {})"""
import json
import sys
import time

import torch

import protocol


def batches(operation, repetitions, count):
    """Times of one operation, each the mean over a batch; no batch waits for the one before it, as with ours."""
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    marks[0].record()
    for mark in marks[1:]:
        for _ in range(repetitions):
            operation()
        mark.record()
    marks[-1].synchronize()
    return [start.elapsed_time(stop) * 1e-3 / repetitions for start, stop in zip(marks, marks[1:])]


def steady(operation, warm_up_s, window_s):
    """After the warm-up: what is typical of batches of BATCH_S over the window."""
    operation()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    count = 0
    while count < 8 or time.perf_counter() - begin < warm_up_s:
        operation()
        count += 1
        if count % 8 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    each = (time.perf_counter() - begin) / count
    times = batches(operation, max(1, round(protocol.BATCH_S / each)), max(7, round(window_s / protocol.BATCH_S)))
    return protocol.typical(times, "steady")


def burst(operation):
    """Right after a pause, before the clock falls: what is typical of BURST_SAMPLES without gaps."""
    each = batches(operation, 4, 2)[-1]  # also loads the kernel
    torch.cuda.synchronize()
    time.sleep(protocol.PAUSE_S)
    times = batches(operation, max(1, round(protocol.BURST_S / protocol.BURST_SAMPLES / each)), protocol.BURST_SAMPLES)
    return protocol.typical(times, "burst")


def uniform(rows, columns, dtype):
    return torch.empty(rows, columns, device="cuda").uniform_(-1, 1).to(dtype)


def rotation(make, footprint):
    """Operands in turn, so that together they exceed twice the L2 cache."""
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    return [make() for _ in range(max(2, -(-2 * cache // footprint)))]


def in_turn(operation, sets):
    state = {"next": 0}

    def run():
        operation(*sets[state["next"] % len(sets)])
        state["next"] += 1

    return run


def timed(operation, shape):
    return burst(operation) if shape["regime"] == "burst" else steady(operation, shape["warm_up_s"], shape["window_s"])


def matmul(shape, dtype):
    """FLOP/s of torch.matmul, with both operands stored as our probes store them (A by rows, B by columns)."""
    m, n, k = shape["m"], shape["n"], shape["k"]
    sets = rotation(lambda: (uniform(m, k, dtype), uniform(n, k, dtype).t(),
                             torch.empty(m, n, device="cuda", dtype=dtype)), 2 * (m * k + n * k + m * n))
    return 2.0 * m * n * k / timed(in_turn(lambda a, b, d: torch.matmul(a, b, out=d), sets), shape)


def scaled_matmul(shape):
    m, n, k = shape["m"], shape["n"], shape["k"]
    one = torch.ones((), device="cuda")
    sets = rotation(lambda: (uniform(m, k, torch.float8_e4m3fn), uniform(n, k, torch.float8_e4m3fn).t()),
                    m * k + n * k + 2 * m * n)
    operation = in_turn(lambda a, b: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16,
                                                      use_fast_accum=True), sets)
    return 2.0 * m * n * k / timed(operation, shape)


def copy(shape):
    """Bytes read and written per second by a device-to-device copy; source and target together are as large as ours."""
    source = torch.empty(int(shape["bytes"]) // 2, dtype=torch.uint8, device="cuda").fill_(1)
    target = torch.empty_like(source)
    return 2.0 * source.numel() / steady(lambda: target.copy_(source), 1.0, 2.0)


def upload(shape):
    source = torch.empty(int(shape["bytes"]), dtype=torch.uint8).pin_memory()
    target = torch.empty(source.numel(), dtype=torch.uint8, device="cuda")
    return source.numel() / steady(lambda: target.copy_(source, non_blocking=True), 1.0, 2.0)


MEASURES = {"bf16_steady": lambda shape: matmul(shape, torch.bfloat16), "bf16_burst": lambda shape: matmul(shape, torch.bfloat16),
            "bf16_best_shape": lambda shape: matmul(shape, torch.bfloat16), "fp8_steady": scaled_matmul, "memory_copy": copy,
            "host_to_device": upload}


def main():
    result = {"version": torch.__version__, "gpu": torch.cuda.get_device_name(0), "figures": {}, "missing": {}}
    for name, shape in json.loads(sys.argv[1]).items():
        try:
            result["figures"][name] = MEASURES[name](shape)
        except (RuntimeError, AttributeError, TypeError) as error:
            result["missing"][name] = str(error).splitlines()[0]
        torch.cuda.empty_cache()
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
