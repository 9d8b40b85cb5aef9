# SPDX-License-Identifier: Apache-2.0
"""One table of ours, theirs, ratio and gate, and the same as JSON.
Usage: judge.py RUN_DIRECTORY THEIRS_JSON|- GATES_JSON OUT_JSON
Exit code 0 when every gate that applies was met, 1 when one was missed, 3 when there was nothing to judge."""
import json
import sys

import ours

SCALES = {"FLOP/s": (1e12, "TFLOP/s"), "B/s": (1e9, "GB/s"), "": (1e-2, "%"), "ours/theirs": (1.0, "")}
# Measured on both sides at the same shape and in the same regime.
EQUAL_PRODUCTS = ("bf16_steady", "bf16_best_shape")
UNITS = {"memory": "B/s", "host": "B/s", "tracing": "", "graphs": "", "bf16_steady_cv": ""}


def unit_of(name):
    return next((unit for start, unit in UNITS.items() if name.startswith(start)), "FLOP/s")


def text(value, unit):
    if value is None:
        return "n/a"
    scale, name = SCALES[unit]
    return f"{value / scale:.4g} {name}".strip()


def gate_for(name, gates, gpu):
    """By the full name: an "NVIDIA H200 NVL" is no "NVIDIA H200". None for a GPU without a record."""
    if gpu not in gates:
        return None
    return gates[gpu].get(name, gates.get("any", {}).get(name))


def judged(value, gate):
    """True or False; None where no gate applies. A figure that is missing where a gate asks for it is a miss."""
    if gate is None:
        return None
    if value is None:
        return False
    return value >= gate["at_least"] if "at_least" in gate else value < gate["below"]


def ratio(mine, their):
    """Of two rates; overheads near zero have no meaningful one."""
    return mine / their if mine and their and mine > 0 and their > 0 else None


def rows_of(figures, theirs, gates, gpu):
    rows = []
    other = (theirs or {}).get("figures", {})
    for name in list(figures) + [name for name in other if name not in figures]:
        mine, their = figures.get(name), other.get(name)
        gate = gate_for(name, gates, gpu)
        rows.append({"figure": name, "unit": unit_of(name), "ours": mine, "theirs": their,
                     "ratio": ratio(mine, their), "gate": gate, "met": judged(mine, gate)})
    if theirs:
        least = min((row["ratio"] for row in rows if row["figure"] in EQUAL_PRODUCTS and row["ratio"]),
                    default=None)
        gate = gate_for("bf16_matmul_ratio", gates, gpu)
        rows.append({"figure": "bf16_matmul_ratio", "unit": "ours/theirs", "ours": least, "theirs": None, "ratio": None,
                     "gate": gate, "met": judged(least, gate)})
    return rows


def gate_text(row):
    gate = row["gate"]
    if gate is None:
        return "-"
    sign, limit = (">=", gate["at_least"]) if "at_least" in gate else ("<", gate["below"])
    verdict = "met" if row["met"] else "MISSED"
    return f"{sign} {text(limit, row['unit'])}: {verdict}"


def print_table(rows):
    print(f"{'figure':<20} {'ours':>16} {'theirs':>16} {'ratio':>7}  gate")
    for row in rows:
        compared = f"{row['ratio']:.3f}" if row["ratio"] else "n/a"
        print(f"{row['figure']:<20} {text(row['ours'], row['unit']):>16} {text(row['theirs'], row['unit']):>16} "
              f"{compared:>7}  {gate_text(row)}")


def main(run_directory, theirs_file, gates_file, out_file):
    run = ours.load(run_directory)
    figures, shapes = ours.figures(run)
    with open(gates_file, encoding="utf-8") as file:
        gates = json.load(file)
    theirs = None
    if theirs_file != "-":
        with open(theirs_file, encoding="utf-8") as file:
            theirs = json.load(file)
    gpu = ours.gpu_fact(run, "name")
    rows = rows_of(figures, theirs, gates, gpu)
    print(f"acceptance of {gpu or 'no GPU'}; theirs: " +
          (f"PyTorch {theirs['version']}" if theirs else "not measured"))
    print_table(rows)
    if gpu and gpu not in gates:
        print(f"{gpu} has no gates yet: this run is its record, nothing is judged; set_gates.py takes gates from {out_file}")
    for name, reason in (theirs or {}).get("missing", {}).items():
        print(f"theirs lacks {name}: {reason}")
    with open(out_file, "w", encoding="utf-8") as file:
        json.dump({"gpu": gpu, "theirs": theirs, "shapes": shapes, "rows": rows}, file, indent=1)
    verdicts = [row["met"] for row in rows if row["met"] is not None]
    if all(value is None for value in figures.values()):
        return 3
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
