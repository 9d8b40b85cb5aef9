#!/usr/bin/env bash
# The layout check itself: it must pass a clean tree and name each kind of offence.
set -eu
checker=$(dirname "$0")/check_layout.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{src/core,cuda,probes,trace,report}
touch "$tree"/src/core/{a,b,c,d}.cpp
"$checker" "$tree" >/dev/null || { echo "a clean tree was refused"; exit 1; }

expect() {  # what must be said
  if said=$("$checker" "$tree"); then echo "not caught: $1"; exit 1; fi
  case "$said" in *"$1"*) ;; *) echo "wrong message for $1: $said"; exit 1 ;; esac
}
yes '' | head -2000 >"$tree/src/core/a.cpp"; expect "a.cpp has 2000 lines"; : >"$tree/src/core/a.cpp"
mkdir "$tree/trace/small"; touch "$tree/trace/small/x.h"; expect "trace/small has only 1 sources"; rm -r "$tree/trace/small"
mkdir -p "$tree/trace/a/b/c"; touch "$tree"/trace/a/b/c/{a,b,c,d}.h; expect "more than two levels below trace"; rm -r "$tree/trace/a"
touch "$tree"/report/{a..z}.cpp; expect "report has 26 sources"; rm "$tree"/report/*
printf '/* one\n two */\n// three\n#include <x>\n{\n}\n\nint x;\n' >"$tree/src/core/a.cpp"
case $("$checker" "$tree") in *" 1 lines of code") ;; *) echo "comments or braces count as code"; exit 1 ;; esac
for folder in src/core cuda probes trace report; do for part in b c d e f; do
  yes 'int x;' | head -700 >"$tree/$folder/$part.cpp"; cp "$tree/$folder/$part.cpp" "$tree/$folder/$part.h"
done; done
for i in $(seq 20); do cp "$tree/cuda/b.cpp" "$tree/report/many$i.js"; done
for i in $(seq 40); do cp "$tree/cuda/b.cpp" "$tree/report/other$i.js"; done
expect "lines of product code"
echo "each kind of offence is caught"
