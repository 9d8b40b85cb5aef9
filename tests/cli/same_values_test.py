# SPDX-License-Identifier: Apache-2.0
"""Recordings and tables of equal values get equal answers, however they are written.

Usage: same_values_test.py PROGRAM SOURCE_DIR [--all] [RECORDING...]
Each recording of Chrome's JSON is written anew: compact; indented, with spaces in lists; with members of objects the
other way round; with events and members shuffled. `attribute` must say the same of all. So must `decide` of a table
whose columns stand in another order.
Small recordings by default, all at hand with --all."""
import csv
import gzip
import io
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile

arguments = [argument for argument in sys.argv[1:] if argument != "--all"]
every_size = "--all" in sys.argv
program, source = arguments[0], pathlib.Path(arguments[1])
shared = source.parent / "shared"
most_bytes = None if every_size else 300_000
random.seed(7)


def reversed_members(value):
    if isinstance(value, dict):
        return {key: reversed_members(item) for key, item in reversed(value.items())}
    return [reversed_members(item) for item in value] if isinstance(value, list) else value


def shuffled_members(value):
    if isinstance(value, dict):
        keys = list(value)
        random.shuffle(keys)
        return {key: shuffled_members(value[key]) for key in keys}
    return [shuffled_members(item) for item in value] if isinstance(value, list) else value


def shuffled_events(document):
    events = document["traceEvents"] if isinstance(document, dict) else document
    events = random.sample(events, len(events))
    return shuffled_members({**document, "traceEvents": events} if isinstance(document, dict) else events)


def has_events(document):
    """Other files, as programs of other kinds write them, are refused for their content."""
    events = document.get("traceEvents") if isinstance(document, dict) else document
    return isinstance(events, list) and all(isinstance(event, dict) for event in events)


def events_backwards(document):
    events = document["traceEvents"] if isinstance(document, dict) else document
    return {**document, "traceEvents": events[::-1]} if isinstance(document, dict) else events[::-1]


def compact(document):
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


spellings = {
    "compact": compact,
    "indented": lambda document: json.dumps(document, indent=4, separators=(" ,", " : ")),
    "members the other way round": lambda document: compact(reversed_members(document)),
    "events backwards": lambda document: json.dumps(events_backwards(document)),
    "shuffled": lambda document: compact(shuffled_events(document)),
}


def made_rank(rank):
    """Operators with the dimensions of their inputs, the kernels that they launch, and an all-reduce; rank 1 gets larger
    inputs in its last steps. One operator has the id 0, which is no missing id."""
    events = [{"ph": "M", "name": "process_name", "pid": 5, "tid": 0, "args": {"name": "python"}}]
    number = 0

    def add(name, category, start, length, pid, tid, **arguments):
        events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length,
                       "args": arguments})

    for step in range(8):
        start = 1000 * step
        add("ProfilerStep#%d" % step, "user_annotation", start, 1000, 5, 9)
        time = start + 20
        for product in range(4):
            rows = 256 if rank == 1 and step > 3 else 128
            length = 100 if rows == 128 else 180
            external = {"External id": number} if number % 5 != 4 else {}
            add("aten::mm", "cpu_op", start + 10 * product, 5, 5, 9, **external, **{"Input Dims": [[rows, 64], [64, 8]]})
            add("cudaLaunchKernel", "cuda_runtime", start + 10 * product + 1, 2, 5, 9, correlation=number + 1, **external)
            add('gemm<float, "ä/b">', "kernel", time, length, 0, 7, device=0, stream=7, correlation=number + 1,
                grid=[4, 2, 1], block=[128, 1, 1], **external)
            time += length
            number += 1
        end = start + 20 + 4 * (180 if step > 3 else 100) + 40
        add("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "kernel", time, end - time, 0, 8,
            **{"device": 0, "stream": 8, "correlation": 1000 + step, "Collective name": "allreduce", "dtype": "Float",
               "In msg nelems": 1024, "Out msg nelems": 1024, "Group size": 2, "Process Group Name": "0",
               "Process Group Ranks": "[0, 1]"})
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 2},
            "baseTimeNanoseconds": 0, "traceEvents": events, "traceName": "t.json"}


