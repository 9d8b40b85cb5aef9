#!/usr/bin/env bash
# What a person meets in the first minutes: the scripts, the packages of an image, a node whose GPU cannot be used.
# Usage: scripts.sh PROGRAM BUILD_DIR CASE    exit 77 = cannot be tried here
set -u
program=$1
build=$2
case_name=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; sed 's/^/  | /' "$work"/err "$work"/out 2>/dev/null | head -40; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
run() {  # COMMAND...
  timeout -k 5 60 "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
}
expect_code() { [ "$code" = "$1" ] || fail "exit code $code, not $1"; }
expect_error() { grep -qE -- "$1" "$work/err" || fail "stderr does not say '$1'"; }

case "$case_name" in
  every_script_has_help)
    cd "$work" || exit 1
    for script in "$source"/scripts/*; do
      [ -f "$script" ] || continue
      for word in --help -h; do
        run "$script" $word
        [ "$code" = 0 ] || fail "$(basename "$script") $word: exit code $code"
        [ "$(wc -w <"$work/out")" -ge 15 ] || fail "$(basename "$script") $word says too little"
        grep -q '^#' "$work/out" && fail "$(basename "$script") $word shows its source"
      done
    done
    [ ! -e "$source/--help" ] && [ ! -e "$source/-h" ] || fail "--help was taken for a folder"
    ;;
  a_word_with_a_dash_is_no_folder)
    for script in gpu-acceptance gpu-carry test; do
      run "$source/scripts/$script" --frobnicate
      expect_code 2
      expect_error "does not take --frobnicate .*$script --help"
    done
    [ ! -e "$source/--frobnicate" ] || fail "--frobnicate was taken for a folder"
    ;;
  the_acceptance_keeps_files_of_others)
    mkdir "$work/results"
    touch "$work/results/mine.txt"
    SCALEWORTH_BUILD=/nonexistent run "$source/scripts/gpu-acceptance" "$work/results"
    expect_code 2
    expect_error 'has other files in it.*name a new folder'
    [ -e "$work/results/mine.txt" ] && [ ! -e "$work/results.tar.gz" ] || fail "the folder was changed"
    # Its own may be used again.
    for _ in 1 2; do
      SCALEWORTH_BUILD=/nonexistent run "$source/scripts/gpu-acceptance" "$work/own"
      expect_code 2
      expect_error 'SCALEWORTH_BUILD=/nonexistent: no bin/scaleworth'
    done
    ;;
  a_gpu_without_nvcc_needs_a_choice)
    unset NVIDIA_VISIBLE_DEVICES
    . "$source/scripts/lib/common.sh"
    mkdir -p "$work/none/dev" "$work/loaded/proc/driver/nvidia" "$work/files/dev" "$work/bus/sys/bus/pci/devices/0000:18:00.0"
    touch "$work/none/dev/nvidia-caps" "$work/loaded/proc/driver/nvidia/version" "$work/files/dev/nvidia0"
    echo 0x10de >"$work/bus/sys/bus/pci/devices/0000:18:00.0/vendor"
    echo 0x030200 >"$work/bus/sys/bus/pci/devices/0000:18:00.0/class"
    nvidia_gpu_here "$work/none" >/dev/null && fail "a GPU is seen where none is"
    [ "$(nvidia_gpu_here "$work/loaded")" = "NVIDIA's driver is loaded" ] || fail "a loaded driver is not seen"
    [ "$(nvidia_gpu_here "$work/files")" = /dev/nvidia0 ] || fail "a device file is not seen"
    [ "$(nvidia_gpu_here "$work/bus")" = 'an NVIDIA GPU at 0000:18:00.0' ] || fail "a GPU on the bus is not seen"
    mkdir -p "$work/none/etc"
    printf 'ID=debian\nVERSION_ID="13"\n' >"$work/none/etc/os-release"
    cuda_source "$work/none" | grep -q nvidia-cuda-toolkit || fail "Debian 13 is not told its package"
    # Nothing is installed or built before the choice.
    NVIDIA_VISIBLE_DEVICES=all SCALEWORTH_PRESET=host run "$source/scripts/bench" --price 0.05
    expect_code 3
    expect_error 'Here is a GPU \(NVIDIA_VISIBLE_DEVICES=all\)'
    expect_error 'nvcc: '
    expect_error 'packed program'
    expect_error 'scripts/bench --machine host'
    ;;
  kernels_are_compiled_for_the_gpus_of_the_node)
    . "$source/scripts/lib/common.sh"
    mkdir "$work/bin"
    printf '#!/bin/sh\nprintf "sm_75\\nsm_80\\nsm_90\\n"\n' >"$work/bin/nvcc"
    given() { # CAPABILITY...: the architectures on a node with these GPUs
      printf '#!/bin/sh\nprintf "%%s\\n" %s\n' "$*" >"$work/bin/nvidia-smi"
      chmod +x "$work/bin"/*
      PATH=$work/bin:$PATH node_architectures
    }
    [ "$(given 9.0 9.0 7.5)" = '75-real;90-real' ] || fail "two kinds of GPU: $(given 9.0 9.0 7.5)"
    [ -z "$(given 9.0 12.0)" ] || fail "nvcc does not know compute capability 12.0"
    printf '#!/bin/sh\necho "no devices were found"; exit 6\n' >"$work/bin/nvidia-smi"
    [ -z "$(PATH=$work/bin:$PATH node_architectures)" ] || fail "architectures without a GPU"
    ;;
  a_gpu_that_cannot_be_used_is_no_measurement_of_the_cores)
    [ ! -e /proc/driver/nvidia ] || skip "NVIDIA's driver is here"
    refused() { # TEXT VARIABLE=VALUE...: the first line of a measurement that is not made
      local text=$1
      shift
      run env -u NVIDIA_VISIBLE_DEVICES "$@" "$program" roofline --quiet --only roofline.latency --out "$work/run"
      expect_code 3
      [ ! -e "$work/run" ] || fail "the cores were measured"
      head -n 1 "$work/err" | grep -qE -- "$text" || fail "the first line does not say '$text'"
      head -n 1 "$work/err" | grep -q -- 'to measure the cores of this node instead: --machine host' || fail "no way on is named"
    }
    mkdir -p "$work/bin"
    printf '#!/bin/sh\n' >"$work/bin/nvidia-smi"
    chmod +x "$work/bin/nvidia-smi"
    if "$program" list | grep -q 'no GPU support'; then
      why='here is NVIDIA_VISIBLE_DEVICES=all, and this build has no GPU support: build the preset .cuda. .*nvcc'
      # Where libcuda.so.1 is installed it is named before.
      refused "${why/here is /here is .*}" NVIDIA_VISIBLE_DEVICES=all
    else
      refused 'this container was given no GPU .*--gpus all' NVIDIA_VISIBLE_DEVICES=all
    fi
    NVIDIA_VISIBLE_DEVICES=all run "$program" list
    [ "$(tr '\n' ' ' <"$work/out" | grep -oE 'given no GPU|no GPU support' | wc -l)" = 2 ] ||
      fail "list gives other reasons for the GPU and for its driver"
    # Who says that the cores are meant gets them, and a node without any sign of a GPU is measured unasked.
    NVIDIA_VISIBLE_DEVICES=all run "$program" roofline --machine host --dry-run
    expect_code 0
    # The driver's packages alone are no sign of one.
    run env -u NVIDIA_VISIBLE_DEVICES "PATH=$work/bin:$PATH" "$program" roofline --dry-run
    [ -n "$(find /sys/bus/pci/devices/*/vendor -exec grep -l 0x10de {} + 2>/dev/null)" ] || expect_code 0
    # A plan for a node with GPUs needs none.
    NVIDIA_VISIBLE_DEVICES=all run "$program" roofline --machine cuda --dry-run
    expect_code 0
    ;;
  a_node_that_looks_as_if_it_had_a_gpu_is_told_what_is_wrong)
    # A node of files: in a mount namespace, which ends with the commands in it.
    unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
    [ -d /proc/driver ] || skip "the kernel has no /proc/driver"
    mkdir -p "$work/dev" "$work/lib"
    cat >"$work/node" <<'EOF'
