# Parts of a release that are not those of the build machine. The oldest CUDA toolkit that is supported, in a folder of its
# own: Debian 13's packages of it, unpacked and not installed, so that a machine with another Debian builds with it and keeps
# its own glibc; and the source of simdjson. Sourced after common.sh, not run.

# Programs are linked with libcudart_static.a only: CMake looks for libcudart.so, tests open libcupti.so.
toolkit_packages='nvidia-cuda-toolkit nvidia-cuda-dev libcupti-dev libcupti12 libnvidia-ml-dev libcudart12 libcu++-dev libnccl-dev'

# debian_mirror: the archive that this machine's apt uses, or SCALEWORTH_DEBIAN_MIRROR. Prints the address.
debian_mirror() {
  local mirror=${SCALEWORTH_DEBIAN_MIRROR:-}
  if [ -z "$mirror" ]; then
    mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null | sed 's/#.*//' |
      grep -oE '(https?|file)://[^ ]+/debian/?( |$)' | head -1 | tr -d ' ')
  fi
  if [ -z "$mirror" ]; then
    say "apt names no Debian archive here: set SCALEWORTH_DEBIAN_MIRROR to the address of one"
    return 1
  fi
  echo "$mirror"
}

# debian_apt deb|deb-src SUITE FOLDER ARGUMENT...: apt-get in FOLDER, by a configuration that leaves this machine's own
# untouched. Signatures are checked as apt does, with the keys of the package debian-archive-keyring.
debian_apt() {
  local kind=$1 suite=$2 folder mirror settings
  mkdir -p "$3"
  folder=$(cd "$3" && pwd)
  shift 3
  mirror=$(debian_mirror) || return 1
  settings=$folder/apt-$suite
  mkdir -p "$settings/lists/partial" "$settings/cache/archives/partial"
  : >"$settings/status"
  echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main contrib non-free" \
    >"$settings/sources.list"
  cat >"$settings/apt.conf" <<EOF
Dir::State "$settings";
Dir::State::status "$settings/status";
Dir::Cache "$settings/cache";
Dir::Etc::sourcelist "$settings/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "root";
EOF
  APT_CONFIG=$settings/apt.conf apt-get update -q >&2 || return 1
  (cd "$folder" && APT_CONFIG=$settings/apt.conf apt-get -q "$@" >&2) || return 1
  rm -rf "$settings"
}

# download_packages SUITE FOLDER PACKAGE...: the newest .deb of each into FOLDER.
download_packages() {
  local suite=$1 folder=$2
  shift 2
  debian_apt deb "$suite" "$folder" download "$@"
}

# fetch_simdjson FOLDER: makes FOLDER the source of Debian's package, once, and prints where its two files lie. Distributions
# have it as a shared library only, which would bring the C++ library of the build machine along.
fetch_simdjson() {
  local folder=$1 part=$1.part
  if [ ! -d "$folder" ]; then
    rm -rf "$part"
    debian_apt deb-src bookworm "$part" source simdjson || return 1
    mv "$part" "$folder"
  fi
  dirname "$folder"/simdjson-*/singleheader/simdjson.cpp
}

# unpack_toolkit FOLDER: makes FOLDER the toolkit 12.4 in NVIDIA's own layout, once: bin/nvcc, include with nccl.h,
# cupti.h and nvml.h, lib64, nvvm. Downloads 1.2 GB for 0.2 GB that are kept, because libcudart_static.a lies beside the
# static libraries of all others. Then: cmake -DCMAKE_CUDA_COMPILER=FOLDER/bin/nvcc -DCUDAToolkit_ROOT=FOLDER
unpack_toolkit() {
  local folder=$1 part=$1.part
  [ ! -x "$folder/bin/nvcc" ] || return 0
  rm -rf "$part"
  say "unpacking Debian 13's CUDA toolkit into $folder"
  # shellcheck disable=SC2086
  download_packages trixie "$part/packages" $toolkit_packages || return 1
  # One archive of all packages: then each pattern must be found, in whichever of them.
  local package
  for package in "$part"/packages/*.deb; do dpkg-deb --fsys-tarfile "$package" || return 1; done |
    tar -x -C "$part" --ignore-zeros --wildcards \
      --exclude='./usr/bin/nvcc' --exclude='*/compute-sanitizer' --exclude='*/bin/g++' --exclude='*/bin/gcc' --exclude='*/nvcc.profile' \
      --transform='s,^\./usr/lib/nvidia-cuda-toolkit/bin/cicc,nvvm/bin/cicc,S' \
      --transform='s,^\./usr/lib/nvidia-cuda-toolkit/bin,bin,S' \
      --transform='s,^\./usr/lib/nvidia-cuda-toolkit/libdevice,nvvm/libdevice,S' \
      --transform='s,^\./usr/lib/[^/]*-linux-gnu,lib64,S' \
      --transform='s,^\./usr/share/doc,licences,S' \
      --transform='s,^\./usr/,,S' \
      './usr/bin/*' './usr/include/*' './usr/lib/nvidia-cuda-toolkit/bin/*' './usr/lib/nvidia-cuda-toolkit/libdevice/*' \
      '*/libcudart_static.a' '*/libcudart.so*' '*/libcudadevrt.a' '*/stubs/libcuda.so' '*/libcupti.so*' \
      './usr/share/doc/*/copyright' || return 1
  rm -rf "$part/packages"
  # Debian's profile names the places of an installation.
  cat >"$part/bin/nvcc.profile" <<'EOF'
TOP = $(_HERE_)/..
NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice
PATH += $(TOP)/nvvm/bin:$(_HERE_):
INCLUDES += "-I$(TOP)/include" $(_SPACE_)
LIBRARIES =+ $(_SPACE_) "-L$(TOP)/lib64/stubs" "-L$(TOP)/lib64"
CUDAFE_FLAGS +=
PTXAS_FLAGS +=
EOF
  mv "$part" "$folder"
}
