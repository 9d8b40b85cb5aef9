# SPDX-License-Identifier: Apache-2.0
"""The check of packed programs and libraries, on objects compiled here: each kind of offence is named, the rest passes."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

compiler = sys.argv.pop()
source = sys.argv.pop()
CHECKER = os.path.join(source, "scripts", "lib", "check_objects")
PLAIN = "int main() { return 0; }"
STATIC = ["-static-libstdc++", "-static-libgcc"]


class Objects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.stage = pathlib.Path(folder.name)

    def compile(self, name, code, *flags):
        target = self.stage / name
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([compiler, "-x", "c++", "-", "-x", "none", "-o", target, *flags], input=code, text=True, check=True)
        return target

    def check(self, newest="2.34"):
        return subprocess.run([sys.executable, CHECKER, self.stage, newest], capture_output=True, text=True)

    def refused(self, *words, newest="2.34"):
        done = self.check(newest)
        self.assertEqual(done.returncode, 1, done.stdout)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_a_program_that_needs_the_c_library_alone_passes(self):
        self.compile("bin/plain", PLAIN, *STATIC)
        self.assertEqual(self.check().returncode, 0, self.check().stderr)

    def test_a_newer_c_library_than_allowed_is_named_with_the_object(self):
        # Where the newest function that a plain program asks for is older than this, the version below it does.
        self.compile("bin/plain", PLAIN, *STATIC)
        self.refused("bin/plain asks libc.so.6 for GLIBC_2", newest="2.1")

    def test_the_versions_are_compared_as_numbers(self):
        self.compile("bin/plain", PLAIN, *STATIC)
        self.assertEqual(self.check("2.100").returncode, 0)

    def test_a_version_of_the_c_library_without_a_number_is_named(self):
        # Relative relocations in packed form ask the C library for GLIBC_ABI_DT_RELR, which none before 2.36 has.
        names = "char a, b, c, d; char* all[] = {&a, &b, &c, &d};" + PLAIN
        self.compile("bin/packed", names, *STATIC, "-pie", "-fPIE", "-fuse-ld=bfd", "-Wl,-z,pack-relative-relocs")
        self.refused("bin/packed asks libc.so.6 for GLIBC_ABI_DT_RELR")

    def test_the_c_plus_plus_library_of_the_build_machine_is_named(self):
        code = "#include <string>\n#include <iostream>\nint main(int n, char** v) { std::cout << std::string(v[0], n); }"
        self.compile("lib/scaleworth/shared", code)
        self.refused("lib/scaleworth/shared is linked with libstdc++.so.6", "asks libstdc++.so.6 for GLIBCXX_")

    def test_a_library_that_is_not_carried_is_named_and_one_that_is_passes(self):
        library = self.compile("lib/scaleworth/libpart.so", "int part() { return 0; }", "-shared", "-fPIC",
                               "-Wl,-soname,libpart.so", "-nostdlib")
        self.compile("bin/user", "int part(); int main() { return part(); }", *STATIC, library,
                     "-Wl,-rpath,$ORIGIN/../lib/scaleworth")
        self.assertEqual(self.check().returncode, 0, self.check().stderr)
        self.compile("bin/user", "int part(); int main() { return part(); }", *STATIC, library)
        self.refused("bin/user is linked with libpart.so")
        library.unlink()
        self.refused("bin/user is linked with libpart.so")

    def test_a_folder_of_the_build_machine_is_named(self):
        self.compile("bin/plain", PLAIN, *STATIC, "-Wl,-rpath,/opt/build/lib")
        self.refused("bin/plain looks for libraries in '/opt/build/lib'")

    def test_the_mpi_module_alone_may_need_mpi(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        mpi = pathlib.Path(folder.name) / "libmpi.so.40"
        subprocess.run([compiler, "-x", "c++", "-", "-o", mpi, "-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libmpi.so.40"],
                       input="int part() { return 0; }", text=True, check=True)
        code = "int part(); int other() { return part(); }"
        module = self.compile("lib/scaleworth/libscaleworth_mpi.so", code, "-shared", "-fPIC", *STATIC, mpi)
        self.assertEqual(self.check().returncode, 0, self.check().stderr)
        module.rename(module.with_name("libscaleworth_inject.so"))
        self.refused("libscaleworth_inject.so is linked with libmpi.so.40")

    def test_an_empty_folder_is_no_success(self):
        self.assertEqual(self.check().returncode, 2)


if __name__ == "__main__":
    unittest.main()
