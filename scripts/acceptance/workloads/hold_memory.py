# SPDX-License-Identifier: Apache-2.0
"""Takes the memory of GPU 0 but for LEFT_BYTES, says "held" and keeps it for SECONDS.
Usage: hold_memory.py LEFT_BYTES SECONDS.   Plain allocations of the driver's own interface, no other library. Exit code
77: no driver, or no GPU."""
import ctypes
import sys
import time

CANNOT = 77
LEAST = 64 << 20


def driver():
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as missing:
        print(f"cannot: {missing}", file=sys.stderr)
        sys.exit(CANNOT)


def take(cuda, left):
    """Bytes taken, in pieces that shrink where one does not fit."""
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    taken, piece = 0, 8 << 30
    while piece >= LEAST:
        if cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) != 0:
            break
        address = ctypes.c_uint64()
        if free.value < left + piece or cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(piece)) != 0:
            piece //= 2
            continue
        taken += piece
    return taken


def main(left, seconds):
    cuda = driver()
    device, context = ctypes.c_int(), ctypes.c_void_p()
    if cuda.cuInit(0) != 0 or cuda.cuDeviceGet(ctypes.byref(device), 0) != 0:
        print("cannot: the driver shows no GPU", file=sys.stderr)
        return CANNOT
    if (cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) != 0 or cuda.cuCtxSetCurrent(context) != 0):
        print("cannot: the GPU gives no context", file=sys.stderr)
        return CANNOT
    print(f"held {take(cuda, left)}", flush=True)
    time.sleep(seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main(int(float(sys.argv[1])), float(sys.argv[2])))
