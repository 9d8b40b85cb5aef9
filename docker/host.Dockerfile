# The CPU build of scaleworth in a small image. From the repository root:
#   docker build -f docker/host.Dockerfile -t scaleworth:host .
#   docker run --rm --shm-size=1g scaleworth:host bench --suite quick --machine host
# --machine host, because on a node with GPUs the program asks whether the cores are meant. Rank processes talk through shared memory, hence --shm-size. Mount a volume on /work to keep the run directory.
FROM debian:12 AS build
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      build-essential cmake ninja-build git pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev libeigen3-dev \
      libtomlplusplus-dev libhwloc-dev libopenmpi-dev libarchive-dev libbz2-dev liblzma-dev nettle-dev libsimdjson-dev libsqlite3-dev libzstd-dev zlib1g-dev nodejs npm ca-certificates
COPY . /src
WORKDIR /src
RUN cmake --preset host -DSCALEWORTH_TESTS=OFF && cmake --build --preset host --target product \
    && cmake --install build/host --prefix /opt/scaleworth
# What the program is linked with, by its own word: a list kept here by hand would miss the next library.
RUN scripts/runtime-packages /opt/scaleworth/bin/scaleworth /opt/scaleworth/lib/scaleworth/*.so >/opt/runtime-packages

FROM debian:12
COPY --from=build /opt/runtime-packages /opt/runtime-packages
# Besides what it is linked with: what it starts and opens.
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      openmpi-bin libopenblas0-pthread $(cat /opt/runtime-packages) \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/scaleworth /opt/scaleworth
WORKDIR /work
ENTRYPOINT ["/opt/scaleworth/bin/scaleworth"]
CMD ["bench", "--suite", "quick", "--machine", "host"]
