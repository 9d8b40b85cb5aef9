#!/usr/bin/env bash
# Fails on an include that the layering forbids (who may know whom), on vendor headers and #ifdef-style switches outside
# cuda/, and on a heavy header that a header of ours includes.
# Usage: check_includes.sh SOURCE_DIR
set -u
cd "$1" || exit 2
status=0
complain() { printf 'forbidden: %s\n' "$1"; status=1; }

# folder : project folders it may include from
rules='src/core : src/core
src/model : src/core src/model
probes : src/core probes
trace : src/core trace
report : src/core src/model report
cuda : src/core probes trace cuda
src/cli : src/core src/model probes trace report src/cli'

while IFS= read -r rule; do
  folder=${rule%% :*}
  allowed=${rule#*: }
  while IFS=: read -r file line include; do
    [ -n "$file" ] || continue
    target=${include#*\"}
    target=${target%%\"*}
    ok=no
    for prefix in $allowed; do
      case "$target" in "$prefix"/*) ok=yes ;; esac
    done
    # Files inside the program: CMake gives each target the headers of its own (cmake/embed.cmake).
    case "$target" in assets/*) ok=yes ;; esac
    [ $ok = yes ] || complain "$file:$line includes $target; $folder may know only: $allowed"
  done < <(find "$folder" -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' | xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null)
done <<<"$rules"

# Tests of cuda/ compare declarations with the vendor's.
vendor='<(cuda|cublas|nccl|cupti|nvml|nvtx3/|cudnn|cooperative_groups)'
while IFS= read -r hit; do complain "vendor header outside cuda/: $hit"; done \
  < <(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*$vendor" src probes trace report tests --include='*.h' --include='*.cpp' |
    grep -v '^tests/unit/cuda/')
while IFS= read -r hit; do complain "MPI is known to probes/host/ranks/mpi_module.cpp only: $hit"; done \
  < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<mpi' src probes trace report --include='*.h' --include='*.cpp' | grep -v '^probes/host/ranks/mpi_module.cpp:')
while IFS= read -r hit; do complain "conditional compilation: $hit"; done \
  < <(grep -rnE '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)' src probes trace report --include='*.h' --include='*.cpp')
# Headers of one folder's readers and fitters, which few sources include, and which still show the library's types.
heavy_known='src/core/files/json_reader.h|src/cli/bind_flags.h|trace/formats/json_events.h|report/charts/charts.h'
heavy='<(nlohmann/json.hpp|CLI/|Eigen/|unsupported/Eigen|toml\+\+/|simdjson|sqlite3|hwloc)'
while IFS= read -r hit; do complain "heavy header in a header of ours: $hit"; done \
  < <(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*$heavy" src probes trace report cuda --include='*.h' | grep -vE "^($heavy_known):")
[ $status = 0 ] && echo "includes respect the layering"
exit $status
