# SPDX-License-Identifier: Apache-2.0
"""Gates from a record: of each rate of a first run, a share that a later run on this kind of GPU must reach.
Usage: set_gates.py ACCEPTANCE_JSON GATES_JSON [SHARE]   (what judge.py wrote; 0.97: runs of a healthy GPU differ by less)
Refuses a GPU that has gates, and a record that lacks a figure of WHOLE or has one that the GPU cannot pass."""
import json
import sys

import limits

RATES = ("FLOP/s", "B/s", "ours/theirs")
WHOLE = ("bf16_steady", "bf16_burst", "bf16_best_shape", "memory_copy")


def gates_of(rows, share):
    return {row["figure"]: {"at_least": float(f"{share * row['ours']:.3g}"), "unit": row["unit"]}
            for row in rows if row["unit"] in RATES and row["ours"]}


def objection(gpu, rows, gates):
    """Why no gates can be set; None when they can."""
    if not gpu:
        return "the record is of no GPU"
    if gpu in gates:
        return f"{gpu} has gates: remove them first, and say why in the commit"
    measured = {row["figure"]: row for row in rows}
    for figure in WHOLE:
        if not measured.get(figure, {}).get("ours"):
            return f"{figure} was not measured: a record is whole"
    for row in rows:
        if limits.impossible(row["ours"], row["limit"]):
            return f"{row['figure']}: {row['ours']:.4g} is more than this GPU can reach, {row['limit']:.4g}"
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
