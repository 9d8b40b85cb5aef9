#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The runner of cases finds each kind of difference. Its program is a script that prints what it is told to."""
import pathlib
import subprocess
import sys
import tempfile

RUNNER = pathlib.Path(__file__).with_name("run_cases.py")
PROGRAM = """#!/bin/sh
cat "$1"
echo "not well" >&2
exit "${2:-0}"
"""
CASE = """# It prints a file.
--- file data/words.txt
scaleworth 1.2
first
second
third
--- run exits 1
scaleworth data/words.txt 1
--- output
scaleworth 1.2
first
second
third
--- output begins
first
second
--- output has
  third
--- output lacks
fourth
--- errors
not well
--- file value.json
{"rows": [{"count": 1}, {"count": 2.5, "cause": null}]}
--- run
scaleworth value.json
--- json
rows[1].count = 2.4 +- 0.2
rows[-1].cause = null
--- file report.txt
scaleworth 1.2: what now?
Take 8, at 3.5 s.
  More of it.
--- run
scaleworth report.txt
"""
# What is changed in the case, and what the runner must say of it.
CHANGES = [
    ("", "", "1 passed, 0 skipped, 0 failed"),
    ("exits 1", "", "exit code 1, not 0"),
    ("exits 1", "exits 2", "exit code 1, not 2"),
    ("third\\n--- output begins", "--- output begins", "+third"),
    ("begins\\nfirst", "begins\\nscaleworth 1.2", "the first lines"),
    ("  third", "thir", "output has no line 'thir'"),
    ("fourth", "cond", "output has 'cond'"),
    ("not well", "well", "-well"),
    ("+- 0.2", "+- 0.05", "rows[1].count is 2.5, not 2.4 +- 0.05"),
    ("cause = null", "cause = 0", "rows[-1].cause is null, not 0"),
    ("rows[-1].cause", "rows[2].cause", "rows[2].cause does not exist"),
    ("# It prints a file.\\n", "", "a case begins with a comment"),
    ("output has", "output like", "is no section"),
    ("Take 8, at", "Take 8, " + 30 * "a " + "at", "the first sentence has 35 words, 30 at most"),
    ("Take 8, at", "Not reliable: too old. Take 8, at", "advice stands beside a doubt"),
]


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        case = pathlib.Path(folder) / "one.case"

        def run(*arguments):
            return subprocess.run([sys.executable, RUNNER, program, case, *arguments], capture_output=True, text=True)

        for old, new, wanted in CHANGES:
            old, new = old.replace("\\n", "\n"), new.replace("\\n", "\n")
            assert old in CASE, old
            case.write_text(CASE.replace(old, new))
            result = run()
            if wanted not in result.stdout or result.returncode != (0 if not old else 1):
                failures += 1
                print(f"'{old}' became '{new}': code {result.returncode}, no '{wanted}' in\n{result.stdout}{result.stderr}")
        case.write_text(CASE.replace("second\n--- output has", "wrong\n--- output has").replace("not well", "x"))
        run("--update")
        if case.read_text() != CASE:
            failures += 1
            print("--update does not write what the program prints:\n" + case.read_text())
    print(f"{len(CHANGES) + 1} changes, {failures} not found")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
