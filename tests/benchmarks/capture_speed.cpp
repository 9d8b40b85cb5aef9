// SPDX-License-Identifier: Apache-2.0
/// How fast the writer of the capture library turns CUPTI's records into bytes of a file, on one
/// core; asserts nothing. Usage: capture_speed [KERNELS]
#include "cuda/inject/decoder.h"
#include "trace/formats/swtrace/rows.h"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace {

using namespace scaleworth;

/// Of this process: a shared machine's other work does not count.
double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// As CUPTI leaves them: a call, then its kernel, with 300 names and 400 shapes.
std::vector<std::uint8_t> fabricate(std::size_t kernels, const std::vector<std::string>& names) {
  constexpr std::size_t pair_bytes = sizeof(CUpti_ActivityAPI) + sizeof(CUpti_ActivityKernel9);
  std::vector<std::uint8_t> bytes(kernels * pair_bytes);
  std::mt19937_64 random(1);
  std::uint64_t time = 1'763'000'000'000'000'000U;
  for (std::size_t i = 0; i < kernels; ++i) {
    const std::uint64_t draw = random();
    CUpti_ActivityAPI call{};
    call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    call.cbid = 211;
    call.start = time - 50'000;
    call.end = call.start + 4000;
    call.threadId = 1'904'233;
    call.correlationId = static_cast<std::uint32_t>(i);
    CUpti_ActivityKernel9 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = time;
    kernel.end = time + 2000 + draw % 65536;
    kernel.correlationId = call.correlationId;
    kernel.name = names[(draw >> 32U) % names.size()].c_str();
    kernel.gridX = static_cast<std::int32_t>(1 + (draw >> 40U) % 400);
    kernel.streamId = 7;
    std::uint8_t* at = bytes.data() + i * pair_bytes;
    std::memcpy(at, &call, sizeof(call));
    std::memcpy(at + sizeof(call), &kernel, sizeof(kernel));
    time = kernel.end + 1000;
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t kernels = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 500'000;
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i)
    names.push_back(fmt::format("_ZN2at6native29vectorized_elementwise_kernelILi{}EEEvv", i));
  const std::vector<std::uint8_t> records = fabricate(kernels, names);
  for (int round = 0; round < 3; ++round) {
    gpu::RecordDecoder decoder;
    trace::recording::Batch batch;
    std::string bytes;
    std::size_t written = 0;
    const auto write = [&] {  // the file takes them, their memory stays
      bytes.clear();
      trace::recording::append_batch(batch, bytes);
      batch.clear();
      written += bytes.size();
    };
    const double start = processor_seconds();
    const std::uint8_t* at = records.data();
    for (std::size_t i = 0; i < kernels; ++i) {
      decoder.add(*reinterpret_cast<const CUpti_Activity*>(at), batch);
      at += sizeof(CUpti_ActivityAPI);
      decoder.add(*reinterpret_cast<const CUpti_Activity*>(at), batch);
      at += sizeof(CUpti_ActivityKernel9);
      if (batch.kernels.size() == 65536) write();
    }
    write();
    const double seconds = processor_seconds() - start;
    fmt::print("decode and write {:.1f} million records/s, {:.1f} bytes per kernel with its call\n",
               2.0 * static_cast<double>(kernels) / seconds / 1e6,
               static_cast<double>(written) / static_cast<double>(kernels));
  }
}
