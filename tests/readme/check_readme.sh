#!/usr/bin/env bash
# Output blocks of README.md and docs/guide.md must be what the program prints for the recordings that they name: whole
# after "<!-- output of: scaleworth ... -->", from the verdict on and as many lines as stand there after
# "<!-- first lines of output of: scaleworth ... -->". Blocks whose recording is not there are left alone, and named.
# Files that a document of this repository or a comment of a script names must exist, and so must the functions and types of docs/architecture.md.
# Usage: check_readme.sh PROGRAM SOURCE_DIR [--update]
set -euo pipefail
program=$1
cd "$2"
expected=$(mktemp)
trap 'rm -f "$expected" "$expected".old' EXIT

# Prints the block for the marker $1 whose lines so far are in $expected.old.
block() {
  local arguments
  arguments=$(sed -E 's/^<!-- .*output of: scaleworth (.*) -->$/\1/' <<<"$1")
  local recording
  recording=$(cut -d' ' -f2 <<<"$arguments")
  if [ ! -e "$recording" ]; then
    echo "$document: no $recording here: its block is not compared" >&2
    cat "$expected.old"
  elif [[ $1 == "<!-- first"* ]]; then
    # The program's own name and version come before the verdict.
    eval "\"$program\" $arguments" | sed 1d | awk -v lines="$(wc -l <"$expected.old")" 'NR <= lines'
  else
    eval "\"$program\" $arguments"
  fi
}

# Writes the document as it should be to $expected, and the number of its blocks to $blocks.
expect_document() {
  local marker='' line
  blocks=0
  : >"$expected"
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
  done <"$document"
  [ -z "$marker" ] || { echo "$document does not end the block of $marker"; exit 1; }
}

for document in README.md docs/guide.md; do
  expect_document
  [ "$document" != README.md ] || [ "$blocks" -ge 3 ] \
    || { echo "README.md names $blocks outputs instead of three"; exit 1; }
  if [ "${3:-}" = --update ]; then
    cat "$expected" >"$document"
  else
    diff -u "$document" "$expected" \
      || { echo "$document shows another output than the program prints; run: $0 PROGRAM SOURCE_DIR --update"; exit 1; }
  fi
done

missing=0
absent() { echo "$1"; missing=1; }
while IFS= read -r document; do
  folder=$(dirname "$document")
  # Links, relative to the document's folder.
  while IFS= read -r target; do
    [ -e "$folder/$target" ] || absent "$document links to $target, which does not exist"
  done < <(grep -oE '\]\([^):#]+' "$document" | cut -c3-)
  # Paths in backticks, from the root or from the document's folder.
  while IFS= read -r path; do
    compgen -G "$path" >/dev/null || compgen -G "$folder/$path" >/dev/null \
      || absent "$document names $path, which does not exist"
  done < <(grep -oE \
             -e '`[a-z_./*-]*[a-z0-9_*-]\.(cpp|h|cu|cuh|sh|py|toml|schema\.json|Dockerfile)`' \
             -e '`(src|cuda|probes|trace|report|tests|scripts|data|docs|docker)/[a-z0-9_./*-]+`' "$document" \
             | tr -d '`' | sort -u)
done < <(find . -name '*.md' -not -path './build/*' -not -path './tests/golden/*' -not -path './.git/*' | cut -c3-)
# Paths in comments of scripts and build files, from the root.
while IFS=: read -r document path; do
  [ -e "$path" ] || absent "$document names $path, which does not exist"
done < <(grep -roE '(^|[[:space:]])(#|""").*' scripts docker cmake CMakeLists.txt ./*/CMakeLists.txt |
           awk -F: '{ document = $1; while (match($0, /(src|cuda|probes|trace|report|tests|scripts|data|docs|docker|cmake)\/[A-Za-z0-9_.\/-]*[A-Za-z0-9_]/)) {
             before = substr($0, RSTART - 1, 1); path = substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH)
             if (before !~ /[A-Za-z0-9_.\/-]/) print document ":" path } }' | sort -u)
while IFS= read -r name; do
  case $name in
    *'()') name=${name%'()'}; pattern="\\b${name##*::}\\(" ;;
    *) pattern="^(struct|class|enum class) $name\\b" ;;
  esac
  grep -rqE "$pattern" src probes trace report cuda --include='*.h' --include='*.cpp' \
    || absent "docs/architecture.md names $name, which does not exist"
done < <(grep -oE '`([A-Za-z_]+::)?[a-z_]+\(\)`|`[A-Z][a-z]+[A-Za-z]*`' docs/architecture.md | tr -d '`' | sort -u)
[ $missing = 0 ] || exit 1
echo "the documents show what the program prints, and name files and functions that exist"
