# SPDX-License-Identifier: Apache-2.0
"""The stage `training`: a PyTorch loop that was not written for this program is recorded, on one rank and on two, with CUDA
graphs and without; the recording is held against torch.profiler's of the same steps, and both against the plain loop."""
import os
import shutil
import statistics
import sys

from reference import figures
from reference.execution import CUT_OFF, run
from reference.place import SCRIPTS, python_has, why_no_torch
from reference.recordings import attribute, check_export, check_failed, check_ledger, check_recorded, keep_example, recorded_line

CANNOT = 77
ROUNDS = 3
LIMIT_S = 100
GRAPHS_LIMIT_S = 150  # compiling goes first


def training(place, record):
    why = why_no_torch(place.python)
    if why:
        record.skip("PyTorch training recorded", why, "a loop that nobody here wrote")
        own_step(place, record)
        return
    missing = python_has(place.python, "transformers, accelerate")
    loop = "ddp" if missing else "trainer"
    if missing:
        record.note(f"the loop is ours around torch's DistributedDataParallel: {missing}")
    overhead(place, record, loop)
    compared(place, record, loop)
    recorded(place, record, f"{loop}, 2 ranks", ["--loop", loop], ranks=2)
    recorded(place, record, "ddp with CUDA graphs", ["--loop", "ddp", "--graphs"])
    if loop != "ddp":
        recorded(place, record, "trainer with CUDA graphs", ["--loop", loop, "--graphs"])
    recorded(place, record, "ddp with CUDA graphs, 2 ranks", ["--loop", "ddp", "--graphs"], ranks=2)


def file_name(gate):
    return "".join(letter if letter.isalnum() else "-" for letter in gate).replace("--", "-")


def overhead(place, record, loop):
    """Plain, recorded by us and by torch.profiler, in turns of one process each; medians of medians."""
    medians = {"plain": [], "trace": [], "torch.profiler": []}
    cut_off = set()
    for turn in range(1 if place.short else ROUNDS):
        for mode, times in medians.items():
            if mode in cut_off:  # another turn would only wait for the same limit again
                continue
            name = f"overhead-{mode}-{turn}"
            written = record.path(name + ".times.json")
            command = place.training("--loop", loop, "--times", written)
            if mode == "torch.profiler":
                command += ["--profile", record.path(name + ".trace.json")]
            if mode == "trace":
                shutil.rmtree(record.path(name), ignore_errors=True)
                command = place.trace(record.path(name), command)
            ended = run(record, name, command, LIMIT_S, place.deadline)
            if ended.code == 0 and os.path.exists(written):
                times.append(statistics.median(figures.step_times(written)))
                record.note(f"{loop}: the model is wrapped by {figures.load(written)['wrapped']}")
                record.keep(name + ".times.json")
            else:
                record.note(f"{name}: exit code {ended.code}: {ended.last_words()}")
                if ended.code == CUT_OFF:
                    cut_off.add(mode)
    tell_overhead(record, medians)


def tell_overhead(record, medians):
    plain = medians["plain"]
    if not plain:
        record.skip("overhead of recording", "the plain loop does not run; see the notes")
        return
    base = statistics.median(plain)
    spread = (max(plain) - min(plain)) / base
    ratios = {mode: statistics.median(times) / base - 1.0 if times else None for mode, times in medians.items()}
    text = "; ".join(f"{mode} n/a" if ratio is None else f"{mode} {100 * ratio:+.2f} %" for mode, ratio in ratios.items())
    ours, theirs = ratios["trace"], ratios["torch.profiler"]
    if ours is None or theirs is None:
        record.check("overhead of recording", False, text, "both measured", "a mode failed; see the notes")
        return
    record.check("overhead of recording", ours <= max(theirs, spread), text, "no more than torch.profiler's",
                 f"plain step {1e3 * base:.3f} ms, spread of its turns {100 * spread:.2f} %, {len(plain)} turns")


