# SPDX-License-Identifier: Apache-2.0
"""Starts N ranks of a program on GPU 0, each a host of its own for NCCL, which otherwise refuses two ranks on one GPU.
What runs between them is the loopback network: plumbing, no figure of an interconnect.
Usage: ranks.py N PROGRAM ARGUMENTS...   ({rank} and {ranks} in the arguments are replaced)
Exit code: that of the first rank that fails; the others are ended then."""
import os
import signal
import subprocess
import sys
import time


def environment(rank, ranks, port):
    own = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "GROUP_RANK": str(rank),
           "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "NCCL_HOSTID": f"scaleworth-rank-{rank}",
           "NCCL_NET": "Socket", "NCCL_IB_DISABLE": "1", "NCCL_SOCKET_IFNAME": "=lo", "NCCL_MNNVL_ENABLE": "0",
           "NCCL_MAX_CTAS": "4", "NCCL_RAS_ENABLE": "0", "GLOO_SOCKET_IFNAME": "lo"}
    return {**own, **os.environ, **{name: own[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "NCCL_HOSTID")}}


def start(ranks, command):
    port = int(os.environ.get("MASTER_PORT", 29537))
    started = []
    for rank in range(ranks):
        words = [word.replace("{ranks}", str(ranks)).replace("{rank}", str(rank)) for word in command]
        started.append(subprocess.Popen(words, env=environment(rank, ranks, port)))
    return started


def end(started):
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
    for process in started:
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def main(ranks, command):
    started = start(ranks, command)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: end(started))
    while True:
        codes = [process.poll() for process in started]
        failed = [code for code in codes if code]
        if failed:
            end(started)
            return failed[0] if failed[0] > 0 else 128 - failed[0]
        if None not in codes:
            return 0
        time.sleep(0.05)


if __name__ == "__main__":
    if len(sys.argv) < 3 or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
