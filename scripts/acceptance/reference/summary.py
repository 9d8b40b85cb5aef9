# SPDX-License-Identifier: Apache-2.0
"""One table of all stages, from what each left in a folder or in folders below it; and what of it is worth keeping."""
import glob
import json
import os
import shutil
import tarfile

from reference.record import table

ORDER = ("capture", "tests", "bench", "training", "nccl", "faults")
CANNOT = 77
KEPT_BYTES = 5 << 20  # of one file in a folder of recorded measurements
KEPT = ("run.json", "report.html", "acceptance.json", "acceptance.out", "list.out", "ours-against-kineto.txt", "-step.json.gz",
        ".times.json")


def stage_files(out):
    """The newest result of each stage, in order; a stage may have been run again into another folder."""
    newest = {}
    for path in glob.glob(os.path.join(out, "**", "*.json"), recursive=True):
        stage = os.path.splitext(os.path.basename(path))[0]
        if stage in ORDER and (stage not in newest or os.path.getmtime(path) > os.path.getmtime(newest[stage])):
            newest[stage] = path
    return [newest[stage] for stage in ORDER if stage in newest]


def write(out, into=None):
    """Writes OUT/summary.md and prints it. 0 nothing failed, 1 a check failed, 77 nothing was tried."""
    rows, notes, files = [], [], stage_files(out)
    for path in files:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        rows += [(result["stage"], check) for check in result["checks"]]
        notes += [f"{result['stage']}: {note}" for note in result["notes"]]
    missing = [stage for stage in ORDER if stage not in {row[0] for row in rows}]
    notes += [f"{stage}: not run" for stage in missing]
    text = table(rows, notes)
    with open(os.path.join(out, "summary.md"), "w", encoding="utf-8") as file:
        file.write(text)
    if into:
        lay_out(files, text, into)
    print(text)
    if any(check["verdict"] == "fail" for _, check in rows):
        return 1
    return 0 if any(check["verdict"] == "pass" for _, check in rows) else CANNOT


def lay_out(files, text, into):
    """The table, each stage's checks, and of its archive the files that a reader or a later run wants."""
    os.makedirs(into, exist_ok=True)
    with open(os.path.join(into, "summary.md"), "w", encoding="utf-8") as file:
        file.write(text)
    for path in files:
        shutil.copyfile(path, os.path.join(into, os.path.basename(path)))
        archive = path[:-len(".json")] + ".tar.gz"
        if os.path.exists(archive):
            unpack_kept(archive, into)


def unpack_kept(archive, into):
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            if not member.isfile() or not member.name.endswith(KEPT) or ".." in member.name or member.name.startswith("/"):
                continue
            if member.size > KEPT_BYTES:
                print(f"{member.name} of {member.size} bytes is too large to keep; it stays in {archive}")
                continue
            target = os.path.join(into, member.name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with packed.extractfile(member) as source, open(target, "wb") as file:
                shutil.copyfileobj(source, file)
