// SPDX-License-Identifier: Apache-2.0
#include "probes/host/kernels/memory.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <set>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace scaleworth::probes::host;

namespace {

constexpr Target few_samples{
    .minimum_samples = 2, .maximum_samples = 3, .time_budget = Seconds(3e-3)};

struct alignas(64) Line {
  double values[8] = {};
};

}  // namespace

TEST_CASE("a random cycle visits every line once before it returns", "[memory]") {
  constexpr std::size_t lines = 1000;
  std::vector<Line> memory(lines);
  write_cycle(std::as_writable_bytes(std::span(memory)), sizeof(Line), 7);
  std::set<void*> seen;
  void* at = memory.data();
  for (std::size_t i = 0; i < lines; ++i) {
    seen.insert(at);
    at = *static_cast<void**>(at);
  }
  REQUIRE(at == memory.data());
  REQUIRE(seen.size() == lines);
}

TEST_CASE("following 16 links of a cycle of 4 lines returns to the start", "[memory]") {
  std::vector<Line> memory(4);
  write_cycle(std::as_writable_bytes(std::span(memory)), sizeof(Line), 7);
  REQUIRE(follow_cycle(memory.data(), 16) == memory.data());
  REQUIRE(follow_cycle(&memory[2], 32) == &memory[2]);
}

TEST_CASE("source values sum exactly", "[memory]") {
  // A period of 256: (0 + 1 + ... + 255) / 256 = 127.5. The first two are 0 and 167 / 256.
  REQUIRE(source_sum(0, 256) == 127.5);
  REQUIRE(source_sum(1, 258) == 127.5 + 167.0 / 256.0);
  REQUIRE(source_sum(10, 10) == 0.0);
}

TEST_CASE("a set is cut into equal pieces of whole lines", "[memory]") {
  // 10000 elements in pieces of at least 3000: 3 pieces of 3333, rounded down to 3328 = 416 x 8.
  const Sweep sweep = cut_sweep(10000, 3000, 8);
  REQUIRE(sweep.pieces == 3);
  REQUIRE(sweep.piece == 3328);
  REQUIRE(cut_sweep(100, 3000, 8).pieces == 1);
  REQUIRE(cut_sweep(3, 3000, 8).piece == 8);
}

TEST_CASE("visits of a piece follow the turn that an endless sweep has reached", "[memory]") {
  // 7 visits from piece 1 of 3: 1 2 0 1 2 0 1.
  const Sweep sweep{.pieces = 3, .piece = 8};
  REQUIRE(sweep.visits_of(0, 1, 7) == 2);
  REQUIRE(sweep.visits_of(1, 1, 7) == 3);
  REQUIRE(sweep.visits_of(2, 1, 7) == 2);
}

TEST_CASE("bytes of one pass are the working set, plus a read of what regular stores allocate",
          "[memory]") {
  // 12 MiB, beyond any L1, is 12 pieces of whole lines for one and two arrays. Triad's three arrays
  // of 4 MiB are 12 pieces of 43690.67 doubles, rounded down to 43688 = 8 x 5461.
  constexpr double set = 12.0 * (1 << 20);
  const auto work = [&](MemoryKernel kernel, bool nontemporal) {
    ArrayPool pool;
    return time_memory({kernel, Bytes(set), 1, nontemporal}, few_samples, pool);
  };
  constexpr double triad_set = 3.0 * 12.0 * 43688.0 * 8.0;
  REQUIRE(work(MemoryKernel::read, false).bytes.value() == set);
  REQUIRE(work(MemoryKernel::read, false).bytes_real.value() == set);
  REQUIRE(work(MemoryKernel::write, false).bytes_real.value() == 2.0 * set);
  REQUIRE(work(MemoryKernel::copy, false).bytes_real.value() == 1.5 * set);
  const Measured triad = work(MemoryKernel::triad, false);
  REQUIRE(triad.bytes.value() == triad_set);
  REQUIRE(triad.bytes_real.value() == triad_set / 3.0 * 4.0);
  REQUIRE(triad.flops.value() == 2.0 * 12.0 * 43688.0);
  REQUIRE(work(MemoryKernel::triad, true).bytes_real.value() == triad_set);
}

TEST_CASE("a set within the L1 cache allocates nothing", "[memory]") {
  ArrayPool pool;
  const Measured measured =
      time_memory({MemoryKernel::write, Bytes(4096.0), 1, false}, few_samples, pool);
  REQUIRE(measured.bytes.value() == 4096.0);
  REQUIRE(measured.bytes_real.value() == 4096.0);
}

TEST_CASE("every kernel fills every element, including the last partial block", "[memory]") {
  constexpr std::int64_t elements = 72;  // one block of 64 doubles and one line
  std::vector<Line> a(10);
  std::vector<Line> b(10);
  std::vector<Line> c(10);
  for (int i = 0; i < 80; ++i) {
    b[static_cast<std::size_t>(i / 8)].values[i % 8] = i;
    c[static_cast<std::size_t>(i / 8)].values[i % 8] = 100.0;
  }
  const StreamIsa& isa = stream_isa();
  // 0 + 1 + ... + 71 = 2556, twice.
  REQUIRE(isa.read(nullptr, b[0].values, nullptr, elements, 2) == 5112.0);
  for (const StoreKernels& stores : {isa.regular, isa.nontemporal}) {
    stores.triad(a[0].values, b[0].values, c[0].values, elements, 1);
    REQUIRE(a[0].values[0] == 300.0);
    REQUIRE(a[8].values[7] == 371.0);
    REQUIRE(a[9].values[0] == 0.0);
    stores.copy(a[0].values, b[0].values, nullptr, elements, 1);
    REQUIRE(a[8].values[7] == 71.0);
    stores.write(a[0].values, nullptr, nullptr, elements, 1);
    REQUIRE(a[0].values[0] == stream_scalar);
    REQUIRE(a[8].values[7] == stream_scalar);
    REQUIRE(a[9].values[0] == 0.0);
  }
}

TEST_CASE("one latency operation is one load", "[memory]") {
  ArrayPool pool;
  const Measured measured = time_latency({Bytes(8192.0)}, few_samples, pool);
  REQUIRE(measured.flops.value() == 0.0);
  REQUIRE_FALSE(measured.samples.wall_s.empty());
}

TEST_CASE("memory that cannot be had is a probe failure, and the pool is usable afterwards",
          "[memory]") {
  ArrayPool pool;
  // 2^50 bytes exceed the address space of a process.
  REQUIRE_THROWS_AS(
      time_memory({MemoryKernel::copy, Bytes(1125899906842624.0), 1, false}, few_samples, pool),
      ProbeFailure);
  REQUIRE_NOTHROW(time_memory({MemoryKernel::copy, Bytes(65536.0), 1, false}, few_samples, pool));
}
