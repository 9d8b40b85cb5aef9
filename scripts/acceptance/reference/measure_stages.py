# SPDX-License-Identifier: Apache-2.0
"""The stages `tests` (this program's own, on the GPU) and `bench` (the standard suite, judged beside PyTorch)."""
import json
import os
import shutil

from reference import figures
from reference.execution import CUT_OFF, run
from reference.place import SCRIPTS, why_no_torch
from reference.recordings import keep_example

SKIPPED = 77
NOTHING = 3


def tests(place, record):
    programs = place.test_programs()
    if not programs:
        record.skip("own tests", f"no test programs in {place.build}/tests/gpu")
    for path in programs:
        name = os.path.basename(path)
        ended = run(record, name, [path], 240, place.deadline)
        verdict = "skip" if ended.code == SKIPPED else ended.code == 0
        last = [line for line in ended.out.splitlines() if line.strip()]
        record.check(f"own tests: {name}", verdict, last[-1] if last else f"exit code {ended.code}", "all pass",
                     f"{ended.seconds:.0f} s" if ended.code == 0 else ended.last_words())
    script = os.path.join(SCRIPTS, "..", "..", "tests", "gpu", "trace_on_gpu.sh")
    device = [path for path in programs if os.path.basename(path) == "gpu_device"]
    if device and os.path.exists(script):
        ended = run(record, "trace_on_gpu", ["bash", script, os.path.abspath(place.program), os.path.abspath(device[0])], 120,
                    place.deadline)
        record.check("own tests: recorded, killed, attributed", "skip" if ended.code == SKIPPED else ended.code == 0,
                     f"exit code {ended.code}", "exit code 0", (ended.out.strip().splitlines() or [""])[0])


def bench(place, record):
    run(record, "list", [place.program, "list"], 60, place.deadline)
    folder = record.path("run")
    shutil.rmtree(folder, ignore_errors=True)
    suite = "quick" if place.short else "standard"
    ended = run(record, "bench", [place.program, "bench", "--suite", suite, "--machine", "cuda", "--out", folder], 440, place.deadline)
    if ended.code == NOTHING:
        record.check("bench", place.without_gpu(), "exit code 3", "exit code 0", ended.last_words())
        return
    cut_off = "cut off at the limit; what was measured is kept" if ended.code == CUT_OFF else ended.last_words()
    record.check(f"bench --suite {suite}", ended.code == 0, f"exit code {ended.code} after {ended.seconds:.0f} s", "exit code 0",
                 "" if ended.code == 0 else cut_off)
    if not os.path.exists(os.path.join(folder, "run.json")):
        return
    record.keep("run/run.json", "run/ranks")
    probes_told(record, folder)
    html = run(record, "report", [place.program, "report", folder, "--format", "html"], 60, place.deadline)
    shutil.move(record.path("report.out"), record.path("report.html"))
    record.keep("report.html")
    record.check("report as HTML", html.code == 0 and "<html" in html.out[:2000].lower(), f"{len(html.out)} bytes", "one page, opens alone")
    compared = beside_torch(place, record, folder)
    judge(place, record, folder, compared)
    example_of_step(place, record)


def probes_told(record, folder):
    for probe in figures.load(os.path.join(folder, "run.json"))["probes"]:
        if probe["status"] != "measured":
            record.note(f"{probe['name']}: {probe['status']}: {probe['reason']}")


def beside_torch(place, record, folder):
    why = why_no_torch(place.python)
    if why:
        record.skip("the same work through PyTorch", why)
        return "-"
    seconds = min(60.0 if place.short else 180.0, place.deadline.left() - 90.0)  # what follows needs the rest
    if seconds < 30.0:
        record.skip("the same work through PyTorch, in turns", "no time was left for it: run this stage alone, or with another --limit")
        return "-"
    ended = run(record, "turns", [place.python, os.path.join(SCRIPTS, "turns.py"), place.program, place.python, folder, record.path("turns"),
                                  str(seconds)], seconds + 10.0, place.deadline)
    record.keep("turns")
    record.check("the same work through PyTorch, in turns", ended.code == 0, f"exit code {ended.code} after {ended.seconds:.0f} s",
                 "exit code 0", "" if ended.code == 0 else ended.last_words())
    return record.path(os.path.join("turns", "turns.json")) if ended.code == 0 else "-"


def judge(place, record, folder, theirs):
    target = record.path("acceptance.json")
    ended = run(record, "acceptance", [place.python, os.path.join(SCRIPTS, "judge.py"), folder, theirs,
                                       os.path.join(SCRIPTS, "gates.json"), target], 60, place.deadline)
    record.keep("acceptance.json")
    if not os.path.exists(target):
        record.check("gates judged", False, f"exit code {ended.code}", "a table", ended.last_words())
        return
    for row in figures.load(target)["rows"]:
        value = "n/a" if row["ours"] is None else f"{row['ours']:.5g} {row['unit']}".strip()
        compared = f"theirs {row['theirs']:.5g}, ratio {row['ratio']:.3f}" if row["ratio"] else ""
        if row["gate"] is None:
            record.note(f"{row['figure']}: {value}{'; ' + compared if compared else ''}")
            continue
        sign, limit = (">=", row["gate"]["at_least"]) if "at_least" in row["gate"] else ("<", row["gate"]["below"])
        record.check(row["figure"], bool(row["met"]), value, f"{sign} {limit:.5g}", compared)


def example_of_step(place, record):
    """The reference step, recorded from outside and exported."""
    folder = record.path("step-trace")
    shutil.rmtree(folder, ignore_errors=True)
    command = [place.program, "step", "--machine", "cuda", "--suite", "quick", "--quiet", "--only", "step.training", "--out",
               record.path("step-run")]
    shutil.rmtree(record.path("step-run"), ignore_errors=True)
    ended = run(record, "step-trace", place.trace(folder, command), 120, place.deadline)
    if ended.code != 0:
        record.check("reference step recorded", place.without_gpu(), f"exit code {ended.code}", "exit code 0", ended.last_words())
        return
    keep_example(place, record, "reference-step", folder)
