# SPDX-License-Identifier: Apache-2.0
"""The check of a recorded sequence of collectives, on made-up recordings: what differs is found, whatever it is."""
import os
import sys
import unittest

source = sys.argv.pop(1)
sys.path.insert(0, os.path.join(source, "tests", "gpu", "nccl"))
sys.dont_write_bytecode = True
import check_sequence  # noqa: E402

ISSUED = [("all_reduce", 400), ("reduce", 8), ("reduce_scatter", 64), ("reduce_scatter", 64)]


def trace(**changed):
    kernels = [("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "all_reduce", 400, 400), ("ncclDevKernel_Reduce_Sum_f64_RING_LL", "reduce", 8, 8),
               ("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", "reduce_scatter", 128, 64), ("ncclDevKernel_Generic", "reduce_scatter", 128, 64)]
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": rank, "ts": 10.0 * number,
               "args": {"Collective name": kind, "In msg nelems": size, "Out msg nelems": output, "dtype": "Byte"}}
              for rank in (0, 1) for number, (name, kind, size, output) in enumerate(kernels)]
    for number, change in changed.items():
        events[int(number[1:])] = change(events[int(number[1:])])
    return {"traceEvents": [event for event in reversed(events) if event] + [{"ph": "X", "cat": "kernel", "name": "fill", "pid": 0, "ts": 1.0},
                                                                             {"ph": "M", "name": "process_name", "pid": 0}]}


def differences(recorded, ranks=2):
    return check_sequence.differences(check_sequence.recorded(recorded), ISSUED, ranks)


def with_argument(name, value):
    return lambda event: {**event, "args": {**event["args"], name: value}}


class Sequence(unittest.TestCase):
    def test_kernels_and_calls_that_agree_have_no_difference(self):
        self.assertEqual(differences(trace()), [])

    def test_each_difference_is_found(self):
        for changed, words in ((trace(_5=with_argument("In msg nelems", 12)), "rank 1, call 1: reduce of 12 B instead of reduce of 8 B"),
                               (trace(_0=with_argument("Collective name", None)), "rank 0, call 0: None of 400 B"),
                               (trace(_7=lambda event: None), "rank 1: 3 kernels for 4 calls"),
                               (trace(_5=lambda event: {**event, "name": "ncclDevKernel_AllReduce_Sum_f64_RING_LL"}),
                                "reduce was joined with the kernel ncclDevKernel_AllReduce"),
                               (trace(_1=lambda event: {**event, "name": "ncclDevKernel_ReduceScatter_Sum_f64_RING_LL"}),
                                "reduce was joined with the kernel ncclDevKernel_ReduceScatter")):
            self.assertIn(words, "\n".join(differences(changed)))

    def test_a_rank_that_is_missing_is_a_difference(self):
        self.assertEqual(differences(trace(), ranks=3), ["2 ranks with NCCL kernels instead of 3"])


unittest.main()
