// SPDX-License-Identifier: Apache-2.0
/// Transfers on a GPU. What arrives is compared with what was sent before anything is timed.
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/gpu/rates.h"

using namespace scaleworth;
using namespace scaleworth::gpu_tests;
using namespace scaleworth::probes;

namespace {

constexpr Bytes size{64.0 * 1048576.0};

Endpoint host_end(bool pinned) {
  Endpoint end;
  end.pinned = pinned;
  return end;
}

Endpoint own() {
  Endpoint end;
  end.device = device().description().ordinal;
  return end;
}

DeviceMeasured move(const Endpoint& from,
                    const Endpoint& to,
                    TransferEngine engine,
                    bool both_directions = false) {
  return device().time_transfer({from, to, engine, both_directions, size}, brief());
}

}  // namespace

TEST_CASE("host and GPU exchange page-locked memory by both engines", "[gpu]") {
  for (const auto engine : {TransferEngine::copy_engine, TransferEngine::kernel}) {
    INFO(word_of(engine));
    for (const auto& measured :
         {move(host_end(true), own(), engine), move(own(), host_end(true), engine)}) {
      CHECK(measured.bytes == size);
      CHECK(byte_rate(measured) > 0.5e9);
      CHECK(byte_rate(measured) < 1e12);
    }
  }
}

TEST_CASE("both directions at once count both", "[gpu]") {
  for (const auto engine : {TransferEngine::copy_engine, TransferEngine::kernel}) {
    INFO(word_of(engine));
    const auto one = move(host_end(true), own(), engine);
    const auto both = move(host_end(true), own(), engine, true);
    CHECK(both.bytes == 2.0 * size);
    CHECK(byte_rate(both) > 0.8 * byte_rate(one));
  }
}

TEST_CASE("pageable memory goes by copy engine only", "[gpu]") {
  CHECK(byte_rate(move(host_end(false), own(), TransferEngine::copy_engine)) > 0.1e9);
  CHECK(byte_rate(move(own(), host_end(false), TransferEngine::copy_engine)) > 0.1e9);
  CHECK_THROWS_AS(move(host_end(false), own(), TransferEngine::kernel), NothingToMeasure);
}

TEST_CASE("copies within a GPU are faster than to the host", "[gpu]") {
  const auto outside = move(host_end(true), own(), TransferEngine::copy_engine);
  for (const auto engine : {TransferEngine::copy_engine, TransferEngine::kernel}) {
    CHECK(byte_rate(move(own(), own(), engine)) > byte_rate(outside));
  }
}

TEST_CASE("a small transfer is timed as well", "[gpu]") {
  const auto measured = device().time_transfer(
      {host_end(true), own(), TransferEngine::copy_engine, false, Bytes(4096.0)}, brief());
  CHECK(median(measured.time_s) < 1e-3);
}

TEST_CASE("GPUs exchange memory with each other", "[gpu]") {
  if (devices().size() < 2) return;
  Endpoint peer;
  peer.device = devices().at(1)->description().ordinal;
  const auto measured = move(own(), peer, TransferEngine::copy_engine);
  CHECK(byte_rate(measured) > 0.5e9);
  if (device().can_access_peer(*peer.device)) {
    CHECK(byte_rate(move(peer, own(), TransferEngine::kernel)) > 0.5e9);
  } else {
    CHECK_THROWS_AS(move(peer, own(), TransferEngine::kernel), NothingToMeasure);
    CHECK_FALSE(measured.warnings.empty());
  }
}

TEST_CASE("a transfer that does not concern the GPU is refused", "[gpu]") {
  CHECK_THROWS_AS(move(host_end(true), host_end(true), TransferEngine::copy_engine), ProbeFailure);
}
