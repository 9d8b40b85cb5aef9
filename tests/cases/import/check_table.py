#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_table.py RUN TABLE RANKS [NODES]: every row of a table of nccl-tests against the run that it became.

Reads the table by itself. Of each half of a row the time must be in the run; from that time and RANKS, size / time and
that times the collective's factor must be the printed algbw and busbw within their last digit (from 4096 B on: below, the
digits are too few). Prints how many it compared."""
import json
import re
import sys

FACTOR = {"all_reduce": lambda n: 2 * (n - 1) / n, "broadcast": lambda n: 1, "reduce": lambda n: 1}
NUMBER = re.compile(r"-?\d+(\.\d+)?$")


def halves(table):
    """(bytes, in place, time in us, digits behind the point, algbw, busbw) of each half of each row."""
    for line in open(table):
        words = re.sub(r"^\[1,0\]<stdout>:|^ *0:", "", line).split()
        if len(words) < 11 or not words[0].isdigit() or not words[1].isdigit():
            continue
        values = words[-8:]
        for in_place, half in enumerate((values[:4], values[4:])):
            if int(words[0]) > 0 and NUMBER.match(half[0]):
                digits = len(half[0].partition(".")[2])
                yield int(words[0]), bool(in_place), float(half[0]), digits, float(half[1]), float(half[2])


def main():
    folder, table, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3])
    nodes = int(sys.argv[4]) if len(sys.argv) > 4 else None
    run = json.load(open(f"{folder}/run.json"))
    points = {}
    for point in run["probes"][0]["points"]:
        setting = point["setting"]
        points[setting["message_bytes"], setting["in_place"]] = point
        assert setting["ranks"] == ranks and setting.get("nodes") == nodes, setting
    compared = 0
    for size, in_place, time_us, digits, algbw, busbw in halves(table):
        point = points.pop((size, in_place))
        [time_s] = point["samples"]["time_s"]
        assert abs(time_s * 1e6 - time_us) < 1e-9 * time_us, (size, time_s, time_us)
        resolution = point["sampling"]["time_s"]["resolution"]
        assert abs(resolution * 1e6 - 10**-digits) < 1e-9, (size, resolution)
        if size >= 4096:
            rate = size / time_s * 1e-9
            slack = 0.0051 + rate * 0.51 * 10**-digits / time_us
            factor = FACTOR.get(point["setting"]["collective"], lambda n: (n - 1) / n)(ranks)
            assert abs(rate - algbw) < slack, (size, rate, algbw)
            assert abs(rate * factor - busbw) < slack * max(1.0, factor), (size, rate * factor, busbw)
        compared += 1
    assert not points, f"{len(points)} points are in the run and not in the table"
    print(f"{compared} times are those of the table")


main()
