#!/usr/bin/env bash
# The capture library shows its entry points and nothing else, and needs nothing but the C library.
# Usage: exports.sh libscaleworth_inject.so
set -eu
shown=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort | tr '\n' ' ')
wanted='InitializeInjection InitializeInjectionNvtx InitializeInjectionNvtx2 InitializeInjectionNvtxExtension ncclProfiler_v4 ncclProfiler_v5 ncclProfiler_v6 '
[ "$shown" = "$wanted" ] || { echo "shows: $shown"; exit 1; }
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for library in $needed; do
  case "$library" in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | ld-linux*) ;;
    *) echo "needs $library, which a traced program may not have"; exit 1 ;;
  esac
done
