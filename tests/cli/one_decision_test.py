# SPDX-License-Identifier: Apache-2.0
"""`report` and `decide` on the same run name the same counts, the same cause and the same shares.

Usage: one_decision_test.py PROGRAM SOURCE_DIR [RUN_JSON...]
Runs: every recorded one, and simulated ones whose truth is known."""
import copy
import json
import pathlib
import random
import subprocess
import sys
import tempfile

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
recorded = sorted(source.glob("docs/measurements/*/run.json")) + [pathlib.Path(more) for more in sys.argv[3:]]
prices = [[], ["--price", "0.05"], ["--price", "0.05", "--fixed", "2"]]
parts = ["compute", "optimizer", "host", "progress", "exposed_transfer", "exposed_wait", "unattributed"]


def call(*arguments):
    done = subprocess.run([program, *map(str, arguments), "--format", "json"], capture_output=True, text=True)
    if done.returncode:
        print(" ".join(map(str, arguments)), done.stderr.strip())
    return json.loads(done.stdout) if done.returncode == 0 else None


def simulated(template, counts, serial, transfer, wait, weak=False, straggler=None, seed=1):
    """A run whose ranks take 40 ms of compute alone: `serial` of it does not shrink; transfer and wait in ms at each count."""
    run = copy.deepcopy(template)
    noise = random.Random(seed)
    probes = {probe["name"]: probe for probe in run["probes"]}
    step_point = probes["step.training"]["points"][0]
    ledger_point = probes["step.ledger"]["points"][0]
    probes["step.training"]["points"], probes["step.ledger"]["points"] = [], []
    for count in counts:
        compute = 40e6 if weak else 40e6 * (serial + (1 - serial) / count)
        factors = [1 + 0.004 * noise.uniform(-1, 1) for _ in range(12)]
        beyond = count - 1
        for rank in range(count):
            times = dict.fromkeys(parts, 0.0)
            times.update(compute=compute, exposed_transfer=transfer * 1e6 * beyond, exposed_wait=wait * 1e6 * beyond)
            if rank == straggler and count > 1:
                times.update(compute=compute + times["exposed_wait"], exposed_wait=0.0)
            point = copy.deepcopy(ledger_point)
            point["parameters"].update(ranks=count, rank=rank, mode="weak" if weak else "strong")
            point["samples"] = {part + "_ns": [time * factor for factor in factors] for part, time in times.items()}
            total = sum(times.values())
            point["samples"]["step_ns"] = [total * factor for factor in factors]
            if straggler is not None and count > 1:
                point["samples"]["waited_for_ns.%d" % straggler] = point["samples"]["exposed_wait_ns"]
            probes["step.ledger"]["points"].append(point)
        point = copy.deepcopy(step_point)
        point["parameters"].update(ranks=count, mode="weak" if weak else "strong")
        point["amounts"]["tokens"] = 640.0 * (count if weak else 1)
        point["samples"] = {"step_s": [total * 1e-9 * factor for factor in factors], "loss": [2.0] * 12}
        probes["step.training"]["points"].append(point)
    return run


def compare(path, price):
    report = call("report", path, *price)
    for result in report["scaling"]:
        decision = call("decide", path, "--scaling", result["mode"], *price)
        where = (path, price, result["mode"])
        for part in ("rubric", "cause", "no_cause", "cost_choice", "knees", "rows"):
            assert result["decision"][part] == decision[part], (*where, part)
    return len(report["scaling"])


def owner(path):
    decision = call("report", path)["scaling"][0]["decision"]
    return decision["cause"] and decision["cause"]["owner"], decision["rubric"], decision["verdict"]["lines"]


assert recorded, "no recorded run"
template = json.loads(recorded[0].read_text())
compared = 0
with tempfile.TemporaryDirectory() as folder:
    made = {
        "communication": simulated(template, [1, 2, 4, 8], 0.0, 1.0, 0.0),
        "idle": simulated(template, [1, 2, 4, 8], 0.0, 0.0, 1.0, straggler=1),
        "mixture": simulated(template, [1, 2, 4], 0.1, 1.0, 1.0),
        "no loss": simulated(template, [1, 2], 0.0, 0.0, 0.0),
        "weak": simulated(template, [1, 2, 4], 0.0, 2.0, 0.0, weak=True),
        "one count": simulated(template, [2], 0.0, 1.0, 0.0),
    }
    simulations = {}
    for name, run in made.items():
        simulations[name] = pathlib.Path(folder) / name / "run.json"
        simulations[name].parent.mkdir()
        simulations[name].write_text(json.dumps(run))
    for path in [*recorded, *simulations.values()]:
        for price in prices:
            compared += compare(path, price)
    assert owner(simulations["communication"])[0] == "communication"
    assert owner(simulations["idle"])[0] == "idle"
    assert any("wait for rank 1" in line for line in owner(simulations["idle"])[2])
    assert owner(simulations["weak"])[0] == "communication"
    cause, rubric, _ = owner(simulations["no loss"])
    assert cause is None and rubric["chosen"] == 2
    assert owner(simulations["mixture"])[0] is None
    assert owner(simulations["one count"])[1]["chosen"] == 2
assert compared >= 3 * len(simulations), compared
print(f"{compared} decisions are the same by report and by decide")
