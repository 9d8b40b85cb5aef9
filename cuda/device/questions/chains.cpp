// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions/chains.h"

#include "cuda/kernels/roofline/fill.h"
#include "cuda/runtime/error.h"
#include "probes/gpu/rounded_fma.h"
#include "src/core/error.h"

#include <cstring>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

using probes::NumberFormat;

template <class T>
T read_as(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

double number_at(NumberFormat format, const ArraySample& sample, std::size_t index) {
  const auto bytes = static_cast<std::size_t>(probes::element_bytes(format));
  const std::byte* from = sample.bytes.data() + index * bytes;
  switch (format) {
    case NumberFormat::fp64:
      return read_as<double>(from);
    case NumberFormat::fp16:
      return probes::fp16_value(read_as<std::uint16_t>(from));
    case NumberFormat::bf16:
      return probes::bf16_value(read_as<std::uint16_t>(from));
    default:
      return read_as<float>(from);
  }
}

}  // namespace

void require_chain_format(const probes::DeviceDescription& description, NumberFormat format) {
  static_cast<void>(probes::chain_constants(format));
  if (format == NumberFormat::bf16 && description.compute_capability < 80) {
    throw NothingToMeasure(
        fmt::format("GPU {} has compute capability {}.{}; its CUDA cores have no bf16 before 8.0",
                    description.ordinal,
                    description.compute_capability / 10,
                    description.compute_capability % 10));
  }
}

void fill_uniform(Workbench& bench, NumberFormat format, void* data, std::uint64_t numbers) {
  constexpr std::uint32_t seed = 1;
  switch (format) {
    case NumberFormat::fp64:
      return check(launch_fill_fp64(static_cast<double*>(data), numbers, seed, bench.stream()));
    case NumberFormat::fp16:
      return check(launch_fill_fp16(data, numbers, seed, bench.stream()));
    case NumberFormat::bf16:
      return check(launch_fill_bf16(data, numbers, seed, bench.stream()));
    default:
      return check(launch_fill_fp32(static_cast<float*>(data), numbers, seed, bench.stream()));
  }
}

void require_chains(const DeviceHealth& health,
                    NumberFormat format,
                    const std::vector<ArraySample>& before,
                    const std::vector<ArraySample>& after,
                    int steps,
                    const std::string& doing) {
  const probes::ChainConstants constants = probes::chain_constants(format);
  const auto bytes = static_cast<std::size_t>(probes::element_bytes(format));
  // The host needs some 50 ns per step: a tenth of a second must do.
  constexpr std::size_t most_steps = 2'000'000;
  const std::size_t numbers = before.size() * before.front().bytes.size() / bytes;
  const std::size_t stride = 1 + numbers * static_cast<std::size_t>(steps) / most_steps;
  for (std::size_t s = 0; s < before.size(); ++s) {
    for (std::size_t i = 0; i < before[s].bytes.size() / bytes; i += stride) {
      const double wanted =
          probes::rounded_chain(format, number_at(format, before[s], i), constants, steps);
      const double found = number_at(format, after.at(s), i);
      if (!(found == wanted)) wrong_result(health, doing, before[s].first + i, found, wanted);
    }
  }
}

}  // namespace scaleworth::gpu
