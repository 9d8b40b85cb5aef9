# SPDX-License-Identifier: Apache-2.0
"""The stage `faults`: what a person meets when memory is out, a run is interrupted or killed, a rank stays away, or
another tool has CUPTI. Nothing may hang, and what was recorded has to be readable."""
import os
import re
import shutil
import signal
import time

from reference.execution import CUT_OFF, Running, run
from reference.place import SCRIPTS, why_no_torch
from reference.recordings import attribute, check_ledger, recorded_line, recordings_of

CANNOT = 77
NOTHING = 3
GIBIBYTE = 1 << 30
CRASHES = (128 + signal.SIGSEGV, 128 + signal.SIGABRT, 128 + signal.SIGBUS, 128 + signal.SIGFPE)


def faults(place, record):
    absent = rank_that_stays_away(place, record)
    try:
        out_of_memory(place, record)
        for number in (signal.SIGINT, signal.SIGKILL):
            ended_while_recording(place, record, number)
        second_subscriber(place, record)
        exhausted_while_recording(place, record)
    finally:
        tell_absent(place, record, absent)


def workload(place, record, name):
    """Something that works on the GPU for longer than anybody waits."""
    if place.workload:
        return place.workload
    if why_no_torch(place.python) is None:
        return place.training("--steps", "100000")
    out = record.path(name + "-run")
    shutil.rmtree(out, ignore_errors=True)
    return [place.program, "bench", "--machine", "cuda", "--suite", "standard", "--quiet", "--out", out]


def rank_that_stays_away(place, record):
    command = [place.program, "comm", "--machine", "cuda", "--quiet", "--only", "comm.nccl", "--shared-gpu", "--rank", "0",
               "--world-size", "2", "--rendezvous", "127.0.0.1:29571", "--out", record.path("absent-run")]
    return Running(record, "absent", command)


def tell_absent(place, record, absent):
    ended = absent.wait(max(5.0, 100.0 - (time.monotonic() - absent.begin)))
    named = re.search(r"rank 1 never came", ended.err + ended.out) is not None
    if ended.code == NOTHING and not named:
        record.check("a rank never arrives", place.without_gpu(), "exit code 3", "a failure", ended.last_words())
        return
    record.check("a rank never arrives", ended.code not in (0, CUT_OFF) and named, f"exit code {ended.code} after {ended.seconds:.0f} s",
                 "ends within 100 s and says which rank is missing", ended.last_words())


def out_of_memory(place, record):
    holder = Running(record, "holder", [place.python, os.path.join(SCRIPTS, "workloads", "hold_memory.py"), str(2 * GIBIBYTE), "110"])
    held = wait_for(lambda: "held" in text_of(holder.paths[0]) or holder.process.poll() is not None, 60)
    if not held or holder.process.poll() is not None:
        ended = holder.wait(1)
        record.skip("out of memory", f"memory cannot be taken: {ended.last_words()}")
        return
    out = record.path("no-memory-run")
    shutil.rmtree(out, ignore_errors=True)
    command = [place.program, "roofline", "--machine", "cuda", "--suite", "quick", "--only",
               "roofline.gpu.memory,roofline.gpu.gemm", "--out", out]
    ended = run(record, "no-memory", command, 100, place.deadline)
    holder.wait(0.1)
    readable = os.path.exists(os.path.join(out, "run.json"))
    told = re.search(r"memory|GiB|does not fit|smaller", ended.out + ended.err) is not None
    record.check("out of memory", ended.code in (0, 1, NOTHING) and readable and told, f"exit code {ended.code} after {ended.seconds:.0f} s",
                 "smaller sizes or a reason, no crash, a readable run", ended.last_words())
    if readable:
        record.keep("no-memory-run/run.json")


def text_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def wait_for(condition, limit_s):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def process_of(recording):
    """The process that writes a file: its name is STEM.HOST.PROCESS.swtrace."""
    found = re.search(r"\.(\d+)\.swtrace$", recording)
    return int(found.group(1)) if found else None


def ended_while_recording(place, record, number):
    """Ctrl-C reaches the whole group, as from a terminal; SIGKILL the recorded process alone."""
    gate = "Ctrl-C during capture" if number == signal.SIGINT else "SIGKILL during capture"
    name = "interrupted" if number == signal.SIGINT else "killed"
    folder = record.path(name)
    shutil.rmtree(folder, ignore_errors=True)
    running = Running(record, name, place.trace(folder, workload(place, record, name)))
    enough = 9 << 10 if place.short else 200 << 10
    grown = wait_for(lambda: any(os.path.getsize(path) > enough for path in recordings_of(folder)) or
                     running.process.poll() is not None, 60)
    if not grown or running.process.poll() is not None:
        ended = running.wait(1)
        record.skip(gate, f"nothing was being recorded after {ended.seconds:.0f} s: {ended.last_words()}")
        return
    time.sleep(0.2 if place.short else 3)
    if number == signal.SIGINT:
        running.signal(number)
    else:
        largest = max(recordings_of(folder), key=os.path.getsize)
        os.kill(process_of(largest), number)
    ended = running.wait(45)
    line = recorded_line(ended)
    record.check(gate, ended.code not in (0, CUT_OFF) and ended.code not in CRASHES and line is not None,
                 f"exit code {ended.code}" + ("" if line is None else f", {line[1]} kernels and copies"),
                 "ends by itself, the recording is told", ended.last_words())
    attribution = attribute(place, record, name, folder)
    if attribution is not None:
        check_ledger(record, gate, attribution)


def second_subscriber(place, record):
    """torch.profiler inside of `trace`."""
    why = why_no_torch(place.python)
    if why:
        record.skip("a second CUPTI subscriber", why)
        return
    folder = record.path("second")
    shutil.rmtree(folder, ignore_errors=True)
    command = place.training("--profile", record.path("second.trace.json"))
    ended = run(record, "second.trace", place.trace(folder, command), 100, place.deadline)
    line = recorded_line(ended)
    if not place.gpus and line is None:
        record.skip("a second CUPTI subscriber", ended.last_words())
        return
    record.check("a second CUPTI subscriber", ended.code not in CRASHES and ended.code != CUT_OFF and line is not None,
                 f"exit code {ended.code}" + ("" if line is None else f", {line[1]} kernels and copies"),
                 "the program lives, and it is said who listens", words_on_cupti(ended))
    if line is not None and line[1] > 0:
        attribution = attribute(place, record, "second", folder)
        if attribution is not None:
            check_ledger(record, "a second CUPTI subscriber", attribution)


def words_on_cupti(ended):
    lines = [line for line in ended.err.splitlines() if re.search("cupti|subscri", line, re.IGNORECASE)]
    return " / ".join(lines[:3])[:400]


def exhausted_while_recording(place, record):
    why = why_no_torch(place.python)
    if why:
        record.skip("a recorded program runs out of memory", why)
        return
    folder = record.path("exhausted")
    shutil.rmtree(folder, ignore_errors=True)
    ended = run(record, "exhausted.trace", place.trace(folder, place.training("--exhaust")), 100, place.deadline)
    line = recorded_line(ended)
    record.check("a recorded program runs out of memory", ended.code == 1 and line is not None and line[1] > 0,
                 f"exit code {ended.code}" + ("" if line is None else f", {line[1]} kernels and copies"),
                 "the program's own exit code, the recording is told",
                 next((text for text in ended.err.splitlines() if "out of memory" in text), "")[:300])
    attribution = attribute(place, record, "exhausted", folder)
    if attribution is not None:
        check_ledger(record, "a recorded program runs out of memory", attribution)
