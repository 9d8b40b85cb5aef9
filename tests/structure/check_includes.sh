#!/usr/bin/env bash
# Fails on an include that the layering forbids (who may know whom), on vendor headers outside cuda/,
# and on #ifdef-style switches outside cuda/ and the per-architecture kernels.
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
    [ $ok = yes ] || complain "$file:$line includes $target; $folder may know only: $allowed"
  done < <(find "$folder" -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' | xargs -r grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null)
done <<<"$rules"

vendor='<(cuda|cublas|nccl|cupti|nvml|nvtx3/|cudnn|cooperative_groups)'
while IFS= read -r hit; do complain "vendor header outside cuda/: $hit"; done \
  < <(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*$vendor" src probes trace report tests --include='*.h' --include='*.cpp')
while IFS= read -r hit; do complain "MPI is known to probes/host/mpi only: $hit"; done \
  < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*<mpi' src probes trace report --include='*.h' --include='*.cpp' | grep -v '^probes/host/mpi/')
while IFS= read -r hit; do complain "conditional compilation: $hit"; done \
  < <(grep -rnE '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)' src probes trace report --include='*.h' --include='*.cpp' \
      | grep -vE '^probes/host/(compute|memory|facts|blas|workers)/.*(__x86_64__|__aarch64__)')
[ $status = 0 ] && echo "includes respect the layering"
exit $status
