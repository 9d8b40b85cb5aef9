// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/report/fixture.h"

#include <cmath>

namespace scaleworth::report::fixture {
namespace {

using namespace model;

constexpr double kib = 1024.0;

/// A value with an interval of `below` and `above` in per cent of it.
template <class Q>
Estimate<Q> around(double value, double below, double above, std::size_t samples = 15) {
  return {Q(value),
          Interval<Q>{Q(value * (1.0 - below / 100.0)), Q(value * (1.0 + above / 100.0))},
          samples};
}

std::vector<ComputeCeiling> ceilings() {
  return {{Isa::avx2,
           NumberFormat::fp32,
           1,
           around<FlopPerSecond>(108.3e9, 0.4, 0.3),
           around<FlopPerSecond>(108.9e9, 0.2, 0.2),
           0.994,
           false},
          {Isa::avx2,
           NumberFormat::fp32,
           2,
           around<FlopPerSecond>(196.2e9, 2.1, 1.4),
           around<FlopPerSecond>(213.5e9, 0.3, 0.3),
           0.919,
           true},
          {Isa::avx2,
           NumberFormat::fp64,
           1,
           around<FlopPerSecond>(54.1e9, 0.4, 0.4),
           around<FlopPerSecond>(54.4e9, 0.2, 0.2),
           0.995,
           false},
          {Isa::avx2,
           NumberFormat::fp64,
           2,
           around<FlopPerSecond>(106.4e9, 0.9, 0.6),
           around<FlopPerSecond>(107.0e9, 0.3, 0.3),
           0.994,
           false}};
}

void add_memory(RooflineResult& result, MemoryKernel kernel, double share) {
  struct Level {
    MemoryLevelName name;
    double from, to, rate;
  };
  const Level levels[] = {{MemoryLevelName::l1, 4.0 * kib, 24.0 * kib, 210e9},
                          {MemoryLevelName::l2, 48.0 * kib, 384.0 * kib, 96.5e9},
                          {MemoryLevelName::l3, 768.0 * kib, 12.0 * mebibyte, 52.8e9},
                          {MemoryLevelName::memory, 48.0 * mebibyte, 192.0 * mebibyte, 23.1e9}};
  for (const Level& level : levels) {
    result.memory_levels.push_back({{{level.name},
                                     Bytes(level.from),
                                     Bytes(level.to),
                                     around<BytesPerSecond>(level.rate * share, 1.3, 3.4)},
                                    {kernel},
                                    2});
    for (double size = level.from; size <= level.to; size *= 2.0) {
      const auto rate = around<BytesPerSecond>(level.rate * share, 1.5, 2.5, 9);
      result.memory.push_back({{kernel}, 2, Bytes(size), rate, rate});
    }
  }
}

void add_latency(RooflineResult& result) {
  struct Level {
    MemoryLevelName name;
    double from, to, latency;
  };
  const Level levels[] = {{MemoryLevelName::l1, 4.0 * kib, 24.0 * kib, 1.31e-9},
                          {MemoryLevelName::l2, 48.0 * kib, 384.0 * kib, 4.02e-9},
                          {MemoryLevelName::l3, 768.0 * kib, 12.0 * mebibyte, 15.3e-9},
                          {MemoryLevelName::memory, 48.0 * mebibyte, 192.0 * mebibyte, 104.2e-9}};
  for (const Level& level : levels) {
    result.latency_levels.push_back({{{level.name},
                                      Bytes(level.from),
                                      Bytes(level.to),
                                      around<Seconds>(level.latency, 0.7, 2.1)}});
    for (double size = level.from; size <= level.to; size *= 2.0) {
      result.latency.push_back({Bytes(size), around<Seconds>(level.latency, 1.0, 1.0, 7)});
    }
  }
}

PlacedGemm gemm(ProductFamily family, std::int64_t m, double rate, double fraction, Bound bound) {
  PlacedGemm placed;
  placed.family = family;
  placed.format.precision = NumberFormat::fp32;
  placed.library = "OpenBLAS 0.3.21";
  placed.shape = {m, 1024, 1024};
  placed.workers = 2;
  const double md = static_cast<double>(m);
  placed.intensity =
      FlopPerByte(2.0 * md * 1024.0 * 1024.0 / (4.0 * (2.0 * md * 1024.0 + 1024.0 * 1024.0)));
  placed.rate = around<FlopPerSecond>(rate, 1.2, 0.8);
  placed.roof = FlopPerSecond(rate / fraction);
  placed.fraction = fraction;
  placed.bound = bound;
  return placed;
}

}  // namespace

RooflineResult roofline() {
  RooflineResult result;
  result.ceilings = ceilings();
  add_memory(result, MemoryKernel::read, 1.0);
  add_memory(result, MemoryKernel::triad, 0.86);
  add_latency(result);
  result.gemms = {gemm(ProductFamily::square, 1024, 188.4e9, 0.882, Bound::compute),
                  gemm(ProductFamily::tokens, 64, 142.0e9, 0.665, Bound::compute),
                  gemm(ProductFamily::tokens, 1, 9.9e9, 0.876, Bound::memory)};
  return result;
}

}  // namespace scaleworth::report::fixture
