// SPDX-License-Identifier: Apache-2.0
/// How fast rows of a capture become bytes of a file and events again, on one core; asserts
/// nothing. Usage: recording_speed [KERNELS]
#include "trace/formats/swtrace/bytes.h"
#include "trace/formats/swtrace/swtrace.h"
#include "trace/formats/swtrace/rows.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <random>

#include <fmt/format.h>

namespace {

using namespace scaleworth::trace;
using recording::Batch;

class Memory : public ByteSource {
 public:
  explicit Memory(const std::string& bytes) : bytes_(bytes) {}
  const std::string& name() const override { return name_; }
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size() - position_);
    std::copy_n(bytes_.data() + position_, count, buffer.data());
    position_ += count;
    return count;
  }
  const std::string& damage() const override { return damage_; }

 private:
  const std::string& bytes_;
  std::string name_ = "memory";
  std::string damage_;
  std::size_t position_ = 0;
};

/// Kernels of 2 to 66 us back to back, each with its runtime call.
Batch fabricate(std::size_t kernels) {
  Batch batch;
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) batch.names.push_back(fmt::format("kernel_{}", i));
  batch.names.emplace_back("cudaLaunchKernel");
  std::uint64_t time = 1'763'000'000'000'000'000U;
  for (std::size_t i = 0; i < kernels; ++i) {
    const std::uint64_t draw = random();
    const auto correlation = static_cast<std::uint32_t>(2 * i + 1);
    const std::uint64_t length = 2000 + draw % 65536;
    batch.kernels.push_back({.start_ns = time,
                             .duration_ns = length,
                             .correlation = correlation,
                             .name = static_cast<std::uint32_t>(1 + (draw >> 32U) % 300),
                             .context = 1,
                             .stream = static_cast<std::uint32_t>(7 + (draw >> 60U)),
                             .device = 3,
                             .shape = static_cast<std::uint32_t>(1 + (draw >> 40U) % 400)});
    batch.calls.push_back({.start_ns = time - 50'000 - (draw >> 50U),
                           .duration_ns = 3000 + (draw >> 52U),
                           .correlation = correlation,
                           .name = 301,
                           .thread = 1'904'233});
    time += length + 1000;
  }
  return batch;
}

/// Of this process: a shared machine's other work does not count.
double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t kernels = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
  const Batch batch = fabricate(kernels);
  const auto records = static_cast<double>(2 * kernels);
  std::string bytes;
  for (int round = 0; round < 3; ++round) {
    bytes = recording::file_header();  // the first round also pays for its memory
    const double start = processor_seconds();
    recording::append_batch(batch, bytes);
    fmt::print("write {:.1f} million records/s, {:.0f} MB/s\n",
               records / (processor_seconds() - start) / 1e6,
               static_cast<double>(bytes.size()) / (processor_seconds() - start) / 1e6);
  }
  fmt::print("{:.1f} bytes per kernel with its call\n",
             static_cast<double>(bytes.size()) / static_cast<double>(kernels));
  Memory source(bytes);
  const double start = processor_seconds();
  const auto recordings = read_recording(source);
  fmt::print("read {:.1f} million events/s, {} events\n",
             records / (processor_seconds() - start) / 1e6,
             recordings.front().device_events.size() + recordings.front().host_events.size());
}
