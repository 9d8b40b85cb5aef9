# SPDX-License-Identifier: Apache-2.0
"""Two attributions of the same work, part by part: what two recorders saw of it.
Usage: compare_ledgers.py OURS.json THEIRS.json [LIMIT]   (outputs of `scaleworth attribute --format json`; LIMIT 0.01)
A part's difference counts against the step of the first, because a relative one of a part near zero has no meaning.
Exit code 0 when no part and not the step differ by more than the limit, 1 otherwise, 3 without steps."""
import sys

from reference import figures


def differences(ours, theirs):
    """[(part, ours in ns, theirs in ns, difference as a share of our step)]; empty without steps."""
    mine, other = figures.parts(ours), figures.parts(theirs)
    if not mine or not other or mine["step_ns"] <= 0:
        return []
    return [(name, mine[name], other[name], (other[name] - mine[name]) / mine["step_ns"]) for name in mine]


def text(rows):
    lines = [f"{'part':<22} {'ours (us)':>12} {'theirs (us)':>12} {'of the step (%)':>16}"]
    for name, mine, other, share in rows:
        lines.append(f"{name[:-3].replace('_', ' '):<22} {mine / 1e3:>12.2f} {other / 1e3:>12.2f} {100 * share:>+16.3f}")
    return "\n".join(lines)


def largest(rows):
    return max(rows, key=lambda row: abs(row[3]))


def main(ours, theirs, limit="0.01"):
    rows = differences(figures.load(ours), figures.load(theirs))
    if not rows:
        print("one of the two has no steps")
        return 3
    print(text(rows))
    return 0 if abs(largest(rows)[3]) <= float(limit) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
