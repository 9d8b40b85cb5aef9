#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Behaviour as text: runs what *.case files and marked blocks of documents say, and compares what the program prints.

    run_cases.py PROGRAM [--update] [-j JOBS] [FILE_OR_FOLDER...]      (default: this folder, README.md and docs/)

A .case file begins with a comment, the sentence that it shows. Then come sections; one ends where the next begins:

    --- file NAME              a file in the folder that the commands run in
    --- run [exits CODE]       one command line, as a shell takes it; without a code it must exit with 0
    --- output                 all that it prints
    --- output begins          its first lines (below the program's name and version)
    --- output has             lines that stand somewhere in it, each whole but for blanks at both ends
    --- output lacks           texts that stand nowhere in it
    --- errors                 all that it prints to stderr; has, lacks as above
    --- json                   PATH = VALUE [+- TOLERANCE]: values of its JSON, such as rows[2].efficiency.value = 0.72 +- 0.005

Of every report the first sentence has at most 30 words, and "Not reliable" no "take 8" beside it.

Commands know $source (the repository) and $shared (public data beside it; where a command or a file needs it and it is
absent, the case is skipped). In a document the command stands in a comment, the block below it is compared:

    <!-- output of: scaleworth ... -->          or          <!-- first lines of output of: scaleworth ... -->
    ```text
    ```
    <!-- end of output -->

--update writes what the program prints in place of what stands under output, output begins and errors, and in documents.
Exit code: 0, 1 where a case failed, 77 where none failed and at least one was skipped.
"""
import argparse
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = SOURCE.parent / "shared"
LIMIT_S = 120
MOST_WORDS = 30
SECTION = re.compile(r"--- (file|run|output|errors|json)(?: (.*))?$")
BLOCK = re.compile(r"<!-- (first lines of )?output of: (scaleworth .*) -->$")
REWRITTEN = {("output", ""), ("output", "begins"), ("errors", "")}


class Malformed(Exception):
    pass


def environment(program, folder):
    """What a user's terminal of 100 columns gives a program, without what this terminal adds."""
    links = pathlib.Path(folder) / ".bin"
    links.mkdir()
    (links / "scaleworth").symlink_to(pathlib.Path(program).resolve())
    kept = {name: os.environ[name] for name in os.environ if not name.startswith(("SCALEWORTH", "OMPI_COMM", "SLURM"))}
    return kept | {"PATH": f"{links}:{os.environ['PATH']}", "COLUMNS": "100", "NO_COLOR": "1", "source": str(SOURCE), "shared": str(SHARED)}


def run(command, folder, variables):
    return subprocess.run(["bash", "-c", command], cwd=folder, env=variables, capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=LIMIT_S)


def write_file(folder, name, body):
    file = pathlib.Path(folder) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(body + "\n")


def first_lines(text, count):
    """The program's name and version come before the answer."""
    lines = text.splitlines()
    return "\n".join(lines[1 if lines and re.match(r"scaleworth \d", lines[0]) else 0:][:count])


def different(what, wanted, found):
    lines = difflib.unified_diff(wanted.splitlines(), found.splitlines(), "the case", "the program", lineterm="")
    return f"{what}:\n" + "\n".join(f"    {line}" for line in lines)


def at_path(value, path):
    for name, index in re.findall(r"([^.\[\]]+)|\[(-?\d+)\]", path):
        value = value[name] if name else value[int(index)]
    return value


def json_faults(body, text):
    try:
        document = json.loads(text)
    except ValueError as error:
        return [f"the output is no JSON: {error}"]
    faults = []
    for line in filter(None, map(str.strip, body.splitlines())):
        match = re.fullmatch(r"(\S+) = (.*?)(?: \+- (\S+))?", line)
        if not match:
            raise Malformed(f"'{line}' is not PATH = VALUE [+- TOLERANCE]")
        path, wanted, tolerance = match[1], json.loads(match[2]), match[3]
        try:
            found = at_path(document, path)
        except (KeyError, IndexError, TypeError):
            faults.append(f"{path} does not exist")
            continue
        near = tolerance and isinstance(found, (int, float)) and abs(found - wanted) <= float(tolerance)
        if not near and found != wanted:
            faults.append(f"{path} is {json.dumps(found)}, not {line.partition(' = ')[2]}")
    return faults


def paragraph_below_the_title(text):
    """What a report answers, in text or JSON; empty for other output."""
    if text.startswith("{"):
        try:
            document = json.loads(text)
        except ValueError:
            return ""
        return (document.get("verdict") or document).get("headline", "")
    lines = text.splitlines()
    if not lines or not re.match(r"scaleworth [\d.]+: .*\?$", lines[0]):
        return ""
    end = next((i for i, line in enumerate(lines) if i > 0 and (not line or line.startswith("  "))), len(lines))
    return " ".join(lines[1:end])


def sentence_faults(text):
    """The first sentence says what, how much and what now, in so many words; no advice stands beside a doubt."""
    answer = paragraph_below_the_title(text)
    first = re.split(r"\.(?: |$)", answer)[0]
    faults = [] if len(first.split()) <= MOST_WORDS else [f"the first sentence has {len(first.split())} words, {MOST_WORDS} at most: {first}"]
    if answer.startswith("Not reliable") and re.search(r"\b[Tt]ake \d", answer):
        faults.append(f"advice stands beside a doubt: {answer}")
    return faults


def faults_of(kind, how, body, result):
    """What a section finds wrong with what a command printed."""
    text = result.stderr if kind == "errors" else result.stdout
    if kind == "json":
        return json_faults(body, text)
    if how == "":
        return [] if text.rstrip("\n") == body.rstrip("\n") else [different(kind, body, text)]
    if how == "begins":
        found = first_lines(text, len(body.splitlines()))
        return [] if found == body.rstrip("\n") else [different("the first lines", body, found)]
    wanted = [line.strip() for line in body.splitlines() if line.strip()]
    if how == "has":
        lines = {line.strip() for line in text.splitlines()}
        return [f"{kind} has no line '{line}'\n" + "".join(f"    | {found}\n" for found in text.splitlines()[:40]) for line in wanted if line not in lines]
    if how == "lacks":
        return [f"{kind} has '{line}'" for line in wanted if line in text]
    raise Malformed(f"'--- {kind} {how}' is no section")


def sections(text):
    """The sentence of a case, and its sections as [kind, how, body]."""
    found, head = [], []
    for line in text.splitlines():
        match = SECTION.fullmatch(line)
        if match:
            found.append([match[1], match[2] or "", []])
        elif found:
            found[-1][2].append(line)
        else:
            head.append(line)
    if not head or not head[0].startswith("# ") or not any(kind == "run" for kind, _, _ in found):
        raise Malformed("a case begins with a comment that says what it shows, and has a command under '--- run'")
    return head, [[kind, how, "\n".join(body)] for kind, how, body in found]


def check_case(path, program, update):
    """Faults of a .case file; None where it is skipped."""
    head, parts = sections(path.read_text())
    if not SHARED.is_dir() and any("$shared" in body for _, _, body in parts):
        return None
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        variables = environment(program, folder)
        result = None
        for part in parts:
            kind, how, body = part
            if kind == "file":
                write_file(folder, how, body)
            elif kind == "run":
                code = int(how.removeprefix("exits ")) if how else 0
                result = run(body, folder, variables)
                faults += sentence_faults(result.stdout)
                if result.returncode != code:
                    faults.append(f"exit code {result.returncode}, not {code}\n" + "".join(f"    | {line}\n" for line in result.stderr.splitlines()[:20]))
            elif result is None:
                raise Malformed(f"'--- {kind}' stands before '--- run'")
            elif update and (kind, how) in REWRITTEN:
                text = result.stderr if kind == "errors" else result.stdout
                part[2] = (first_lines(text, len(body.splitlines())) if how else text).rstrip("\n")
            else:
                faults += faults_of(kind, how, body, result)
    if update:
        path.write_text("\n".join(head) + "\n" + "".join(f"--- {kind}{' ' + how if how else ''}\n" + (f"{body}\n" if body else "") for kind, how, body in parts))
    return faults


def check_document(path, program, update):
    """Faults of a document's marked blocks; None where an input of one is absent."""
    faults, written, skipped = [], [], False
    lines = iter(path.read_text().splitlines())
    with tempfile.TemporaryDirectory() as folder:
        variables = environment(program, folder)
        for line in lines:
            written.append(line)
            match = BLOCK.fullmatch(line)
            if not match:
                continue
            block = []
            for line in lines:
                if line == "<!-- end of output -->":
                    break
                block.append(line)
            else:
                raise Malformed(f"nothing ends the block of '{match[2]}'")
            shown = "\n".join(text for text in block if not text.startswith("```"))
            inputs = [word for word in match[2].split()[2:] if "/" in word and not word.startswith("-")]
            if all((SOURCE / word).exists() for word in inputs):
                result = run(match[2], SOURCE, variables)
                faults += sentence_faults(result.stdout)
                found = (first_lines(result.stdout, len(shown.splitlines())) if match[1] else result.stdout).rstrip("\n")
                if found != shown and not update:
                    faults.append(different(match[2], shown, found))
                block = ["```text", *found.splitlines(), "```"] if update else block
            else:
                skipped = True
            written += [*block, line]
    if update:
        path.write_text("\n".join(written) + "\n")
    return None if skipped and not faults else faults


def check(path, program, update):
    try:
        return path, (check_case if path.suffix == ".case" else check_document)(path, program, update)
    except Malformed as error:
        return path, [str(error)]
    except subprocess.TimeoutExpired as error:
        return path, [f"no end after {LIMIT_S} s: {error.cmd[-1]}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="write what the program prints into the cases and documents")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    options = parser.parse_intermixed_args()
    files = []
    for path in options.paths or [SOURCE / "tests" / "cases", SOURCE / "README.md", SOURCE / "docs"]:
        files += sorted([*path.rglob("*.case"), *path.rglob("*.md")]) if path.is_dir() else [path]
    counts = {"passed": 0, "skipped": 0, "failed": 0}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, faults in pool.map(lambda file: check(file, options.program, options.update), files):
            outcome = "skipped" if faults is None else "failed" if faults else "passed"
            counts[outcome] += 1
            if outcome != "passed":
                print(f"{outcome}: {path}", *(faults or []), sep="\n  ")
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["failed"] or not counts["passed"] else 77 if counts["skipped"] else 0


if __name__ == "__main__":
    sys.exit(main())
