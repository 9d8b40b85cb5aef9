#!/usr/bin/env bash
# Files that a document of this repository or a comment of a script names must exist, and so must the functions and types of
# docs/architecture.md. (What the program prints in documents is compared by tests/cases/run_cases.py.)
# Usage: check_documents.sh SOURCE_DIR
set -euo pipefail
cd "$1"
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
# What data/notes.toml notes: the id of a table as the report writes it, or the words that it looks the note up by.
while IFS= read -r of; do
  grep -rqF "\"$of\"" report --include='*.cpp' || absent "data/notes.toml has a note of $of, which no report prints"
done < <(sed -n 's/^of = "\(.*\)"$/\1/p' data/notes.toml)
# A finding whose words nobody says is dead.
while IFS= read -r key; do
  grep -rqw "$key" src trace report probes cuda --include='*.cpp' --include='*.h' || absent "data/findings.toml: nothing finds $key"
done < <(sed -n 's/^\[\([a-z0-9_]*\)\]$/\1/p' data/findings.toml)
[ $missing = 0 ] || exit 1
echo "the documents name files and functions that exist"
