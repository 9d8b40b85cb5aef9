# SPDX-License-Identifier: Apache-2.0
"""Recording a program and looking at what came of it: the checks that every recording has to pass."""
import glob
import gzip
import json
import os
import re
import shutil

from reference import figures
from reference.execution import run

EXAMPLE_BYTES = 5 << 20  # of an exported example
SUMMARY = re.compile(r"(\d+) files?(?: of \d+ ranks?)?, (\d+) kernels and copies, (\d+) host events, (\d+) dropped")


def recorded_line(ended):
    """The command's own summary, as (files, device events, host events, dropped); None where it said none."""
    found = SUMMARY.search(ended.err)
    return tuple(int(number) for number in found.groups()) if found else None


def attribute(place, record, name, source):
    """The attribution of `source`, kept as NAME.json; None and a failed check where it cannot be had."""
    ended = run(record, name + ".attribute", [place.program, "attribute", source, "--format", "json"], 120, place.deadline)
    if ended.code != 0:
        record.check(f"{name}: attributed", False, f"exit code {ended.code}", "exit code 0", ended.last_words())
        return None
    target = record.path(name + ".json")
    shutil.move(record.path(name + ".attribute.out"), target)
    record.keep(name + ".json")
    told = run(record, name + ".report", [place.program, "attribute", source], 120, place.deadline)
    if told.code != 0:
        record.note(f"{name}: the text report ends with exit code {told.code}")
    return figures.load(target)


def check_recorded(record, gate, ended):
    line = recorded_line(ended)
    record.check(f"{gate}: recorded", line is not None and line[1] > 0 and line[3] == 0,
                 "nothing" if line is None else f"{line[0]} files, {line[1]} kernels and copies, {line[3]} dropped",
                 "kernels, 0 dropped")


def check_failed(record, gate, ended, plain):
    """A program that fails under `trace`: its own fault where it fails without (`plain`, None where that was not tried)."""
    if plain and plain.code != 0:
        record.skip(f"{gate}: recorded", f"fails unrecorded too (exit code {plain.code}): {plain.last_words()}")
    else:
        record.check(f"{gate}: recorded", False, f"exit code {ended.code}", "as unrecorded: 0", ended.last_words())


def check_ledger(record, name, attribution):
    good, total = figures.sums_exactly(attribution)
    record.check(f"{name}: parts sum to the step", good == total and total > 0, f"{good} of {total} steps", "all, to the nanosecond")
    lost = figures.losses(attribution)
    said = ", ".join(f"{kind} {count}" for kind, count in sorted(lost.items()))
    record.check(f"{name}: nothing lost", not lost, said or "0", "0 dropped records, buffers, bytes")


def check_export(place, record, name, source, attribution):
    """Our own export holds every step of the ledger; the slowest step's, if small enough, is an example."""
    path = record.path(name + ".export.json.gz")
    ended = run(record, name + ".export", [place.program, "attribute", source, "--export", path], 120, place.deadline)
    if ended.code != 0:
        record.check(f"{name}: exported", False, f"exit code {ended.code}", "exit code 0", ended.last_words())
        return
    with gzip.open(path, "rt", encoding="utf-8") as file:
        steps = sum(event.get("cat") == "step" for event in json.load(file)["traceEvents"])
    record.check(f"{name}: exported", steps == len(attribution["ledger"]), f"{steps} steps", f"{len(attribution['ledger'])} steps")


def keep_example(place, record, name, source):
    """The slowest step for ui.perfetto.dev, below 5 MB: of rank 0 alone where all ranks are too much."""
    target = record.path(name + ".json.gz")
    for more in ([], ["--export-ranks", "0"]):
        run(record, name + ".example", [place.program, "attribute", source, "--export", target, "--slowest-step", *more], 120,
            place.deadline)
        if os.path.exists(target) and os.path.getsize(target) < EXAMPLE_BYTES:
            record.keep(name + ".json.gz")
            record.check(f"{name}: example for Perfetto", True, f"{os.path.getsize(target)} bytes", f"below {EXAMPLE_BYTES} bytes")
            return
    size = os.path.getsize(target) if os.path.exists(target) else "none"
    record.check(f"{name}: example for Perfetto", False, f"{size} bytes", f"below {EXAMPLE_BYTES} bytes")


def recordings_of(folder):
    return sorted(glob.glob(os.path.join(folder, "*.swtrace")))
