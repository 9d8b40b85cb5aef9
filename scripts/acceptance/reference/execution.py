# SPDX-License-Identifier: Apache-2.0
"""Programs under a time limit, each in a process group of its own, of which nothing is left running."""
import dataclasses
import os
import signal
import subprocess
import time

GRACE_S = 10.0
CUT_OFF = 124
LEAST_S = 15.0  # with less left nothing is begun


class OutOfTime(Exception):
    """The stage has no time for another program."""


@dataclasses.dataclass
class Ended:
    code: int  # as a shell gives it; 124: cut off at its limit
    seconds: float
    out: str
    err: str

    def last_words(self):
        lines = [line for line in (self.err or self.out).splitlines() if line.strip()]
        return lines[-1][:300] if lines else ""


class Deadline:
    """What is left of a stage's time; a program gets its own limit or the rest, whichever is shorter."""

    def __init__(self, seconds):
        self.end = time.monotonic() + seconds

    def left(self):
        return max(0.0, self.end - time.monotonic())

    def allows(self, seconds):
        return self.left() >= seconds


def end_group(process):
    """Ends whatever the program started: politely first."""
    for number, patience in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue


def shell_code(code):
    return 128 - code if code < 0 else code


class Running:
    """A program whose output goes to NAME.out and NAME.err of the record's work folder, both kept."""

    def __init__(self, record, name, command, environment=None):
        self.paths = [record.path(name + suffix) for suffix in (".out", ".err")]
        self.begin = time.monotonic()
        with open(self.paths[0], "wb") as out, open(self.paths[1], "wb") as err:
            self.process = subprocess.Popen([str(part) for part in command], stdout=out, stderr=err,
                                            stdin=subprocess.DEVNULL, start_new_session=True,
                                            env={**os.environ, **(environment or {})})
        record.keep(name + ".out", name + ".err")

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def wait(self, limit_s):
        cut_off = False
        try:
            self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            cut_off = True
        end_group(self.process)
        code = CUT_OFF if cut_off else shell_code(self.process.returncode)
        texts = []
        for path in self.paths:
            with open(path, encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
        return Ended(code, time.monotonic() - self.begin, *texts)


def run(record, name, command, limit_s, deadline=None, environment=None):
    """Raises OutOfTime before it begins what could not end."""
    if deadline is not None and not deadline.allows(LEAST_S):
        raise OutOfTime(name)
    limit = limit_s if deadline is None else min(limit_s, max(1.0, deadline.left() - GRACE_S))
    return Running(record, name, command, environment).wait(limit)
