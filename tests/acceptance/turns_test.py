# SPDX-License-Identifier: Apache-2.0
"""Ours and theirs in turns, by programs that stand for both: their order, what is asked of each, what a failure leaves; and
that both sides take the same of what they measure."""
import json
import os
import sys
import tempfile
import types
import unittest

source = sys.argv.pop(1)
sys.path.insert(0, os.path.join(source, "scripts", "acceptance"))
sys.dont_write_bytecode = True
import protocol  # noqa: E402
import turns  # noqa: E402

SHAPES = {"bf16_steady": {"m": 8192, "n": 8192, "k": 8192, "regime": "steady", "warm_up_s": 2.0, "window_s": 0.06},
          "bf16_burst": {"m": 8192, "n": 8192, "k": 8192, "regime": "burst", "warm_up_s": 0.0, "window_s": 0.06},
          "bf16_best_shape": None, "fp8_steady": None, "memory_copy": None, "host_to_device": None}
OURS = """#!/bin/sh
echo "ours $*" >>"$LOG"
[ -z "$BROKEN" ] || exit 1
while [ "$1" != --out ]; do shift; done
mkdir -p "$2" && cp "$RUN" "$2/run.json"
"""
THEIRS = """#!/bin/sh
echo "theirs $2" >>"$LOG"
echo '{"version": "2", "figures": {"bf16_steady": 7e14, "bf16_burst": 8e14}, "missing": {"x": "no"}}'
"""


def product(regime, times, settled=""):
    return {"setting": {"gpu": 0, "pass": regime, "precision": "bf16", "m": 8192, "n": 8192, "k": 8192, "family": "own",
                           "data": "uniform"}, "amounts": {"flops": 2.0 * 8192**3}, "samples": {"wall_s": times}, "stop_reason": settled}


class InTurns(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        run = {"environment": [], "probes": [{"name": "roofline.gpu.gemm", "points": [
            product("steady", [2e-3, 1e-3, 3e-3], "sustained after 3 s (flat)"), product("burst", [2e-3, 1e-3, 3e-3])]}]}
        os.environ.update(LOG=self.path("log"), RUN=self.path("run.json"), BROKEN="")
        for name, text in (("ours", OURS), ("theirs", THEIRS), ("run.json", json.dumps(run))):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(self.path(name), 0o755)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def measure(self, seconds=60):
        return turns.in_turns(turns.Side(self.path("ours"), self.path("theirs"), self.folder.name, seconds), SHAPES)

    def log(self):
        with open(self.path("log"), encoding="utf-8") as file:
            return file.read().splitlines()

    def test_each_side_is_measured_twice_and_one_after_the_other(self):
        result = self.measure()
        self.assertEqual([line.split()[0] for line in self.log()], ["ours", "theirs", "ours", "theirs"])
        self.assertEqual(result["figures"]["bf16_steady"]["theirs"], [7e14, 7e14])
        self.assertEqual((result["version"], result["missing"]), ("2", {"x": "no"}))

    def test_a_steady_window_has_its_median_and_a_burst_its_fastest_sample(self):
        figures = self.measure()["figures"]
        self.assertAlmostEqual(figures["bf16_steady"]["ours"][0], 2.0 * 8192**3 / 2e-3)
        self.assertAlmostEqual(figures["bf16_burst"]["ours"][0], 2.0 * 8192**3 / 1e-3)

    def test_theirs_warms_up_as_long_as_ours_did_in_the_same_turn(self):
        self.measure()
        asked = json.loads(self.log()[1].removeprefix("theirs "))
        self.assertEqual(asked["bf16_steady"]["warm_up_s"], 3.0)
        self.assertEqual(asked["bf16_burst"]["regime"], "burst")
        with open(self.path("products.csv"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "name,m,n,k,format\nproduct0,8192,8192,8192,bf16\n")

    def test_without_ours_theirs_is_not_asked(self):
        os.environ["BROKEN"] = "1"
        self.assertIsNone(self.measure()["version"])
        self.assertEqual([line.split()[0] for line in self.log()], ["ours"])

    def test_no_turn_is_begun_without_time(self):
        self.assertIsNone(self.measure(seconds=0)["version"])
        self.assertFalse(os.path.exists(self.path("log")))


class Event:
    """Stands for an event of PyTorch on a clock that each operation moves on."""
    clock = 0.0

    def __init__(self, enable_timing):
        self.at = None

    def record(self):
        self.at = Event.clock

    def synchronize(self):
        pass

    def elapsed_time(self, stop):
        return (stop.at - self.at) * 1e3


class Theirs(unittest.TestCase):
    """What theirs.py takes of times that are made up: the same as ours."""

    def setUp(self):
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(Event=Event, synchronize=lambda: None)
        self.addCleanup(sys.modules.pop, "torch", None)
        sys.modules["torch"] = torch
        self.addCleanup(sys.modules.pop, "theirs", None)
        import theirs
        self.theirs = theirs
        self.done = 0

    def operation(self, falls):
        """1 ms each at first, 2 ms once the clock has fallen."""
        def run():
            self.done += 1
            Event.clock += 2e-3 if self.done > falls else 1e-3
        return run

    def test_a_burst_is_its_fastest_sample_as_ours(self):
        self.assertAlmostEqual(self.theirs.burst(self.operation(falls=60)), 1e-3)

    def test_a_steady_window_is_its_median_as_ours(self):
        self.assertAlmostEqual(self.theirs.steady(self.operation(falls=20), 0.0, 10 * protocol.BATCH_S), 2e-3)


unittest.main()