def answer(command, inputs, *flags):
    done = subprocess.run([program, command, *map(str, inputs), *flags, "--format", "json"], capture_output=True, text=True)
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr.replace(str(inputs[0]), "")


def difference(before, after):
    if before[0] != after[0]:
        return f"exit codes {before[0]} and {after[0]}: {before[1] if before[0] else after[1]}"
    for old, new in zip(before[1].splitlines(), after[1].splitlines()):
        if old != new:
            return f"\n  - {old[:300]}\n  + {new[:300]}"
    return "one says more"


def text_of(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def members_of(archive, folder):
    with tarfile.open(archive) as tar:
        for member in tar:
            if member.isfile() and member.name.endswith((".json", ".json.gz")):
                (folder / pathlib.Path(member.name).name).write_bytes(tar.extractfile(member).read())


def recorded_jobs(folder):
    """Lists of files, each of one job."""
    given = [pathlib.Path(argument) for argument in arguments[2:]]
    if given:
        yield given
        return
    made = folder / "made"
    made.mkdir()
    for rank in range(2):
        (made / f"rank{rank}.json").write_text(json.dumps(made_rank(rank), ensure_ascii=False))
    yield sorted(made.iterdir())
    yield from ([path] for path in sorted((source / "tests/fuzz/corpus/kineto").glob("*.json")))
    for case in sorted((shared / "cases/traces").glob("*")):
        if case.is_dir():
            yield sorted(case.glob("*.json"))
        elif case.suffix == ".tgz":
            unpacked = folder / case.stem
            unpacked.mkdir()
            members_of(case, unpacked)
            yield sorted(unpacked.iterdir())
    for path in sorted((shared / "data/traces").rglob("*.json*")):
        yield [path]
    yield sorted((shared / "data/traces/dlrm_8xv100").glob("*.gz"))


def compare_job(paths, folder):
    documents = {}
    for path in paths:
        try:
            documents[path.name.removesuffix(".gz")] = json.loads(text_of(path))
        except ValueError:
            return 0  # damaged on purpose
    documents = {name: document for name, document in documents.items() if has_events(document)}
    if not documents or (most_bytes and sum(len(text_of(path)) for path in paths) > most_bytes):
        return 0
    before = None
    for name, write in spellings.items():
        # One place for all: names of files are part of the answer.
        shutil.rmtree(folder / "job", ignore_errors=True)
        (folder / "job").mkdir()
        for file, document in documents.items():
            (folder / "job" / file).write_text(write(document))
        after = answer("attribute", [folder / "job"])
        before = before or after
        assert before == after, (f"{paths[0]}: {name}: " + difference(before, after))
    return len(spellings)


def compare_table(path, folder):
    rows = [row for row in csv.reader(io.StringIO(path.read_text())) if row and not row[0].startswith("#")]
    widths = {len(row) for row in rows}
    if len(rows) < 2 or len(widths) != 1 or widths == {1}:
        return 0
    if not any(character.isalpha() for character in "".join(rows[0])):
        return 0  # its header began with #; without one the order of the columns says what they are
    before = None
    columns = list(range(len(rows[0])))
    for order in [columns, columns[::-1], random.sample(columns, len(columns))]:
        table = folder / "table.csv"
        with table.open("w", newline="") as file:
            csv.writer(file).writerows([row[column] for column in order] for row in rows)
        after = answer("decide", [table])
        before = before or after
        if before[0] and before[0] == after[0]:
            continue  # what is missing or one too many is listed as it stands in the table
        assert before == after, (f"{path}: columns {order}: " + difference(before, after))
    return 3


compared = failed = 0
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    tables = [*sorted(source.glob("tests/**/*.csv")), *sorted((shared / "cases/tables").glob("*.csv"))]
    tables += sorted((shared / "data/models").glob("*.csv"))
    work = [(compare_job, paths) for paths in recorded_jobs(folder)]
    work += [(compare_table, path) for path in tables if every_size or path.stat().st_size < 5000]
    for compare, what in work:
        try:
            compared += compare(what, folder)
        except AssertionError as difference_found:
            failed += 1
            print("FAILED:", difference_found)
assert compared >= 20, f"only {compared} answers were compared: nothing to compare is at hand"
print(f"{compared} answers are compared, {failed} inputs differ by how they are written")
sys.exit(failed > 0)
