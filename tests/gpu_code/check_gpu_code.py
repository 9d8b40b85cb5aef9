#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the machine code of the roofline kernels: 16-byte accesses that are issued together, the
expected arithmetic and nothing spilled.

Usage: check_gpu_code.py OBJECT...   (.o of nvcc, or .cubin)
Exit codes: 0 all as expected; 1 not; 77 no code for compute capability 8.0 to 9.0 can be read here.

A cubin is an ELF file; each kernel is a section .text.NAME of 16-byte instructions. The lowest 9 bits
of an instruction say which it is, the same from compute capability 7.0 to 9.0, and bits 73 to 75 of a
load or store its width (4: 32 bits, 5: 64, 6: 128). nvcc's objects hold cubins compressed or not;
compressed ones are taken out by cuobjdump where it is installed.
"""
import collections
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

NAMES = {0x181: "LDG", 0x186: "STG", 0x183: "LDL", 0x187: "STL", 0x184: "LDS", 0x023: "FFMA",
         0x02B: "DFMA", 0x031: "HFMA2", 0x035: "HFMA2", 0x03C: "HMMA", 0x037: "IMMA", 0x03F: "DMMA",
         0x07A: "QMMA"}
WIDTHS = {4: 4, 5: 8, 6: 16}
EM_CUDA = 190


def cubins_in(blob):
    """ELF images of GPU code inside of an object."""
    at = blob.find(b"\x7fELF")
    while at >= 0:
        if len(blob) >= at + 64 and struct.unpack_from("<H", blob, at + 18)[0] == EM_CUDA:
            yield blob[at:]
        at = blob.find(b"\x7fELF", at + 4)


def capability_of(image):
    """80, 90, ...; in bits 8 to 15 of the flags from ABI 8 (CUDA 13) on, below before."""
    flags = struct.unpack_from("<I", image, 0x30)[0]
    return (flags >> 8 if image[8] >= 8 else flags) & 0xFF


def extracted(path):
    tool = shutil.which("cuobjdump")
    if tool is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tool, "-xelf", "all", str(path.resolve())], cwd=folder, check=True,
                       capture_output=True)
        return [file.read_bytes() for file in pathlib.Path(folder).glob("*.cubin")]


def sections_of(image):
    header = struct.unpack_from("<Q", image, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", image, 0x3A)
    table = [struct.unpack_from("<IIQQQQIIQQ", image, header + i * size) for i in range(count)]
    strings = table[names][4]
    for entry in table:
        end = image.index(b"\0", strings + entry[0])
        yield image[strings + entry[0]:end].decode(), image[entry[4]:entry[4] + entry[5]]


def kernels_of(image):
    for name, code in sections_of(image):
        if name.startswith(".text."):
            words = [struct.unpack_from("<QQ", code, at) for at in range(0, len(code), 16)]
            yield name[6:], [(NAMES.get(low & 0x1FF, ""), WIDTHS.get(high >> 9 & 7)) for low, high in words]


def longest_run(code, wanted):
    """How many of `wanted` stand together, with nothing between that could wait for them."""
    best = run = 0
    for name, _ in code:
        if name == wanted:
            run += 1
            best = max(best, run)
        elif name in ("FFMA", "STG", "FADD"):
            run = 0
    return best


class Judge:
    def __init__(self):
        self.faults = []
        self.checked = collections.Counter()
        self.capability = 0

    def expect(self, true, kernel, fault):
        if not true:
            self.faults.append(f"{kernel}: {fault}")

    def kernel(self, name, code):
        counts = collections.Counter(instruction for instruction, _ in code)
        self.expect(counts["LDL"] + counts["STL"] == 0, name, "registers are spilled to local memory")
        for pattern, check in RULES:
            match = re.search(pattern, name)
            if match:
                self.checked[check.__name__] += 1
                check(self, name, code, counts, match)


def stream(judge, name, code, counts, match):
    operation, unroll = int(match[1]), int(match[2])  # read, write, copy, triad
    for instruction, width in code:
        if instruction in ("LDG", "STG"):
            judge.expect(width == 16, name, f"{instruction} of {width} bytes")
    loads = [1, 0, 1, 2][operation] * unroll
    loads = min(loads, 8)  # 16 of triad do not fit 64 registers
    judge.expect(longest_run(code, "LDG") >= loads, name, f"fewer than {loads} loads at once")
    if operation > 0:
        judge.expect(counts["STG"] >= unroll, name, f"fewer than {unroll} stores")


def fma_chain(judge, name, code, counts, match):
    wanted = {"Fp64": "DFMA", "Fp32": "FFMA"}.get(match[1], "HFMA2")
    judge.expect(counts[wanted] >= 128, name, f"{counts[wanted]} {wanted} instead of 8 chains x 16")
    # For cc 8.0 the compiler loads a constant into a register by an HFMA2 now and then.
    spare = 4 if wanted == "HFMA2" else 0
    judge.expect(counts[wanted] % 128 <= spare, name, f"{counts[wanted]} {wanted}: no multiple of a loop")


def chase(judge, name, code, counts, match):
    judge.expect(counts["LDG"] >= 64, name, "the chain is not unrolled")


# Parts of mangled names.
RULES = [
    (r"6streamILNS0_15StreamOperationE(\d)ELi\d+ELi(\d)E", stream),
    (r"9fma_chainINS\d_4(\w{4})E", fma_chain),
    (r"5chaseEPNS0_10ChaseState", chase),
]


def main(paths):
    judge = Judge()
    images = 0
    for path in map(pathlib.Path, paths):
        blob = path.read_bytes()
        for image in list(cubins_in(blob)) or extracted(path):
            if not 80 <= capability_of(image) <= 90:
                continue
            images += 1
            judge.capability = capability_of(image)
            for name, code in kernels_of(image):
                judge.kernel(name, code)
    if images == 0:
        print("no code for 8.0 to 9.0, or it is compressed and there is no cuobjdump on PATH")
        return 77
    for fault in judge.faults:
        print(fault)
    missing = {check.__name__ for _, check in RULES} - set(judge.checked)
    for name in sorted(missing):
        print(f"no kernel of the kind {name} was found")
    print(f"{sum(judge.checked.values())} kernels checked, {len(judge.faults)} faults")
    return 1 if judge.faults or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
