# SPDX-License-Identifier: Apache-2.0
"""The stages of the reference measurements on made-up results: verdicts, what is kept, what is left out, and why."""
import json
import os
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock

source = sys.argv.pop(1)
sys.path.insert(0, os.path.join(source, "scripts", "acceptance"))
sys.dont_write_bytecode = True
import compare_ledgers  # noqa: E402
from reference import figures, nccl_stage, recordings, summary, training_stage  # noqa: E402
from reference import record as records  # noqa: E402
from reference.execution import CUT_OFF, Deadline, Ended, OutOfTime, run  # noqa: E402
from reference.place import Place  # noqa: E402


def row(start=0, end=1000, excluded="", **parts):
    ledger = {part: 0 for part in figures.PARTS}
    ledger.update({"compute_ns": end - start, "start_ns": start, "end_ns": end, "excluded": excluded})
    ledger.update(parts)
    return ledger


def attribution(rows, listed=(), losses=None, unmatched=0):
    return {"ledger": rows, "recordings": [{"losses": losses or {}}],
            "collectives": {"listed": [{"algorithm": way} for way in listed], "unmatched_kernels": unmatched}}


def swept(points):
    return {"probes": [{"name": "comm.nccl", "points": points}]}


def predicted_points(ways):
    settings = [dict(zip(("predicted_algorithm", "predicted_protocol"), way.split("/"))) for way in ways]
    return [{"setting": setting, "amounts": {"predicted_s": 1e-6}} for setting in settings]


def way_point(asked, ran):
    algorithm, protocol = asked.split("/") if asked else ("", "")
    parameters = {"algorithm": algorithm, "protocol": protocol, "shared_gpu": True}
    if ran:
        parameters["ran_algorithm"], parameters["ran_protocol"] = ran.split("/")
    return {"setting": parameters, "amounts": {}}


class InFolder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.record = records.Record(self.folder.name, "nccl")

    def tearDown(self):
        self.record.finish()
        self.folder.cleanup()

    def verdicts(self):
        return {check["gate"]: check["verdict"] for check in self.record.checks}

    def write(self, name, size):
        path = self.record.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(os.urandom(size))
        self.record.keep(name)


