# Shared by the scripts: their help, what must be installed, which preset fits, how to build.
# Sourced, not run.

build_packages='build-essential cmake ninja-build ccache mold git pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev
libeigen3-dev libtomlplusplus-dev libhwloc-dev libopenmpi-dev libarchive-dev libbz2-dev liblzma-dev nettle-dev libsimdjson-dev libsqlite3-dev libzstd-dev zlib1g-dev'
run_packages='openmpi-bin libopenblas0-pthread'
wheel_packages='dpkg-dev python3 python3-build python3-setuptools python3-wheel'
test_packages="catch2 clang libclang-rt-dev chromium python3-pip $wheel_packages"

newest_glibc=2.34  # that a portable program may need: of RHEL 9 and Amazon Linux 2023; see cmake/portable

say() { printf '%s\n' "$*" >&2; }

# show_help SCRIPT ARGUMENT: where the argument asks for help, prints the comment at the head of the script and ends.
show_help() {
  case ${2:-} in
    -h | --help)
      sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$1"
      exit 0
      ;;
  esac
}

# refuse_option SCRIPT ARGUMENT: a word with a dash is no folder and no build tree.
refuse_option() {
  case ${2:-} in
    -*)
      say "$1 does not take $2 (see $1 --help)"
      exit 2
      ;;
  esac
}

# ensure_packages PACKAGE...: installs what dpkg does not know as installed; without root or sudo it says what to
# install and stops, because a build against missing packages only fails later and less clearly.
ensure_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "no dpkg here: please install the equivalents of: $*"
    return 0
  fi
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  command -v node >/dev/null && command -v npm >/dev/null || missing+=(nodejs npm)
  [ ${#missing[@]} -gt 0 ] || return 0
  local run=()
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      run=(sudo)
    else
      say "missing packages, and neither root nor password-less sudo here. Ask for:"
      say "  apt-get install -y --no-install-recommends ${missing[*]}"
      exit 2
    fi
  fi
  say "installing: ${missing[*]}"
  "${run[@]}" apt-get update -q >&2
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}

# choose_preset: cuda when nvcc is there, host otherwise; SCALEWORTH_PRESET overrides. Prints the name.
choose_preset() {
  if [ -n "${SCALEWORTH_PRESET:-}" ]; then
    say "preset $SCALEWORTH_PRESET, as SCALEWORTH_PRESET says"
    echo "$SCALEWORTH_PRESET"
  elif command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    say "preset cuda: nvcc found"
    echo cuda
  else
    say "preset host: no nvcc found"
    echo host
  fi
}

# nvidia_gpu_here [ROOT]: prints what shows that this node has a GPU of NVIDIA's, and succeeds where something does. As
# read_driver_signs() in probes/gpu/driver_signs.h, before there is a program to ask.
nvidia_gpu_here() {
  local root=${1:-} device
  [ ! -e "$root/proc/driver/nvidia/version" ] || { echo "NVIDIA's driver is loaded"; return 0; }
  for device in "$root"/dev/nvidia[0-9]*; do
    [ ! -e "$device" ] || { echo "${device#"$root"}"; return 0; }
  done
  for device in "$root"/sys/bus/pci/devices/*; do
    if [ "$(cat "$device/vendor" 2>/dev/null)" = 0x10de ] && [[ $(cat "$device/class" 2>/dev/null) == 0x03* ]]; then
      echo "an NVIDIA GPU at ${device##*/}"
      return 0
    fi
  done
  case ${NVIDIA_VISIBLE_DEVICES:-none} in
    none | void) return 1 ;;
    *) echo "NVIDIA_VISIBLE_DEVICES=$NVIDIA_VISIBLE_DEVICES" ;;
  esac
}

# cuda_source [ROOT]: where this system gets nvcc from.
cuda_source() {
  local system
  system=$(. "${1:-}/etc/os-release" 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}")
  if [ "$system" = "debian 13" ]; then
    echo "apt-get install nvidia-cuda-toolkit libcupti-dev libnccl-dev (of contrib and non-free), or cuda-toolkit and libnccl-dev of NVIDIA's repository"
  else
    echo "install cuda-toolkit and libnccl-dev of NVIDIA's repository"
  fi
}

# node_architectures: what CMake compiles for this node's GPUs, such as 75-real;90-real: the preset's own choice does not run
# on each of them. Nothing where the driver or nvcc does not know one; then the preset decides, and its PTX is compiled at load.
node_architectures() {
  local known wanted capability
  known=$("$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)" --list-gpu-code 2>/dev/null) || return 0
  wanted=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | sort -nu) || return 0
  for capability in $wanted; do
    grep -qx "sm_$capability" <<<"$known" || return 0
  done
  sed -n 's/..*/&-real/p' <<<"$wanted" | paste -sd';'
}

# A compiler cache filled by one checkout serves the others: paths below the checkout count as relative.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# build_preset NAME on|off [TARGET...]: with or without the tests, which need packages of their own, and with them warnings
# as errors: another compiler's new warnings must not keep people from measuring. $cmake_options go to CMake.
build_preset() {
  local preset=$1 tests=$2
  shift 2
  # shellcheck disable=SC2086
  cmake --preset "$preset" "-DSCALEWORTH_TESTS=$tests" "-DSCALEWORTH_WERROR=$tests" ${cmake_options:-} >&2
  if [ $# -gt 0 ]; then cmake --build --preset "$preset" --target "$@" >&2; else cmake --build --preset "$preset" >&2; fi
}
