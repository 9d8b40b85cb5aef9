# SPDX-License-Identifier: Apache-2.0
"""Ours and PyTorch in turns (ours, theirs, ours, theirs), so that a GPU that warms up or is used by others changes both sides.
Usage: turns.py PROGRAM PYTHON RUN_DIRECTORY OUT_FOLDER SECONDS   (RUN_DIRECTORY: the run whose products are compared)
Writes OUT_FOLDER/turns.json: figure -> {"ours": [one value per turn], "theirs": [...]}, and beside it what each turn printed.
A turn that would not end within SECONDS is not begun. Exit code 0 when one turn of both sides was measured, else 1."""
import json
import os
import shutil
import subprocess
import sys
import time

import ours

TURNS = 2
HERE = os.path.dirname(os.path.abspath(__file__))
PRODUCTS = ("bf16_steady", "bf16_burst", "bf16_best_shape", "fp8_steady")
TRANSFERS = ("memory_copy", "host_to_device")


class Side:
    """Runs programs in the time that is left, and keeps what they print."""

    def __init__(self, program, python, folder, seconds):
        self.program, self.python, self.folder = program, python, folder
        self.end = time.monotonic() + seconds

    def left(self):
        return self.end - time.monotonic()

    def run(self, name, command):
        """Standard output; None where it failed or no time was left."""
        if self.left() <= 0:
            return None
        try:
            with open(os.path.join(self.folder, name + ".err"), "w", encoding="utf-8") as log:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, timeout=self.left(), check=False)
        except subprocess.TimeoutExpired:
            return None
        return done.stdout if done.returncode == 0 else None

    def ours(self, name, *options):
        target = os.path.join(self.folder, name)
        shutil.rmtree(target, ignore_errors=True)
        printed = self.run(name, [self.program, "roofline", "--machine", "cuda", "--suite", "quick", "--quiet", "--out", target, *options])
        return None if printed is None else ours.load(target)

    def theirs(self, name, shapes):
        printed = self.run(name, [self.python, os.path.join(HERE, "theirs.py"), json.dumps(shapes)])
        return None if printed is None else json.loads(printed)


def shape_file(folder, products):
    """For --shape-file, each product once whatever its regimes."""
    path = os.path.join(folder, "products.csv")
    rows = {(one["m"], one["n"], one["k"], "fp8_e4m3" if name.startswith("fp8") else "bf16") for name, one in products.items()}
    with open(path, "w", encoding="utf-8") as file:
        file.write("name,m,n,k,format\n")
        for number, row in enumerate(sorted(rows)):
            file.write(f"product{number}," + ",".join(map(str, row)) + "\n")
    return path


def known(shapes, names):
    return {name: shapes[name] for name in names if shapes.get(name)}


def products_turn(side, number, shapes):
    wanted = known(shapes, PRODUCTS)
    if not wanted:
        return None
    run = side.ours(f"ours-products-{number}", "--only", "roofline.gpu.gemm", "--shape-file", shape_file(side.folder, wanted))
    if run is None:
        return None
    values, measured = ours.own_products(run, wanted)
    # Theirs warms up as long as ours did in this turn.
    return values, side.theirs(f"theirs-products-{number}", known(measured, PRODUCTS))


def transfers_turn(side, number, shapes):
    if not known(shapes, TRANSFERS):
        return None
    run = side.ours(f"ours-transfers-{number}", "--only", "roofline.gpu.memory,roofline.gpu.transfer")
    if run is None:
        return None
    values, measured = ours.figures(run)
    return {name: values[name] for name in TRANSFERS}, side.theirs(f"theirs-transfers-{number}", known(measured, TRANSFERS))


def in_turns(side, shapes):
    result = {"version": None, "figures": {}, "missing": {}}
    for turn in (products_turn, transfers_turn):
        longest = 0.0
        for number in range(1, TURNS + 1):
            begun = time.monotonic()
            if longest > side.left():
                break
            measured = turn(side, number, shapes)
            if measured is None or measured[1] is None:
                break
            mine, their = measured
            result["version"] = their["version"]
            result["missing"].update(their["missing"])
            for name, value in their["figures"].items():
                if mine.get(name):
                    sides = result["figures"].setdefault(name, {"ours": [], "theirs": []})
                    sides["ours"].append(mine[name])
                    sides["theirs"].append(value)
            longest = max(longest, time.monotonic() - begun)
    return result


def main(program, python, run_directory, folder, seconds):
    os.makedirs(folder, exist_ok=True)
    result = in_turns(Side(program, python, folder, float(seconds)), ours.figures(ours.load(run_directory))[1])
    with open(os.path.join(folder, "turns.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    return 0 if result["version"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
