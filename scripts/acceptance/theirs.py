# SPDX-License-Identifier: Apache-2.0
"""The same work through PyTorch, on the same GPU, in a process of its own. Prints one JSON object; figures that this
PyTorch does not have are left out and named in "missing".
Usage: theirs.py SHAPES_JSON   (figure name -> {"m", "n", "k", "warm_up_s", "window_s", "samples"} or null)"""
import json
import statistics
import sys
import time

import torch

BATCH_S = 0.02  # time between two events: 0.5 us of event resolution is then below 0.01 %


def per_operation(operation, warm_up_s, window_s):
    """Median time of `operation` over batches of at least BATCH_S, gap-free, after the warm-up."""
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
    repetitions = max(1, round(BATCH_S / each))
    samples = []
    end = time.perf_counter() + window_s
    while time.perf_counter() < end or len(samples) < 7:
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(repetitions):
            operation()
        stop.record()
        stop.synchronize()
        samples.append(start.elapsed_time(stop) * 1e-3 / repetitions)
    return statistics.median(samples)


def burst(operation, count):
    """Median over pauses: time of `operation` in a batch right after 0.5 s without work, before the clock falls; as many samples
    as ours."""
    operation()
    repetitions = None
    samples = []
    while len(samples) < count:
        torch.cuda.synchronize()
        time.sleep(0.5)
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        operation()
        start.record()
        for _ in range(repetitions or 1):
            operation()
        stop.record()
        stop.synchronize()
        each = start.elapsed_time(stop) * 1e-3 / (repetitions or 1)
        if repetitions:
            samples.append(each)
        repetitions = max(1, round(BATCH_S / each))
    return statistics.median(samples)


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
    """As ours was: gap-free after settling, or in bursts after pauses."""
    if shape["warm_up_s"] > 0.0:
        return per_operation(operation, shape["warm_up_s"], shape["window_s"])
    return burst(operation, shape["samples"])


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


def copy(seconds):
    """Bytes read and written per second by a device-to-device copy of 2 GiB."""
    source = torch.empty(1 << 31, dtype=torch.uint8, device="cuda").fill_(1)
    target = torch.empty_like(source)
    return 2.0 * source.numel() / per_operation(lambda: target.copy_(source), 1.0, seconds)


def upload(seconds):
    source = torch.empty(1 << 28, dtype=torch.uint8).pin_memory()
    target = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    return source.numel() / per_operation(lambda: target.copy_(source, non_blocking=True), 1.0, seconds)


def profiler_overhead():
    """Median step of a small training loop with torch.profiler over the one without, in alternating blocks."""
    layers = [torch.nn.Linear(2048, 2048) for _ in range(8)]
    model = torch.nn.Sequential(*[part for layer in layers for part in (layer, torch.nn.GELU())]).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    data = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)

    def steps(count):
        times = []
        for _ in range(count):
            begin = time.perf_counter()
            optimizer.zero_grad(set_to_none=True)
            model(data).float().square().mean().backward()
            optimizer.step()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
        return times

    steps(30)
    plain, traced = [], []
    for _ in range(5):
        plain += steps(20)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                                torch.profiler.ProfilerActivity.CUDA]):
            traced += steps(20)
    return statistics.median(traced) / statistics.median(plain) - 1.0


def main():
    shapes = json.loads(sys.argv[1])
    work = {name: lambda shape=shapes[name], measure=measure: measure(shape)
            for name, measure in (("bf16_steady", lambda shape: matmul(shape, torch.bfloat16)),
                                  ("bf16_best_shape", lambda shape: matmul(shape, torch.bfloat16)), ("fp8_steady", scaled_matmul))
            if shapes.get(name)}
    work |= {
        "memory_copy": lambda: copy(2.0),
        "host_to_device": lambda: upload(2.0),
        "tracing_overhead": profiler_overhead,
    }
    result = {"version": torch.__version__, "gpu": torch.cuda.get_device_name(0), "figures": {}, "missing": {}}
    for name, measure in work.items():
        try:
            result["figures"][name] = measure()
        except (RuntimeError, AttributeError, TypeError) as error:
            result["missing"][name] = str(error).splitlines()[0]
        torch.cuda.empty_cache()
    json.dump(result, sys.stdout)


main()
