# SPDX-License-Identifier: Apache-2.0
"""What a stage found: checks with figure, expectation and verdict, and the files that explain them. Both are on disk
after every check, so that a stage that is killed leaves what it had."""
import json
import os
import shutil
import tarfile
import tempfile
import time

VERDICTS = ("pass", "fail", "skip")
FILE_BYTES = 8 << 20  # of one kept file
ARCHIVE_BYTES = 15 << 20  # of a stage's archive, before compression
PACK_EVERY_S = 20.0


class Record:
    """One stage's checks in OUT/STAGE.json and OUT/STAGE.md, and its files in OUT/STAGE.tar.gz."""

    def __init__(self, out, stage):
        self.out = out
        self.stage = stage
        # Apart from the results: recordings are large, and only chosen files come back from a lent machine.
        self.work = tempfile.mkdtemp(prefix=f"scaleworth-{stage}-")
        self.checks = []
        self.kept = []
        self.notes = []
        self.packed = time.monotonic()
        os.makedirs(out, exist_ok=True)

    def path(self, name):
        return os.path.join(self.work, name)

    def check(self, gate, verdict, figure, expected, why=""):
        """`verdict`: pass, fail or skip; True and False stand for the first two."""
        if isinstance(verdict, bool):
            verdict = "pass" if verdict else "fail"
        assert verdict in VERDICTS, verdict
        self.checks.append({"gate": gate, "verdict": verdict, "figure": str(figure), "expected": str(expected),
                            "why": str(why)})
        self.save()
        if time.monotonic() - self.packed > PACK_EVERY_S:
            self.pack()

    def skip(self, gate, why, expected=""):
        self.check(gate, "skip", "n/a", expected, why)

    def keep(self, *names):
        """Files or folders of the work folder that go into the archive. What is too large stays out, and that is noted."""
        for name in names:
            for path in files_under(self.path(name)):
                inside = os.path.relpath(path, self.work)
                if inside not in self.kept:
                    self.kept.append(inside)

    def save(self):
        with open(os.path.join(self.out, self.stage + ".json.part"), "w", encoding="utf-8") as file:
            json.dump({"stage": self.stage, "checks": self.checks, "notes": self.notes}, file, indent=1)
        os.replace(file.name, os.path.join(self.out, self.stage + ".json"))
        with open(os.path.join(self.out, self.stage + ".md"), "w", encoding="utf-8") as file:
            file.write(table([(self.stage, check) for check in self.checks], self.notes))

    def pack(self):
        """Writes the archive within its limit: the smallest files first, since those explain the most."""
        sized = sorted((os.path.getsize(self.path(name)), name) for name in self.kept if os.path.isfile(self.path(name)))
        total = 0
        target = os.path.join(self.out, self.stage + ".tar.gz")
        with tarfile.open(target + ".part", "w:gz") as archive:
            for size, name in sized:
                if size > FILE_BYTES or total + size > ARCHIVE_BYTES:
                    self.note(f"{name} of {size} bytes is left out: larger than an archive may be")
                    continue
                total += size
                archive.add(self.path(name), arcname=os.path.join(self.stage, name))
        os.replace(target + ".part", target)
        self.packed = time.monotonic()
        self.save()

    def finish(self):
        self.pack()
        shutil.rmtree(self.work, ignore_errors=True)

    def note(self, line):
        if line not in self.notes:
            self.notes.append(line)

    def failed(self):
        return any(check["verdict"] == "fail" for check in self.checks)


def files_under(path):
    if os.path.isfile(path):
        yield path
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            yield os.path.join(folder, name)


def cell(text):
    return str(text).replace("|", "/").replace("\n", " ").strip()


def table(rows, notes=()):
    """A Markdown table of (stage, check), with a count of verdicts above it."""
    counts = {verdict: sum(check["verdict"] == verdict for _, check in rows) for verdict in VERDICTS}
    lines = [f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped", "",
             "| stage | gate | figure | expected | verdict | why |", "|---|---|---|---|---|---|"]
    for stage, check in rows:
        fields = (stage, check["gate"], check["figure"], check["expected"], check["verdict"], check["why"])
        lines.append("| " + " | ".join(cell(field) for field in fields) + " |")
    lines += [""] + [f"- {note}" for note in notes] if notes else []
    return "\n".join(lines) + "\n"
