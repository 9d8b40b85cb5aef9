// SPDX-License-Identifier: Apache-2.0
/// What a GPU says of itself, launches, telemetry and questions from several threads.
#include "tests/catch.h"
#include "tests/gpu/rates.h"

#include <thread>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::gpu_tests;
using namespace scaleworth::probes;

TEST_CASE("a GPU has a name, an identity and memory to give", "[gpu]") {
  const DeviceDescription& description = device().description();
  CHECK_FALSE(description.name.empty());
  CHECK(description.uuid.size() == std::string("GPU-00000000-0000-0000-0000-000000000000").size());
  CHECK(device().available_memory() > Bytes(256.0 * 1048576.0));
  CHECK(device().available_memory() < description.memory);
}

TEST_CASE("launches take microseconds, and waiting for each takes longer", "[gpu]") {
  const double queued = median(device().time_launch(LaunchKind::empty_kernel, brief()).time_s);
  const double node = median(device().time_launch(LaunchKind::graph_node, brief()).time_s);
  const double awaited = median(device().time_launch(LaunchKind::synchronise, brief()).time_s);
  CHECK(queued > 0.1e-6);
  CHECK(queued < 100e-6);
  CHECK(node > 0.1e-6);
  CHECK(node < 100e-6);
  CHECK(awaited > queued);
  CHECK(awaited < 10e-3);
}

TEST_CASE("a question is watched, or says why not", "[gpu]") {
  const auto measured = device().time_fma(NumberFormat::fp32, brief());
  CHECK((!measured.telemetry.time_s.empty() || !measured.telemetry.missing.empty()));
}

TEST_CASE("another thread may ask after the first", "[gpu]") {
  std::vector<double> times;
  std::jthread([&] {
    times = device().time_launch(LaunchKind::empty_kernel, brief()).time_s;
  }).join();
  CHECK(times.size() == 5);
}

TEST_CASE("all GPUs may be asked at the same time", "[gpu]") {
  std::vector<double> rates(devices().size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < devices().size(); ++i) {
      threads.emplace_back([&rates, i] {
        rates[i] = flop_rate(devices()[i]->time_fma(NumberFormat::fp32, brief()));
      });
    }
  }
  for (const double rate : rates) CHECK(rate > 0.0);
}
