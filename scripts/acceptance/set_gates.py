# SPDX-License-Identifier: Apache-2.0
"""Gates from a record: of each rate of a first run, a share that a later run on this kind of GPU must reach.
Usage: set_gates.py ACCEPTANCE_JSON GATES_JSON [SHARE]   (what judge.py wrote; 0.97: runs of a healthy GPU differ by less)
Refuses a GPU that has gates, and a record that lacks a figure of PUBLISHED or exceeds one: then the record is wrong."""
import json
import sys

RATES = ("FLOP/s", "B/s")
# No run of these may exceed what others have measured at best by more than a few percent, FLOP/s and B/s. Sources: fp8
# products sustained on an H200, 1,337 TFLOP/s; best bf16 shape on H100 and H200 (mamf-finder, stas00/ml-engineering), 794.5
# TFLOP/s; copies within an H200, 4,028 GB/s.
PUBLISHED = {
    "NVIDIA H200": {"fp8_steady": 1337e12, "bf16_best_shape": 794.5e12, "memory_copy": 4028e9},
    "NVIDIA H100 80GB HBM3": {"bf16_best_shape": 794.5e12},
}
TOLERANCE = 1.05


def gates_of(rows, share):
    return {row["figure"]: {"at_least": float(f"{share * row['ours']:.3g}"), "unit": row["unit"]}
            for row in rows if row["unit"] in RATES and row["ours"]}


def objection(gpu, rows, gates):
    """Why no gates can be set; None when they can."""
    if not gpu:
        return "the record is of no GPU"
    if gpu in gates:
        return f"{gpu} has gates: remove them first, and say why in the commit"
    measured = {row["figure"]: row["ours"] for row in rows}
    for figure, most in PUBLISHED.get(gpu, {}).items():
        if not measured.get(figure):
            return f"{figure} was not measured: a record is whole"
        if measured[figure] > TOLERANCE * most:
            return f"{figure}: {measured[figure]:.4g} is far above the best that is published, {most:.4g}"
    return None


def main(record_file, gates_file, share="0.97"):
    with open(record_file, encoding="utf-8") as file:
        record = json.load(file)
    with open(gates_file, encoding="utf-8") as file:
        gates = json.load(file)
    why = objection(record["gpu"], record["rows"], gates)
    if why:
        print(why)
        return 1
    gates[record["gpu"]] = gates_of(record["rows"], float(share))
    with open(gates_file, "w", encoding="utf-8") as file:
        json.dump(gates, file, indent=2)
        file.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
