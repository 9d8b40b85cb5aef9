# SPDX-License-Identifier: Apache-2.0
"""The stage `clients`: programs of other frameworks (JAX, a decode loop, torch.compile, CuPy, a slow DataLoader) on one GPU,
recorded by `trace` and, where they are torch's, by torch.profiler. Checked are the sums, what was lost, the steps that were
found, and of the slow loader the share that it takes, known from the same loop without it; first sentences are kept to be read."""
import os
import shutil
import sys

from reference import figures
from reference.execution import CUT_OFF, run
from reference.place import SCRIPTS
from reference.recordings import attribute, check_failed, check_ledger, check_recorded, recordings_of

LIMIT_S = 90
CANNOT = 77
CLIENTS = ("loader", "eager", "jax", "generate", "compiled", "cupy")
PROFILED = ("loader", "generate", "compiled")
OF_STEPS = ("loader", "eager", "jax", "compiled")  # the others have no training step


def clients(place, record):
    seen = {client: recorded(place, record, client) for client in CLIENTS}
    tell_loader(record, seen["loader"], seen["eager"])
    for client in PROFILED:
        if seen[client]:
            profiled(place, record, client)


def command(place, client, *more):
    units = ["--units", "6"] if place.short else []
    return [place.python, os.path.join(SCRIPTS, "workloads", "clients.py"), client, *units, *more]


def recorded(place, record, client):
    """(attribution, seconds per unit) of the client under `trace`; None where it has none."""
    gate = f"client {client}"
    if not place.deadline.allows(30):
        record.skip(f"{gate}: recorded", "no time left in this stage")
        return None
    folder = record.path(client)
    shutil.rmtree(folder, ignore_errors=True)
    times = record.path(client + ".times.json")
    program = command(place, client, "--times", times)
    ended = run(record, client + ".trace", place.trace(folder, program), LIMIT_S, place.deadline)
    if ended.code == CANNOT:
        record.skip(f"{gate}: recorded", ended.last_words())
        return None
    if ended.code != 0:
        plain = run(record, client + ".plain", program, LIMIT_S, place.deadline) if ended.code != CUT_OFF else None
        check_failed(record, gate, ended, plain)
        return None
    check_recorded(record, gate, ended)
    for path in recordings_of(folder):
        record.keep(os.path.relpath(path, record.work))
    record.keep(client + ".times.json")
    attribution = attribute(place, record, client, folder)
    if attribution is None:
        return None
    check_ledger(record, gate, attribution)
    told = figures.load(times)
    tell_steps(record, client, gate, attribution, told["units"])
    keep_sentence(record, client)
    return attribution, told["seconds"] / told["units"]


def tell_steps(record, client, gate, attribution, units):
    found = len({row["step"] for row in figures.averaged(attribution)})
    if client in OF_STEPS:
        record.check(f"{gate}: steps", abs(found - units) <= 4, f"{found} of {units} and 3 to warm up", "all but those left out by name")
    else:
        record.note(f"{gate}: {found} steps found of {units} units of work")


def keep_sentence(record, name):
    with open(record.path(name + ".report.out"), encoding="utf-8") as file:
        lines = file.read().splitlines()[1:]
    rest = next((i for i, line in enumerate(lines) if not line or line.startswith(" ") or line[0].isdigit()), len(lines))
    record.note(f"{name}: {' '.join(lines[:rest]) or 'nothing said'}")


def tell_loader(record, slow, fast):
    """What the loader takes is known: the same loop without it."""
    if not slow or not fast:
        return
    truth = 1.0 - fast[1] / slow[1]
    parts = figures.parts(slow[0])
    without_gpu = sum(parts[part] for part in ("host_late_ns", "dependency_idle_ns", "launch_gap_ns", "unattributed_ns")) / parts["step_ns"]
    idle = figures.parts(fast[0])
    share = sum(idle[part] for part in ("host_late_ns", "dependency_idle_ns", "launch_gap_ns", "unattributed_ns")) / idle["step_ns"]
    expected = truth + (1.0 - truth) * share
    record.check("client loader: time without GPU work", abs(without_gpu - expected) < 0.03, f"{100 * without_gpu:.1f} % of the step",
                 f"{100 * expected:.1f} % within 3 points", f"the sleep alone takes {100 * truth:.1f} %")


def profiled(place, record, client):
    """The same through torch.profiler, which also knows what Python did."""
    if not place.deadline.allows(40):
        record.skip(f"client {client}: torch.profiler", "no time left in this stage")
        return
    name = client + "-kineto"
    export = record.path(name + ".trace.json")
    ended = run(record, name, command(place, client, "--profile", export), LIMIT_S, place.deadline)
    if ended.code != 0 or not os.path.exists(export):
        record.skip(f"client {client}: torch.profiler", f"exit code {ended.code}: {ended.last_words()}")
        return
    run(record, name + ".gzip", [sys.executable, "-m", "gzip", export], 60, place.deadline)
    record.keep(name + ".trace.json.gz")
    attribution = attribute(place, record, name, export)
    if attribution is not None:
        check_ledger(record, f"client {client}, torch.profiler", attribution)
        keep_sentence(record, name)
