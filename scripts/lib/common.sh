# Shared by scripts/bench and scripts/test: what must be installed, which preset fits, how to build.
# Sourced, not run.

build_packages='build-essential cmake ninja-build ccache mold git pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev
libeigen3-dev libtomlplusplus-dev libhwloc-dev libopenmpi-dev libarchive-dev libsimdjson-dev libsqlite3-dev libzstd-dev zlib1g-dev'
run_packages='openmpi-bin libopenblas0-pthread'
test_packages='catch2 clang libclang-rt-dev chromium python3'

say() { printf '%s\n' "$*" >&2; }

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

# A compiler cache filled by one checkout serves the others: paths below the checkout count as relative.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

# build_preset NAME on|off [TARGET...]: with or without the tests, which need packages of their own, and with them warnings
# as errors: another compiler's new warnings must not keep people from measuring.
build_preset() {
  local preset=$1 tests=$2
  shift 2
  cmake --preset "$preset" "-DSCALEWORTH_TESTS=$tests" "-DSCALEWORTH_WERROR=$tests" >&2
  if [ $# -gt 0 ]; then cmake --build --preset "$preset" --target "$@" >&2; else cmake --build --preset "$preset" >&2; fi
}