class Recording(InFolder):
    def test_checks_are_on_disk_at_once(self):
        self.record.check("a gate", True, 5, ">= 4")
        self.record.skip("another", "no | GPU\nhere")
        with open(os.path.join(self.folder.name, "nccl.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("1 passed, 0 failed, 1 skipped", text)
        self.assertIn("| nccl | another | n/a |  | skip | no / GPU here |", text)

    def test_an_archive_stays_within_its_limits_and_says_what_is_left_out(self):
        for name, size in (("small.txt", 100), ("deep/huge.bin", 801), ("large0.bin", 500), ("large1.bin", 500)):
            self.write(name, size)
        with unittest.mock.patch.multiple(records, FILE_BYTES=800, ARCHIVE_BYTES=1000):
            self.record.pack()
        with tarfile.open(os.path.join(self.folder.name, "nccl.tar.gz")) as packed:
            self.assertEqual(sorted(packed.getnames()), ["nccl/large0.bin", "nccl/small.txt"])
        self.assertEqual([note.split()[0] for note in self.record.notes], ["large1.bin", "deep/huge.bin"])


class Running(InFolder):
    def test_a_program_that_hangs_is_cut_off_with_its_children(self):
        begin = time.monotonic()
        ended = run(self.record, "hang", ["bash", "-c", "sleep 60 & echo begun; wait"], 0.5)
        self.assertEqual(ended.code, CUT_OFF)
        self.assertEqual(ended.out, "begun\n")
        self.assertLess(time.monotonic() - begin, 30)

    def test_a_signal_is_told_as_a_shell_tells_it(self):
        self.assertEqual(run(self.record, "killed", ["bash", "-c", "kill -KILL $$"], 20).code, 137)

    def test_no_program_is_begun_that_could_not_end(self):
        with self.assertRaises(OutOfTime):
            run(self.record, "late", ["touch", self.record.path("begun")], 50, Deadline(0.1))
        self.assertFalse(os.path.exists(self.record.path("begun")))


class Ledgers(InFolder):
    def test_a_step_that_does_not_sum_fails(self):
        recordings.check_ledger(self.record, "x", attribution([row(), row(compute_ns=999)]))
        self.assertEqual(self.verdicts()["x: parts sum to the step"], "fail")
        self.assertEqual(self.verdicts()["x: nothing lost"], "pass")

    def test_dropped_records_fail(self):
        recordings.check_ledger(self.record, "x", attribution([row()], losses={"dropped_records": 3, "unwritten_bytes": 0}))
        self.assertEqual(self.verdicts(), {"x: parts sum to the step": "pass", "x: nothing lost": "fail"})

    def test_two_views_of_the_same_steps_are_held_against_the_step(self):
        ours = attribution([row(excluded="warm-up", end=9000), row(compute_ns=900, host_late_ns=100)])
        theirs = attribution([row(compute_ns=892, host_late_ns=108)])
        rows = compare_ledgers.differences(ours, theirs)
        self.assertAlmostEqual(compare_ledgers.largest(rows)[3], -0.008)
        training_stage.tell_difference(self.record, ours, theirs)
        self.assertEqual(self.verdicts(), {"Kineto's export agrees with ours": "pass"})
        training_stage.tell_difference(self.record, ours, attribution([row(compute_ns=880, host_late_ns=120)]))
        self.assertEqual(self.verdicts(), {"Kineto's export agrees with ours": "fail"})

    def test_a_recording_without_steps_has_no_agreement(self):
        self.assertEqual(compare_ledgers.differences(attribution([]), attribution([row()])), [])

    def test_the_commands_summary_is_read(self):
        ended = Ended(0, 1.0, "", "scaleworth trace: job: 1 file of 1 rank, 1500 kernels and copies, 7 host events, 2 dropped\n")
        self.assertEqual(recordings.recorded_line(ended), (1, 1500, 7, 2))
        self.assertIsNone(recordings.recorded_line(Ended(1, 1.0, "", "nothing was recorded")))


class Overhead(InFolder):
    def test_ours_may_not_cost_more_than_torchs(self):
        training_stage.tell_overhead(self.record, {"plain": [1.0, 1.0], "trace": [1.02], "torch.profiler": [1.1]})
        self.assertEqual(self.record.checks[-1]["figure"], "plain +0.00 %; trace +2.00 %; torch.profiler +10.00 %")
        training_stage.tell_overhead(self.record, {"plain": [1.0], "trace": [1.2], "torch.profiler": [1.1]})
        training_stage.tell_overhead(self.record, {"plain": [], "trace": [1.2], "torch.profiler": [1.1]})
        self.assertEqual([check["verdict"] for check in self.record.checks], ["pass", "fail", "skip"])

    def test_within_the_spread_of_the_plain_runs_nothing_is_told_apart(self):
        training_stage.tell_overhead(self.record, {"plain": [1.0, 1.04], "trace": [1.03], "torch.profiler": [1.02]})
        self.assertEqual(self.record.checks[-1]["verdict"], "pass")


class TimeOut(InFolder):
    """Trainings that end with `code`; which of them were begun."""

    def begun(self, code, stage, *arguments):
        names = []

        def instead(_record, name, *_):
            names.append(name)
            return Ended(code, 100.0, "", "")

        place = Place("build", "python3", Deadline(1000), [], [], False, [])
        with unittest.mock.patch.object(training_stage, "run", instead):
            stage(place, self.record, *arguments)
        return names

    def test_a_training_whose_recording_took_all_of_its_time_is_not_run_again(self):
        self.assertEqual(self.begun(CUT_OFF, training_stage.recorded, "x", []), ["x.trace"])
        self.assertEqual(self.verdicts(), {"x: recorded": "fail"})

    def test_one_whose_recording_fails_is_held_against_the_plain_one(self):
        self.assertEqual(self.begun(1, training_stage.recorded, "x", []), ["x.trace", "x.plain"])
        self.assertEqual(self.verdicts(), {"x: recorded": "skip"})

    def test_a_way_that_was_cut_off_has_no_further_turns(self):
        self.assertEqual(len(self.begun(CUT_OFF, training_stage.overhead, "ddp")), 3)
        self.assertEqual(len(self.begun(1, training_stage.overhead, "ddp")), 9)


class Ways(InFolder):
    def test_each_way_that_is_predicted_has_to_be_forced_and_run(self):
        good = swept([way_point("", "Ring/LL"), *predicted_points(["Ring/LL", "Tree/LL"]), way_point("Ring/LL", "Ring/LL"),
                      way_point("Tree/LL", "Tree/LL")])
        nccl_stage.tell_sweep(self.record, 2, good, Ended(0, 1.0, "", ""))
        self.assertEqual(set(self.verdicts().values()), {"pass"})
        other_ran = swept([way_point("", "Ring/LL"), *predicted_points(["Ring/LL"]), way_point("Ring/LL", "Tree/LL")])
        nccl_stage.tell_sweep(self.record, 3, other_ran, Ended(0, 1.0, "", ""))
        self.assertEqual(self.verdicts()["3 ranks: ways forced"], "fail")
        left_out = swept([way_point("", "Ring/LL"), *predicted_points(["Ring/LL", "Tree/LL"]), way_point("Ring/LL", "Ring/LL")])
        nccl_stage.tell_sweep(self.record, 3, left_out, Ended(0, 1.0, "", ""))
        self.assertEqual(self.record.checks[-1]["why"], "not forced: Tree/LL")

    def test_a_collective_of_which_nccl_says_nothing_is_no_match(self):
        training_stage.check_collectives(self.record, "x", attribution([], listed=["RING", None]))
        training_stage.check_collectives(self.record, "y", attribution([], listed=["RING"], unmatched=1))
        training_stage.check_collectives(self.record, "z", attribution([], listed=["RING"]))
        self.assertEqual(list(self.verdicts().values()), ["fail", "fail", "pass"])


class Summary(InFolder):
    def test_stages_of_several_folders_make_one_table(self):
        self.write("ranks-2/run.json", 10)
        self.write("noise.out", 10)
        self.record.check("2 ranks", True, 1, 1)
        self.record.pack()
        other = os.path.join(self.folder.name, "second")
        faults = records.Record(other, "faults")
        faults.check("Ctrl-C", False, 0, 130)
        faults.finish()
        kept = os.path.join(self.folder.name, "kept")
        with open(os.devnull, "w", encoding="utf-8") as quiet:
            stdout, sys.stdout = sys.stdout, quiet
            try:
                code = summary.write(self.folder.name, kept)
            finally:
                sys.stdout = stdout
        self.assertEqual(code, 1)
        with open(os.path.join(self.folder.name, "summary.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("1 passed, 1 failed, 0 skipped", text)
        self.assertIn("- training: not run", text)
        self.assertEqual(sorted(os.listdir(kept)), ["faults.json", "nccl", "nccl.json", "summary.md"])
        self.assertEqual(os.listdir(os.path.join(kept, "nccl")), ["ranks-2"])
        with open(os.path.join(kept, "nccl.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["stage"], "nccl")


unittest.main()