def compared(place, record, loop):
    """The same steps of two processes, alike but for the recorder: ours by --capture-range, torch's by its profiler."""
    ours = recorded(place, record, f"{loop}, 1 rank", ["--loop", loop, "--window"], flags=["--capture-range", "cudaProfilerApi"],
                    export=True)
    name = "kineto"
    ended = run(record, name, place.training("--loop", loop, "--window", "--profile", record.path(name + ".trace.json")), LIMIT_S,
                place.deadline)
    if ended.code != 0:
        record.skip("Kineto's export agrees with ours", f"torch.profiler's run ends with exit code {ended.code}: {ended.last_words()}")
        return
    theirs = attribute(place, record, name + ".attributed", record.path(name + ".trace.json"))
    if ours is None or theirs is None:
        record.skip("Kineto's export agrees with ours", "one of the two has no attribution")
        return
    tell_difference(record, ours, theirs)


def tell_difference(record, ours, theirs):
    sys.path.insert(0, SCRIPTS)
    import compare_ledgers
    rows = compare_ledgers.differences(ours, theirs)
    if not rows:
        record.check("Kineto's export agrees with ours", False, "no steps", "steps in both")
        return
    with open(record.path("ours-against-kineto.txt"), "w", encoding="utf-8") as file:
        file.write(compare_ledgers.text(rows) + "\n")
    record.keep("ours-against-kineto.txt")
    part, mine, other, share = compare_ledgers.largest(rows)
    record.check("Kineto's export agrees with ours", abs(share) <= 0.01,
                 f"{part[:-3]}: {mine / 1e3:.1f} us against {other / 1e3:.1f} us, {100 * share:+.2f} % of the step",
                 "each part within 1 % of the step", "largest difference; all in ours-against-kineto.txt")


def recorded(place, record, gate, options, ranks=1, flags=(), export=False):
    """Records one training and checks it; its attribution, or None. Skipped where the loop fails without us as well, which
    is not tried after a recording that took all of its time: the loop alone may need as much."""
    name = file_name(gate)
    folder = record.path(name)
    shutil.rmtree(folder, ignore_errors=True)
    limit = GRAPHS_LIMIT_S if "--graphs" in options else LIMIT_S
    if not place.deadline.allows(45):
        record.skip(f"{gate}: recorded", "no time left in this stage")
        return None
    command = place.training(*options, "--times", record.path(name + ".times.json"), ranks=ranks)
    ended = run(record, name + ".trace", place.trace(folder, command, *flags), limit, place.deadline)
    if ended.code == CUT_OFF:
        record.check(f"{gate}: recorded", False, f"cut off after {ended.seconds:.0f} s", "an end within the limit", ended.last_words())
        return None
    if ended.code != 0:
        plain = run(record, name + ".plain", command, limit, place.deadline)
        check_failed(record, gate, ended, plain)
        return None
    check_recorded(record, gate, ended)
    attribution = attribute(place, record, name, folder)
    if attribution is None:
        return None
    check_ledger(record, gate, attribution)
    if ranks > 1 and "--graphs" not in options:  # of a replayed collective NCCL tells nothing
        check_collectives(record, gate, attribution)
    if export:
        check_export(place, record, name, folder, attribution)
        keep_example(place, record, name, folder)
    return attribution


def check_collectives(record, gate, attribution):
    said, listed, alone = figures.spoken_for(attribution)
    record.check(f"{gate}: NCCL's events and kernels one to one", listed > 0 and said == listed and alone == 0,
                 f"{said} of {listed} collectives with algorithm, {alone} kernels without partner", "all, 0")


def own_step(place, record):
    """Without PyTorch: this program's own training step, recorded from outside."""
    folder, result = record.path("own-step"), record.path("own-step-run")
    for path in (folder, result):
        shutil.rmtree(path, ignore_errors=True)
    command = [place.program, "step", "--machine", "cuda", "--suite", "quick", "--quiet", "--only", "step.training", "--out", result]
    ended = run(record, "own-step.trace", place.trace(folder, command), LIMIT_S, place.deadline)
    line = recorded_line(ended)
    if ended.code == 3 or line is None:
        record.check("own step recorded", place.without_gpu(), f"exit code {ended.code}", "exit code 0", ended.last_words())
        return
    record.check("own step recorded", ended.code == 0 and line[1] > 0 and line[3] == 0,
                 f"{line[1]} kernels and copies, {line[3]} dropped", "kernels, 0 dropped")
    attribution = attribute(place, record, "own-step", folder)
    if attribution is not None:
        check_ledger(record, "own step", attribution)
        check_export(place, record, "own-step", folder, attribution)
        keep_example(place, record, "own-step", folder)
