// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/roofline/ladder.h"

#include "cuda/device/questions/chains.h"
#include "cuda/device/questions/questions.h"
#include "cuda/device/questions/samples.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/rounded_fma.h"
#include "src/core/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

using probes::NumberFormat;

constexpr int vector_bytes = 16;

LadderFormat ladder_format(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp64:
      return LadderFormat::fp64;
    case NumberFormat::fp16:
      return LadderFormat::fp16;
    case NumberFormat::bf16:
      return LadderFormat::bf16;
    default:
      return LadderFormat::fp32;
  }
}

}  // namespace

probes::DeviceMeasured time_ladder(Workbench& bench,
                                   const probes::LadderWork& work,
                                   const probes::Target& target) {
  require_chain_format(bench.description(), work.format);
  const auto vectors = static_cast<std::uint64_t>(work.working_set.value() / vector_bytes);
  if (vectors == 0 || work.fma_per_element < 1) {
    throw ProbeFailure(fmt::format("GPU {}: {} bytes and {} multiply-adds per element are no work",
                                   bench.description().ordinal,
                                   work.working_set.value(),
                                   work.fma_per_element));
  }
  const auto element_bytes = static_cast<std::size_t>(probes::element_bytes(work.format));
  const std::uint64_t elements = vectors * vector_bytes / element_bytes;
  const auto [a, b] = probes::chain_constants(work.format);
  const LadderStep step{ladder_format(work.format), work.fma_per_element, a, b};
  const std::string doing = fmt::format(
      "{} multiply-adds per element in {}", work.fma_per_element, number_format_name(work.format));

  const DeviceBuffer data = bench.allocate(vectors * vector_bytes);
  fill_uniform(bench, work.format, data.get(), elements);
  int resident = 0;
  check(ladder_occupancy(step, &resident));
  const int blocks = std::max(1, resident) * bench.description().multiprocessors;
  const BatchWork batch{.doing = doing, .enqueue = [&](cudaStream_t stream, int) {
                          return launch_ladder(step, data.get(), vectors, blocks, stream);
                        }};
  const auto before = take_samples(bench, data.get(), elements, element_bytes);
  bench.timer().run_once(batch);
  const auto after = take_samples(bench, data.get(), elements, element_bytes);
  require_chains(bench.health(), work.format, before, after, work.fma_per_element, doing);

  probes::DeviceMeasured measured = bench.time(batch, target, bench.batch_options());
  measured.flops = Flops(2.0 * work.fma_per_element * static_cast<double>(elements));
  measured.bytes = Bytes(2.0 * static_cast<double>(vectors) * vector_bytes);
  return measured;
}

}  // namespace scaleworth::gpu
