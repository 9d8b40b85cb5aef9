# SPDX-License-Identifier: Apache-2.0
"""The README's first example, tests/readme/slow-gpu: what PyTorch's profiler would write of a data-parallel job of 8 GPUs on
which GPU 5 computes 1.3 times as long. Generated, not measured: so the right answer is known.
Usage: make_job.py FOLDER [FACTOR]   (how many times as long; default 1.3)"""
import gzip
import json
import os
import random
import sys

RANKS, STEPS, LAYERS = 8, 6, 6
SLOW_RANK = 5
COMPUTE_STREAM, NCCL_STREAM = 7, 20
HEADER = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "world_size": RANKS}}
# Kernel, microseconds on a GPU that is not slow.
FORWARD = [("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x256x64", 900), ("flash_fwd_kernel", 420),
           ("layer_norm_kernel", 60)]
BACKWARD = [("sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x256x64", 1800), ("flash_bwd_dq_dk_dv_loop_kernel", 950),
            ("layer_norm_grad_input_kernel", 110)]
OPTIMIZER = ("multi_tensor_apply_kernel", 700)
BUCKET_US, BUCKET_ELEMENTS = 650, 50331648  # of one layer's gradients


def compute_times(slow, chance):
    """Kernels of a step in their order: (name, microseconds, whether a layer's gradients are complete after it)."""
    work = [(name, us, False) for _ in range(LAYERS) for name, us in FORWARD]
    for _ in range(LAYERS):
        work += [(name, us, index == len(BACKWARD) - 1) for index, (name, us) in enumerate(BACKWARD)]
    return [(name, us * slow * chance.uniform(0.995, 1.005), complete) for name, us, complete in work]


class Timeline:
    """One rank's events; times in microseconds."""

    def __init__(self, rank, slow):
        self.rank = rank
        self.slow = slow
        self.events = []
        self.correlation = 0

    def add(self, category, name, start, duration, tid, pid=0, **arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": round(start, 3),
                            "dur": round(duration, 3), "args": arguments})

    def kernel(self, name, launched, start, duration, stream, **arguments):
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", launched, 4.0, 1, pid=1, correlation=self.correlation)
        self.add("kernel", name, start, duration, stream, device=self.rank, stream=stream, correlation=self.correlation, **arguments)

    def all_reduce(self, launched, start, end, number):
        self.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL128", launched, start, end - start, NCCL_STREAM,
                    **{"Collective name": "allreduce", "In msg nelems": BUCKET_ELEMENTS, "Out msg nelems": BUCKET_ELEMENTS,
                       "Group size": RANKS, "dtype": "BFloat16", "Process Group Name": "0", "Seq": number,
                       "Process Group Ranks": str(list(range(RANKS)))})

    def write(self, path):
        document = dict(HEADER, traceEvents=self.events)
        document["distributedInfo"] = dict(HEADER["distributedInfo"], rank=self.rank)
        # Without a time of writing in it, so that the same job is the same file.
        with open(path, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as file:
            file.write(json.dumps(document, separators=(",", ":")).encode())


def add_step(timelines, chance, begin, number):
    """All ranks of one step, which begins everywhere at `begin`; when it ends."""
    complete = []  # per rank, when each bucket is
    for timeline in timelines:
        now = begin[timeline.rank] + 30.0
        ready = []
        for index, (name, us, bucket) in enumerate(compute_times(timeline.slow, chance)):
            timeline.kernel(name, begin[timeline.rank] + 6.0 * index, now, us, COMPUTE_STREAM, grid=[132, 1, 1], block=[256, 1, 1])
            now += us + 1.0
            if bucket:
                ready.append((now, begin[timeline.rank] + 6.0 * index + 5.0))
        complete.append(ready)
    free = 0.0
    for bucket in range(LAYERS):
        # Each rank's kernel waits from its own start; the transfer begins with the last of them.
        starts = [max(complete[rank][bucket][0], free) + 2.0 for rank in range(RANKS)]
        end = max(starts) + BUCKET_US
        for timeline, start, ready in zip(timelines, starts, complete):
            timeline.all_reduce(ready[bucket][1], start, end + chance.uniform(0.0, 1.0), LAYERS * number + bucket)
        free = end + 1.0
    ends = []
    for timeline in timelines:
        name, us = OPTIMIZER
        us *= timeline.slow
        timeline.kernel(name, begin[timeline.rank] + 400.0, free + 3.0, us, COMPUTE_STREAM, grid=[132, 1, 1], block=[512, 1, 1])
        ends.append(free + 3.0 + us + 20.0)
        # The loss is read: the host waits for the GPU before it begins the next step.
        timeline.add("cuda_runtime", "cudaStreamSynchronize", begin[timeline.rank] + 410.0, ends[-1] - 10.0 - begin[timeline.rank] - 410.0, 1,
                     pid=1)
        timeline.add("user_annotation", f"ProfilerStep#{number}", begin[timeline.rank], ends[-1] - begin[timeline.rank], 1, pid=1)
    return ends


def main(folder, factor="1.3"):
    chance = random.Random(7)
    timelines = [Timeline(rank, float(factor) if rank == SLOW_RANK else 1.0) for rank in range(RANKS)]
    begin = [1e6] * RANKS
    for number in range(STEPS):
        begin = add_step(timelines, chance, begin, number)
    os.makedirs(folder, exist_ok=True)
    for timeline in timelines:
        timeline.write(os.path.join(folder, f"rank{timeline.rank}.json.gz"))


if __name__ == "__main__":
    main(*sys.argv[1:])