mount --make-rprivate / && mount -t tmpfs node "$1/dev" || exit 77
cp -a /dev/null /dev/zero /dev/urandom "$1/dev" && touch "$1/dev/nvidia0" "$1/dev/nvidiactl"
mount --bind "$1/dev" /dev && mount -t tmpfs node /proc/driver || exit 77
mkdir /proc/driver/nvidia
echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  $2  Mon Jan 24 22:58:54 UTC 2022" >/proc/driver/nvidia/version
shift 2
exec "$@"
EOF
    on_node() { # MODULE LIBRARY COMMAND...
      local module=$1 library=$2
      shift 2
      rm -f "$work"/lib/*
      [ -z "$library" ] || { touch "$work/lib/libcuda.so.$library" && ln -s "libcuda.so.$library" "$work/lib/libcuda.so.1"; }
      run env -u NVIDIA_VISIBLE_DEVICES "LD_LIBRARY_PATH=$work/lib" unshare -m bash "$work/node" "$work" "$module" "$@"
      [ "$code" != 77 ] || skip "a node of files cannot be made here"
    }
    told() { # MODULE LIBRARY TEXT: the first line of a measurement that is not made
      on_node "$1" "$2" "$program" bench --quiet --out "$work/run"
      expect_code 3
      head -n 1 "$work/err" | grep -qE -- "$3" || fail "the first line does not say '$3'"
      [ ! -e "$work/run" ] || fail "the cores were measured"
    }
    if "$program" list | grep -q 'no GPU support'; then
      told 510.47.03 510.47.03 "here is 1 NVIDIA GPU, NVIDIA's driver 510.47.03, and this build has no GPU support"
    else
      told 510.47.03 510.47.03 "driver 510.47.03 is too old: 5[0-9.]+ or later is needed"
      told 999.47.03 999.54.03 'of driver 999.54.03, the kernel module of driver 999.47.03'
      told 999.47.03 '' 'no libcuda.so.1: install'
    fi
    on_node 510.47.03 '' "$program" roofline --machine host --dry-run
    expect_code 0
    ;;
  the_product_is_all_that_is_installed)
    command -v ninja >/dev/null || skip "no ninja"
    grep -q 'build_preset .* product$' "$source/scripts/bench" || fail "scripts/bench builds something else"
    made=$(ninja -C "$build" -t query product) || fail "there is no target product"
    # Each program and library that `cmake --install` takes.
    installed=$(find "$build" -name cmake_install.cmake -exec sed -n 's|.*FILES "\(/[^"]*\)".*|\1|p' {} + | sort -u)
    [ -n "$installed" ] || fail "nothing is installed"
    for file in $installed; do
      grep -qE "[ /]$(basename "$file")$" <<<"$made" || [ "${file#"$build"}" = "$file" ] || fail "product does not build $file"
    done
    ;;
  an_image_gets_every_library_of_the_program)
    command -v dpkg-query >/dev/null || skip "no dpkg"
    grep -q 'scripts/runtime-packages .*>/opt/runtime-packages' "$source/docker/host.Dockerfile" &&
      grep -q 'apt-get install.*' "$source/docker/host.Dockerfile" && grep -q 'cat /opt/runtime-packages' "$source/docker/host.Dockerfile" ||
      fail "the image does not take its packages from the program"
    run "$source/scripts/runtime-packages" "$program"
    expect_code 0
    # By another way than the script's: what each file asks for, file by file, beginning with the program.
    waiting=("$program")
    seen=' '
    while [ ${#waiting[@]} -gt 0 ]; do
      file=${waiting[0]}
      waiting=("${waiting[@]:1}")
      for name in $(objdump -p "$file" | awk '$1 == "NEEDED" { print $2 }'); do
        [[ $seen != *" $name "* ]] || continue
        seen+="$name "
        # Several packages may have a file of this name, for other architectures.
        owned=$(dpkg-query -S "*/$name" 2>/dev/null | sed -E 's/(:[a-z0-9]+)?: / /' | while read -r package library; do
          ! grep -qxF "$package" "$work/out" || echo "$library"
        done)
        [ -n "$owned" ] || fail "no package of the list has $name"
        waiting+=("$(head -n 1 <<<"$owned")")
      done
    done
    [[ $seen == *libsimdjson* && $seen == *libsqlite3* ]] || fail "the program's own libraries were not looked at: $seen"
    # A library that no package has ends the build of the image instead of the program in it.
    command -v cc >/dev/null || skip "no compiler for a library of nobody's"
    mkdir "$work/elsewhere"
    echo 'int one(void) { return 1; }' | cc -shared -fPIC -x c - -o "$work/elsewhere/libnobodys.so"
    echo 'int one(void); int main(void) { return one(); }' |
      cc -x c - -o "$work/user" -L"$work/elsewhere" -lnobodys "-Wl,-rpath,$work/elsewhere" -Wl,--no-as-needed
    run "$source/scripts/runtime-packages" "$work/user"
    expect_code 1
    expect_error 'libnobodys.so belongs to no package'
    rm "$work/elsewhere/libnobodys.so"
    run "$source/scripts/runtime-packages" "$work/user"
    expect_code 1
    expect_error 'libnobodys.so is not found'
    ;;
  *)
    fail "no such case: $case_name"
    ;;
esac
