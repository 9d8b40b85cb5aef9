# SPDX-License-Identifier: Apache-2.0
"""Tarball and wheel of a made-up installation: what is inside, under which version, and how it starts once installed."""
import email
import hashlib
import os
import pathlib
import platform
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

source = sys.argv.pop()
VERSION = "9.8.7"  # not the project's: whatever the packages say must come from the caller
PROGRAM = "#!/bin/sh\necho started as \"$@\"\nexit 3\n"
TREE = {"bin/scaleworth": PROGRAM, "lib/scaleworth/libscaleworth_inject.so": "capture", "lib/scaleworth/libscaleworth_mpi.so": "ranks",
        "licences/part.txt": "of a part", "data/gpus.toml": "figures", "LICENSE": "terms", "NOTICE": "parts", "README.md": "# read"}
WHEEL = f"scaleworth-{VERSION}-py3-none-manylinux_2_34_{platform.machine()}.whl"
TARBALL = f"scaleworth-{VERSION}-linux-{platform.machine()}.tar.gz"


def pack(kind, stage, out, umask=0o022):
    command = [os.path.join(source, "scripts", "lib", "pack"), kind, stage, VERSION, out]
    return subprocess.run(command, capture_output=True, text=True, umask=umask)


def write_tree(folder):
    for name, content in TREE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (folder / "bin/scaleworth").chmod(0o755)


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.stage, cls.out = cls.folder / "stage", cls.folder / "out"
        write_tree(cls.stage)
        for kind in ("tarball", "wheel"):
            done = pack(kind, cls.stage, cls.out)
            assert done.returncode == 0, done.stderr

    def test_nothing_but_the_packages_and_their_sums_is_left(self):
        self.assertEqual(sorted(os.listdir(self.out)), sorted([TARBALL, TARBALL + ".sha256", WHEEL, WHEEL + ".sha256"]))

    def test_the_sums_beside_them_are_theirs(self):
        for name in (TARBALL, WHEEL):
            digest = hashlib.sha256((self.out / name).read_bytes()).hexdigest()
            self.assertEqual((self.out / (name + ".sha256")).read_text(), f"{digest}  {name}\n")

    def test_the_same_program_gives_the_same_bytes(self):
        again, stage = self.folder / "again", self.folder / "later"
        write_tree(stage)
        for path in stage.rglob("*"):
            os.utime(path, (1e9, 1e9))
        for kind, name in (("tarball", TARBALL), ("wheel", WHEEL)):
            self.assertEqual(pack(kind, stage, again, umask=0o077).returncode, 0)
            self.assertEqual((again / name).read_bytes(), (self.out / name).read_bytes(), name)

    def test_the_tarball_is_one_folder_with_the_installation_of_nobody(self):
        with tarfile.open(self.out / TARBALL) as tar:
            files = {member.name: member for member in tar if member.isfile()}
        self.assertEqual(set(files), {f"scaleworth-{VERSION}-linux-{platform.machine()}/{name}" for name in TREE})
        self.assertEqual({member.uid for member in files.values()}, {0})
        self.assertEqual([name for name, member in files.items() if member.mode & 0o111],
                         [name for name in files if name.endswith("bin/scaleworth")])

    def test_the_wheel_is_for_any_python_3_of_one_platform(self):
        with zipfile.ZipFile(self.out / WHEEL) as wheel:
            info = f"scaleworth-{VERSION}.dist-info/"
            metadata = email.message_from_bytes(wheel.read(info + "METADATA"))
            tags = email.message_from_bytes(wheel.read(info + "WHEEL"))
        self.assertEqual((metadata["Name"], metadata["Version"]), ("scaleworth", VERSION))
        self.assertEqual(metadata.get_all("Requires-Dist"), None)
        self.assertEqual((tags["Tag"], tags["Root-Is-Purelib"]), (f"py3-none-manylinux_2_34_{platform.machine()}", "false"))

    def test_no_file_of_the_package_states_a_version_of_its_own(self):
        for path in pathlib.Path(source, "packaging").rglob("*"):
            if path.is_file():
                self.assertNotRegex(path.read_text(), r"\d\.\d+\.\d", str(path))
        packages = pathlib.Path(source, "cmake/packages.cmake").read_text()
        self.assertEqual(packages.count("${PROJECT_VERSION}"), 2)  # to the stage and to both packages

    def test_the_wheel_holds_all_that_the_program_opens_beside_it_and_its_terms(self):
        with zipfile.ZipFile(self.out / WHEEL) as wheel:
            held = {entry.filename: entry.external_attr >> 16 for entry in wheel.infolist()}
        for name in TREE:
            if name.startswith(("bin/", "lib/", "licences/")):
                self.assertIn("scaleworth/" + name, held)
        self.assertTrue(held["scaleworth/bin/scaleworth"] & 0o111)
        for name in ("LICENSE", "NOTICE"):
            self.assertTrue(any(".dist-info/" in path and path.endswith(name) for path in held), name)

    def test_an_installed_wheel_becomes_the_program_with_its_arguments_and_exit_code(self):
        home = self.folder / "home"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", home,
                        self.out / WHEEL], check=True, env={**os.environ, "PIP_ROOT_USER_ACTION": "ignore"})
        environment = {**os.environ, "PYTHONPATH": str(home)}
        for start in ([home / "bin/scaleworth"], [sys.executable, "-m", "scaleworth"]):
            done = subprocess.run([*start, "list", "--known", "a b"], capture_output=True, text=True, env=environment)
            self.assertEqual((done.returncode, done.stdout), (3, "started as list --known a b\n"), done.stderr)

    def test_a_program_that_cannot_be_started_is_named(self):
        home = self.folder / "broken"
        with zipfile.ZipFile(self.out / WHEEL) as wheel:
            wheel.extractall(home)  # without the modes of the files
        done = subprocess.run([sys.executable, "-m", "scaleworth"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(home)})
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"scaleworth: {home}/scaleworth/bin/scaleworth cannot be started (Permission denied)", done.stderr)

    def test_a_package_that_takes_long_to_fetch_is_refused(self):
        stage = self.folder / "large"
        write_tree(stage)
        (stage / "bin/scaleworth").write_bytes(os.urandom(12_100_000))
        for kind in ("tarball", "wheel"):
            done = pack(kind, stage, self.folder / "refused")
            self.assertEqual(done.returncode, 1)
            self.assertIn("more than 12000000", done.stderr)


if __name__ == "__main__":
    unittest.main()
