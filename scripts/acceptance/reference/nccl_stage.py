# SPDX-License-Identifier: Apache-2.0
"""The stage `nccl`: ranks that share one GPU over the loopback network. It shows the mechanism (results verified, ways
forced and predicted, kernels and the profiler's events one to one), and no figure of an interconnect."""
import os
import shutil

from reference import figures
from reference.execution import run
from reference.place import SCRIPTS
from reference.recordings import attribute, check_ledger, recorded_line

LIMIT_S = 170
NOTHING = 3
CANNOT = 77


def capture(place, record):
    """Before all else: without kernel and call one to one, what later stages say of collectives means nothing."""
    gate = "a known sequence of collectives: kernel and call one to one"
    program = os.path.join(place.build, "tests", "gpu", "nccl", "nccl_sequence")
    if not os.access(program, os.X_OK):
        record.skip(gate, f"{program} was not built")
        return
    script = os.path.join(SCRIPTS, "..", "..", "tests", "gpu", "nccl", "capture_on_gpu.sh")
    ended = run(record, "capture", ["bash", script, os.path.abspath(place.program), os.path.abspath(program)], 150, place.deadline)
    lines = ended.out.strip().splitlines()
    verdict = place.without_gpu() if ended.code == CANNOT else ended.code == 0
    record.check(gate, verdict, lines[0] if lines else f"exit code {ended.code}", "kinds and bytes exact on 2 ranks", " / ".join(lines[1:4]))


def nccl(place, record):
    one_rank(place, record)
    for ranks in (2, 3):
        swept(place, record, ranks)
    matched(place, record, 2)


def one_rank(place, record):
    programs = [path for path in place.test_programs() if os.path.basename(path) == "gpu_nccl"]
    if not programs:
        record.skip("1 rank: own tests", "gpu_nccl was not built")
        return
    ended = run(record, "one-rank", programs, 120, place.deadline)
    verdict = "skip" if ended.code == 77 else ended.code == 0
    last = [line for line in ended.out.splitlines() if line.strip()]
    record.check("1 rank: own tests", verdict, last[-1] if last else f"exit code {ended.code}", "all pass", ended.err.strip()[:200])


def command_of(place, ranks, out, command="comm", probe="comm.nccl"):
    own = [place.program, command, "--machine", "cuda", "--suite", "quick", "--quiet", "--only", probe, "--shared-gpu",
           "--rank", "{rank}", "--world-size", "{ranks}", "--rendezvous", f"127.0.0.1:{29600 + ranks}", "--out", out]
    return place.ranks(ranks, own)


def swept(place, record, ranks):
    folder = record.path(f"ranks-{ranks}")
    shutil.rmtree(folder, ignore_errors=True)
    ended = run(record, f"ranks-{ranks}", command_of(place, ranks, folder), LIMIT_S, place.deadline)
    source = os.path.join(folder, "run.json")
    if ended.code == NOTHING or not os.path.exists(source):
        verdict = place.without_gpu() if ended.code == NOTHING else "fail"
        record.check(f"{ranks} ranks: swept", verdict, f"exit code {ended.code}", "exit code 0", ended.last_words())
        return
    record.keep(f"ranks-{ranks}/run.json")
    tell_sweep(record, ranks, figures.load(source), ended)


def tell_sweep(record, ranks, result, ended):
    points = figures.nccl_points(result)
    record.check(f"{ranks} ranks: swept and verified", ended.code == 0 and bool(points),
                 f"{len(points)} settings in {ended.seconds:.0f} s", "every result right (a wrong one fails)",
                 "" if ended.code == 0 else ended.last_words())
    shared = all(point["setting"].get("shared_gpu") for point in points)
    record.check(f"{ranks} ranks: labelled as sharing a GPU", shared and bool(points), shared, True)
    offered, forced = figures.offered_ways(result), figures.forced_ways(result)
    record.check(f"{ranks} ranks: ways predicted", bool(offered), ", ".join(offered) or "none", "at least one")
    ran = sum(counts[1] for counts in forced.values())
    asked = sum(counts[0] for counts in forced.values())
    missing = [way for way in offered if way not in forced]
    record.check(f"{ranks} ranks: ways forced", asked > 0 and ran == asked and not missing,
                 "; ".join(f"{way} {counts[1]}/{counts[0]}" for way, counts in sorted(forced.items())) or "none",
                 "each way that is predicted, and it is what ran", f"not forced: {', '.join(missing)}" if missing else "")


def matched(place, record, ranks):
    """The training step under `trace`: every collective of it is launched by itself, so that NCCL tells of each one. Of
    those that a CUDA graph replays, as some in the sweep, it tells nothing."""
    folder, out = record.path("recorded"), record.path("recorded-run")
    for path in (folder, out):
        shutil.rmtree(path, ignore_errors=True)
    if not place.deadline.allows(60):
        record.skip("NCCL's events and kernels one to one", "no time left in this stage")
        return
    ended = run(record, "recorded.trace", place.trace(folder, command_of(place, ranks, out, "step", "step.training")), LIMIT_S, place.deadline)
    line = recorded_line(ended)
    if line is None:
        record.check("NCCL's events and kernels one to one", place.without_gpu(), f"nothing recorded, exit code {ended.code}",
                     "a recording", ended.last_words())
        return
    attribution = attribute(place, record, "recorded", folder)
    if attribution is None:
        return
    check_ledger(record, "NCCL recorded", attribution)
    said, listed, alone = figures.spoken_for(attribution)
    record.check("NCCL's events and kernels one to one", listed > 0 and said == listed and alone == 0,
                 f"{said} of {listed} collectives with algorithm, {alone} kernels without partner", "all, 0")
