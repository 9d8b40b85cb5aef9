# SPDX-License-Identifier: Apache-2.0
"""Where the stages run: which program, which python, what that python has, how long it may take."""
import dataclasses
import glob
import os
import subprocess

from reference.execution import Deadline

SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclasses.dataclass
class Place:
    build: str  # a built tree, or the folder of an unpacked tarball
    python: str
    deadline: Deadline
    trace_flags: list  # more options of `scaleworth trace`
    workload: list  # a program to record instead of the training, or empty
    short: bool  # a rehearsal: the least of everything
    gpus: list  # "name, driver" of each GPU here

    @property
    def program(self):
        return os.path.join(self.build, "bin", "scaleworth")

    def without_gpu(self):
        """The verdict on what cannot be had: nothing is wrong with a machine that has no GPU."""
        return "fail" if self.gpus else "skip"

    def trace(self, folder, command, *options):
        return [self.program, "trace", *self.trace_flags, *options, "--out", folder, "--", *command]

    def training(self, *options, ranks=1):
        command = [self.python, os.path.join(SCRIPTS, "workloads", "train.py"), *options]
        if self.short:
            command += ["--steps", "6", "--warm-up", "2", "--width", "64", "--layers", "1", "--batch", "2", "--sequence", "16"]
        return command if ranks == 1 else self.ranks(ranks, command)

    def ranks(self, count, command):
        return [self.python, os.path.join(SCRIPTS, "workloads", "ranks.py"), str(count), *command]

    def test_programs(self):
        found = glob.glob(os.path.join(self.build, "tests", "gpu", "**", "gpu_*"), recursive=True)
        return sorted(path for path in found if os.path.isfile(path) and os.access(path, os.X_OK))


def python_has(python, module, more=""):
    """None where `python` imports the module (and `more` holds), else why not, in a line."""
    try:
        done = subprocess.run([python, "-c", f"import {module}\n{more}"], capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["it fails"])[-1]


def why_no_torch(python):
    return python_has(python, "torch", "assert torch.cuda.is_available(), 'PyTorch sees no GPU'")


def gpu_names():
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True,
                              text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()] if done.returncode == 0 else []
