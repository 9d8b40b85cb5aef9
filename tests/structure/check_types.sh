#!/usr/bin/env bash
# Fails on a type that two headers define in the same namespace: each file compiles, and the linker keeps one of the two.
# Usage: check_types.sh SOURCE_DIR
set -u
cd "$1" || exit 2
doubles=$(find src probes trace report cuda tests -name '*.h' | sort | xargs awk '
  FNR == 1 { space = "" }
  /^namespace [a-z_:]+ \{/ { space = $2 }
  /^(struct|class|enum class|enum) [A-Za-z0-9_]+/ && !/;[[:space:]]*$/ {
    name = $1 == "enum" && $2 == "class" ? $3 : $2
    sub(/[:{<].*/, "", name)
    key = space "::" name
    if (key in first && first[key] != FILENAME) print key ": " first[key] " and " FILENAME
    else first[key] = FILENAME
  }')
if [ -n "$doubles" ]; then
  printf 'defined twice: %s\n' "$doubles"
  exit 1
fi
echo "each type has one definition"
