#!/usr/bin/env bash
# Output blocks of the README must be what the program prints for the recordings that they name: whole after
# "<!-- output of: scaleworth ... -->", from the verdict on and as many lines as stand there after
# "<!-- first lines of output of: scaleworth ... -->". Blocks whose recording is not there are left alone, and named.
# Usage: check_readme.sh PROGRAM SOURCE_DIR [--update]
set -euo pipefail
program=$1
cd "$2"
expected=$(mktemp)
trap 'rm -f "$expected" "$expected".old' EXIT
blocks=0

# Prints the block for the marker $1 whose lines so far are in $expected.old.
block() {
  local arguments
  arguments=$(sed -E 's/^<!-- .*output of: scaleworth (.*) -->$/\1/' <<<"$1")
  local recording
  recording=$(cut -d' ' -f2 <<<"$arguments")
  if [ ! -e "$recording" ]; then
    echo "README: no $recording here: its block is not compared" >&2
    cat "$expected.old"
  elif [[ $1 == "<!-- first"* ]]; then
    # The program's own name and version come before the verdict.
    eval "\"$program\" $arguments" | sed 1d | awk -v lines="$(wc -l <"$expected.old")" 'NR <= lines'
  else
    eval "\"$program\" $arguments"
  fi
}

marker=
while IFS= read -r line; do
  if [[ $line == "<!-- end of output -->" ]]; then
    { echo '```text'; block "$marker"; echo '```'; } >>"$expected"
    blocks=$((blocks + 1))
    marker=
  fi
  if [ -n "$marker" ]; then
    [[ $line == '```'* ]] || printf '%s\n' "$line" >>"$expected.old"
    continue
  fi
  printf '%s\n' "$line" >>"$expected"
  if [[ $line == "<!-- "*"output of: scaleworth "* ]]; then
    marker=$line
    : >"$expected.old"
  fi
done <README.md
[ "$blocks" -ge 3 ] || { echo "README.md names $blocks outputs instead of three"; exit 1; }
[ -z "$marker" ] || { echo "README.md does not end the block of $marker"; exit 1; }
if [ "${3:-}" = --update ]; then
  cat "$expected" >README.md
  exit 0
fi
diff -u README.md "$expected" \
  || { echo "README.md shows another output than the program prints; run: $0 PROGRAM SOURCE_DIR --update"; exit 1; }
echo "README's outputs are the program's"
