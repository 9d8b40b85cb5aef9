# The CPU build of scaleworth in a small image. From the repository root:
#   docker build -f docker/host.Dockerfile -t scaleworth:host .
#   docker run --rm --shm-size=1g scaleworth:host bench --suite quick
# Rank processes talk through shared memory, hence --shm-size. Mount a volume on /work to keep the run directory.
FROM debian:12 AS build
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      build-essential cmake ninja-build git pkg-config libfmt-dev libcli11-dev nlohmann-json3-dev libeigen3-dev \
      libtomlplusplus-dev libhwloc-dev libopenmpi-dev libarchive-dev libsimdjson-dev libsqlite3-dev libzstd-dev zlib1g-dev nodejs npm ca-certificates
COPY . /src
WORKDIR /src
RUN cmake --preset host -DSCALEWORTH_TESTS=OFF && cmake --build --preset host \
    && cmake --install build/host --prefix /opt/scaleworth

FROM debian:12
RUN apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
      openmpi-bin libopenblas0-pthread libfmt9 libhwloc15 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/scaleworth /opt/scaleworth
WORKDIR /work
ENTRYPOINT ["/opt/scaleworth/bin/scaleworth"]
CMD ["bench", "--suite", "quick"]
