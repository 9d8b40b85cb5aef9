# SPDX-License-Identifier: Apache-2.0
"""How both sides of the comparison with PyTorch measure and what they take of it. Ours follows probes/gpu/gemm_plan.cpp."""
import statistics

BATCH_S = 0.02  # a steady sample is the mean over so long: 0.5 us of event resolution is then below 0.01 %
PAUSE_S = 0.5  # without work before a burst
BURST_S = 0.1  # all samples of a burst, without gaps between them
BURST_SAMPLES = 20


def typical(times, regime):
    """Of a steady window the median; of a burst the fastest sample, because ours keeps only those at the highest clock."""
    return min(times) if regime == "burst" else statistics.median(times)
