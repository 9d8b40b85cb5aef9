// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/questions/samples.h"

#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

constexpr std::uint64_t most_stretches = 64;
constexpr std::uint64_t stretch_elements = 256;

std::vector<ArraySample> places(std::uint64_t elements, std::size_t element_bytes) {
  const std::uint64_t length = std::min(elements, stretch_elements);
  const std::uint64_t stretches = std::min(most_stretches, elements / length);
  std::vector<ArraySample> samples(stretches);
  for (std::uint64_t i = 0; i < stretches; ++i) {
    samples[i].first = stretches == 1 ? 0 : (elements - length) / (stretches - 1) * i;
    if (i + 1 == stretches) samples[i].first = elements - length;
    samples[i].bytes.resize(length * element_bytes);
  }
  return samples;
}

}  // namespace

std::vector<ArraySample> take_samples(Workbench& bench,
                                      const void* array,
                                      std::uint64_t elements,
                                      std::size_t element_bytes) {
  std::vector<ArraySample> samples = places(elements, element_bytes);
  const std::size_t length = samples.front().bytes.size();
  const PinnedBuffer staged = allocate_pinned(bench.health(), samples.size() * length);
  auto* stage = static_cast<std::byte*>(staged.get());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    check(cudaMemcpyAsync(stage + i * length,
                          static_cast<const std::byte*>(array) + samples[i].first * element_bytes,
                          length,
                          cudaMemcpyDefault,
                          bench.stream()));
  }
  bench.timer().wait("reading samples of a result");
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::memcpy(samples[i].bytes.data(), stage + i * length, length);
  }
  return samples;
}

void require_floats(Workbench& bench,
                    const float* array,
                    std::uint64_t elements,
                    const std::function<float(std::uint64_t)>& expected,
                    const std::string& doing) {
  for (const ArraySample& sample : take_samples(bench, array, elements, sizeof(float))) {
    for (std::size_t i = 0; i < sample.bytes.size() / sizeof(float); ++i) {
      float found = 0.0F;
      std::memcpy(&found, sample.bytes.data() + i * sizeof(float), sizeof(float));
      const float wanted = expected(sample.first + i);
      if (!(found == wanted)) {
        wrong_result(bench.health(), doing, sample.first + i, found, wanted);
      }
    }
  }
}

void wrong_result(const DeviceHealth& health,
                  const std::string& doing,
                  std::uint64_t index,
                  double found,
                  double expected) {
  throw ProbeFailure(
      fmt::format("GPU {}: {} gave a wrong result: element {} is {:.9g} instead of {:.9g}; its "
                  "timing is not kept. See dmesg for Xid and nvidia-smi -q for memory errors",
                  health.ordinal(),
                  doing,
                  index,
                  found,
                  expected));
}

}  // namespace scaleworth::gpu
