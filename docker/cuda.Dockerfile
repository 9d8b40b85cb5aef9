# The portable program for GPU nodes in an image. From the repository root:
#   docker build -f docker/cuda.Dockerfile -t scaleworth:cuda .
#   docker run --rm --gpus all --shm-size=1g --ulimit memlock=-1 scaleworth:cuda list
#   docker run --rm --gpus all --shm-size=1g --ulimit memlock=-1 -v "$PWD/runs:/work" scaleworth:cuda bench --suite standard
# Ranks and NCCL talk through shared memory, hence --shm-size; NCCL pins memory, hence memlock. The host needs NVIDIA's
# driver 580 or later and the NVIDIA container toolkit; without --gpus nothing is measured unless --machine host is given.
FROM nvidia/cuda:13.0.1-devel-ubuntu24.04 AS build
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      build-essential cmake ninja-build git pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev libeigen3-dev \
      libtomlplusplus-dev libhwloc-dev libopenmpi-dev libarchive-dev libbz2-dev liblzma-dev nettle-dev libsimdjson-dev libsqlite3-dev libzstd-dev zlib1g-dev nodejs npm ca-certificates
COPY . /src
WORKDIR /src
RUN cmake --preset release -DSCALEWORTH_TESTS=OFF && cmake --build --preset release --target product \
    && cmake --install build/release --prefix /opt/scaleworth --strip

# The base image brings no libraries of CUDA; these are the ones that the program opens.
FROM nvidia/cuda:13.0.1-base-ubuntu24.04
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      libcublas-13-0 libnccl2 cuda-cupti-13-0 openmpi-bin libopenblas0-pthread \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/scaleworth /opt/scaleworth
WORKDIR /work
ENTRYPOINT ["/opt/scaleworth/bin/scaleworth"]
CMD ["bench", "--suite", "quick"]
