#!/usr/bin/env bash
# The include check itself: it must pass a clean tree and name each kind of offence.
set -eu
checker=$(dirname "$0")/check_includes.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{src/core,src/model,src/cli,probes,trace,report,cuda,tests}
echo '#include "src/core/units.h"' >"$tree/src/model/a.cpp"
"$checker" "$tree" >/dev/null || { echo "a clean tree was refused"; exit 1; }

expect() {  # file, content, what must be said
  echo "$2" >"$tree/$1"
  if said=$("$checker" "$tree"); then echo "not caught: $2 in $1"; exit 1; fi
  case "$said" in *"$3"*) ;; *) echo "wrong message for $1: $said"; exit 1 ;; esac
  rm "$tree/$1"
}
expect src/core/b.cpp '#include "src/model/analysis.h"' 'src/core may know only'
expect probes/b.cpp '#include "trace/span_ledger.h"' 'probes may know only'
expect report/b.cpp '#include "probes/machine.h"' 'report may know only'
expect src/cli/b.cpp '#include "cuda/runtime/error.h"' 'src/cli may know only'
expect probes/c.cpp '#include <cuda_runtime_api.h>' 'vendor header'
expect src/cli/c.cpp '#include <mpi.h>' 'MPI is known'
expect report/c.h '#include <nlohmann/json.hpp>' 'heavy header'
expect trace/c.cpp '#ifdef SOMETHING' 'conditional compilation'
echo "each kind of offence is caught"
