# SPDX-License-Identifier: Apache-2.0
"""The README's generated example: the files are what its generator makes, and the program finds what was put in, also how long
a step would take without it, which the generator knows. Usage: example_test.py PROGRAM"""
import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True
import make_job  # noqa: E402

EXAMPLE = os.path.join(HERE, "slow-gpu")


def contents(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with gzip.open(os.path.join(folder, name), "rt", encoding="utf-8") as file:
            found[name] = json.load(file)
    return found


def attributed(folder):
    printed = subprocess.run([PROGRAM, "attribute", folder, "--format", "json"], capture_output=True, text=True, check=True).stdout
    return json.loads(printed)


def step_ns(document):
    counted = [row["end_ns"] - row["start_ns"] for row in document["ledger"] if not row["excluded"]]
    return sum(counted) / len(counted)


class Example(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_the_files_are_what_the_generator_makes(self):
        make_job.main(self.folder.name)
        self.assertEqual(contents(self.folder.name), contents(EXAMPLE))

    def test_the_rank_that_was_slowed_is_named_and_what_it_costs_is_right(self):
        slowed = attributed(EXAMPLE)
        make_job.main(self.folder.name, "1.0")
        truth = 1.0 - step_ns(attributed(self.folder.name)) / step_ns(slowed)
        self.assertEqual([one["rank"] for one in slowed["stragglers"]["stragglers"]], [make_job.SLOW_RANK])
        self.assertAlmostEqual(slowed["stragglers"]["saved_ns"] / step_ns(slowed), truth, delta=0.005)


unittest.main()
