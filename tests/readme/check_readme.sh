#!/usr/bin/env bash
# The output block on README's first screen must be what the program prints for the recorded run it names.
# Usage: check_readme.sh PROGRAM SOURCE_DIR [--update]
set -euo pipefail
program=$1
cd "$2"
run=$(sed -nE 's/^<!-- output of: scaleworth report (.*) -->$/\1/p' README.md)
[ -n "$run" ] || { echo "README.md names no recorded run"; exit 1; }
expected=$(mktemp)
trap 'rm -f "$expected" "$expected".new' EXIT
# The price that the README's command line gives is part of the comment.
eval "\"$program\" report $run" >"$expected"
if [ "${3:-}" = --update ]; then
  awk -v file="$expected" '
    /^<!-- output of: / { print; print "```text"; while ((getline line < file) > 0) print line; print "```"; skipping = 1; next }
    /^<!-- end of output -->$/ { skipping = 0 }
    !skipping { print }' README.md >"$expected.new"
  cp "$expected.new" README.md
  exit 0
fi
awk '/^<!-- output of: /{on=1; next} /^<!-- end of output -->$/{on=0} on && !/^```/' README.md | diff -u - "$expected" \
  || { echo "README.md shows another output than the program prints; run: $0 PROGRAM SOURCE_DIR --update"; exit 1; }
echo "README's output is the program's"
