# SPDX-License-Identifier: Apache-2.0
"""One table of ours, theirs, ratio and gate, and the same as JSON.
Usage: judge.py RUN_DIRECTORY TURNS_JSON|- GATES_JSON OUT_JSON   (TURNS_JSON: what turns.py wrote)
Exit code 0 when every gate that applies was met, 1 when one was missed, 3 when there was nothing to judge."""
import json
import statistics
import sys

import limits
import ours

SCALES = {"FLOP/s": (1e12, "TFLOP/s"), "B/s": (1e9, "GB/s"), "": (1e-2, "%"), "ours/theirs": (1.0, "")}
# Measured on both sides in turns, at the same shape: each regime apart, because their clocks differ.
RATIOS = {"bf16_steady_ratio": ("bf16_steady",), "bf16_burst_ratio": ("bf16_burst", "bf16_best_shape")}
LEAST_TURNS = 2  # one turn cannot tell a drift of the GPU from a difference
UNITS = {"memory": "B/s", "host": "B/s", "bf16_steady_cv": ""}


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


def judged(value, gate, limit=None):
    """True or False; None where no gate applies. A figure that is missing where a gate asks for it is a miss, one that the GPU
    cannot reach always."""
    if limits.impossible(value, limit):
        return False
    if gate is None:
        return None
    if value is None:
        return False
    return value >= gate["at_least"] if "at_least" in gate else value < gate["below"]


def median(values):
    known = [value for value in values or [] if value is not None]
    return statistics.median(known) if known else None


def ratio(sides):
    """Ours over theirs, of the medians over the turns that both sides have."""
    mine, their = median((sides or {}).get("ours")), median((sides or {}).get("theirs"))
    return mine / their if mine and their and mine > 0 and their > 0 else None


def rows_of(run, turns, gates):
    figures, gpu = ours.figures(run)[0], ours.gpu_fact(run, "name")
    compared = (turns or {}).get("figures", {})
    rows = []
    for name in list(figures) + [name for name in compared if name not in figures]:
        mine, sides = figures.get(name), compared.get(name)
        gate, limit = gate_for(name, gates, gpu), limits.limit_of(name, run)
        rows.append({"figure": name, "unit": unit_of(name), "ours": mine, "theirs": median((sides or {}).get("theirs")),
                     "turns": sides, "ratio": ratio(sides), "gate": gate, "limit": limit, "met": judged(mine, gate, limit)})
    if turns:
        for name, products in RATIOS.items():
            enough = [compared[product] for product in products
                      if min(len(compared.get(product, {}).get(side, [])) for side in ("ours", "theirs")) >= LEAST_TURNS]
            least = min((one for one in map(ratio, enough) if one), default=None)
            gate = gate_for(name, gates, gpu)
            rows.append({"figure": name, "unit": "ours/theirs", "ours": least, "theirs": None, "turns": None, "ratio": None,
                         "gate": gate, "limit": None, "met": judged(least, gate)})
    return rows


def gate_text(row):
    gate = row["gate"]
    if limits.impossible(row["ours"], row["limit"]):
        return f"<= {text(row['limit'], row['unit'])}, which this GPU cannot pass: IMPOSSIBLE"
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


def main(run_directory, turns_file, gates_file, out_file):
    run = ours.load(run_directory)
    with open(gates_file, encoding="utf-8") as file:
        gates = json.load(file)
    turns = None
    if turns_file != "-":
        with open(turns_file, encoding="utf-8") as file:
            turns = json.load(file)
    gpu = ours.gpu_fact(run, "name")
    rows = rows_of(run, turns, gates)
    print(f"acceptance of {gpu or 'no GPU'}; theirs: " +
          (f"PyTorch {turns['version']}, in turns with ours" if turns else "not measured"))
    print_table(rows)
    if gpu and gpu not in gates:
        print(f"{gpu} has no gates yet: this run is its record, judged by what the GPU cannot pass alone; set_gates.py takes "
              f"gates from {out_file}")
    for name, reason in (turns or {}).get("missing", {}).items():
        print(f"theirs lacks {name}: {reason}")
    with open(out_file, "w", encoding="utf-8") as file:
        json.dump({"gpu": gpu, "turns": turns, "shapes": ours.figures(run)[1], "rows": rows}, file, indent=1)
    verdicts = [row["met"] for row in rows if row["met"] is not None]
    if all(row["ours"] is None for row in rows):
        return 3
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
