# SPDX-License-Identifier: Apache-2.0
"""Becomes the program that lies in this package."""
import os
import sys


def main():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "scaleworth")
    try:
        os.execv(program, ["scaleworth", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"scaleworth: {program} cannot be started ({error.strerror}); install the package again")


if __name__ == "__main__":
    main()
