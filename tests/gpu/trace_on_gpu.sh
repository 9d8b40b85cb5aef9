#!/usr/bin/env bash
# A real CUDA program is recorded by the real CUPTI, killed or not, and the recording is attributed. 77 without a GPU.
# Usage: trace_on_gpu.sh SCALEWORTH GPU_DEVICE_TESTS
set -u
scaleworth=$1 program=$2
work='every variant of a stream gives the right result'
"$program" "$work" >/dev/null 2>&1
[ $? = 77 ] && exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
fail() { echo "$1"; cat out err; exit 1; }

"$scaleworth" trace --out whole -- "$program" "$work" >out 2>err || fail "the traced program failed"
grep -qE 'whole: 1 file, [1-9][0-9]* kernels and copies, [1-9][0-9]* host events, 0 dropped' err || fail "nothing was recorded"
"$scaleworth" attribute whole --format json >out 2>err || fail "the recording cannot be attributed"

"$scaleworth" trace --out killed -- bash -c '"$0" "[gpu]" & sleep 6; kill -KILL $!; wait $!' "$program" >out 2>err
ls killed/*.swtrace >/dev/null 2>&1 || fail "SIGKILL left no file"
"$scaleworth" attribute killed --format json >out 2>err || fail "what SIGKILL left cannot be attributed"
