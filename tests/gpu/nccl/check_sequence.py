# SPDX-License-Identifier: Apache-2.0
"""Whether a recording shows the collectives that were issued, and no others, one kernel for each.
Usage: check_sequence.py EXPORT.json[.gz] ISSUED RANKS   (an export of `scaleworth attribute`; ISSUED: lines "KIND BYTES")
Exit code 0 when kernels and calls agree one to one on every rank, kinds and bytes exact; 1 with the differences."""
import gzip
import json
import sys

# In the name of the kernel, which NCCL made for this kind, or for any (Generic).
KERNELS = {"all_reduce": "AllReduce", "all_gather": "AllGather", "reduce_scatter": "ReduceScatter", "broadcast": "Broadcast",
           "reduce": "_Reduce_"}


def recorded(trace):
    """process -> its NCCL kernels in their order, as (name, kind, bytes); kind and bytes None where no call was matched."""
    kernels = {}
    for event in trace["traceEvents"]:
        if event.get("ph") == "X" and "nccl" in event["name"] and event.get("cat") in ("kernel", "gpu_user_annotation"):
            told = event.get("args", {})
            kind = told.get("Collective name")
            size = told.get("Out msg nelems" if kind == "reduce_scatter" else "In msg nelems")
            kernels.setdefault(event["pid"], []).append((float(event["ts"]), event["name"], kind, size))
    return {process: [entry[1:] for entry in sorted(found)] for process, found in kernels.items()}


def differences(kernels, issued, ranks):
    found = [] if len(kernels) == ranks else [f"{len(kernels)} ranks with NCCL kernels instead of {ranks}"]
    for process, seen in sorted(kernels.items()):
        if len(seen) != len(issued):
            found.append(f"rank {process}: {len(seen)} kernels for {len(issued)} calls")
        for number, ((name, kind, size), (wanted, wanted_bytes)) in enumerate(zip(seen, issued)):
            if (kind, size) != (wanted, wanted_bytes):
                found.append(f"rank {process}, call {number}: {kind} of {size} B instead of {wanted} of {wanted_bytes} B ({name})")
            elif KERNELS[wanted] not in name and "Generic" not in name:
                found.append(f"rank {process}, call {number}: {wanted} was joined with the kernel {name}")
    return found


def main(export, issued_file, ranks):
    with (gzip.open if export.endswith(".gz") else open)(export, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    with open(issued_file, encoding="utf-8") as file:
        issued = [(kind, int(size)) for kind, size in (line.split() for line in file if line.strip())]
    found = differences(recorded(trace), issued, int(ranks)) if issued else ["nothing was issued"]
    print("\n".join(found) or f"{len(issued)} collectives on {ranks} ranks, kernel and call one to one")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
