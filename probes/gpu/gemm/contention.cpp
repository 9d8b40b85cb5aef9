// SPDX-License-Identifier: Apache-2.0
/// What a product loses when a collective holds some multiprocessors.
#include "probes/gpu/gemm/gemm.h"
#include "probes/gpu/gemm/pass.h"
#include "probes/gpu/gemm/shape_rules.h"
#include "src/core/error.h"

#include <array>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

/// NCCL takes 1 to 32 multiprocessors; twice that shows where the curve goes.
constexpr std::array held_by_others{0, 4, 16, 32, 64};
constexpr int most_held_in_quick = 32;

Seconds time_of(Suite suite) {
  return suite == Suite::quick ? Seconds(0.5) : Seconds(1.2);
}

SettleRule short_rule(Suite suite) {
  const Seconds window = 0.5 * time_of(suite);
  return {.minimum = window, .maximum = 2.0 * time_of(suite), .window = window};
}

std::vector<int> multiprocessor_counts(const DeviceDescription& device, Suite suite) {
  std::vector<int> counts;
  for (const int held : held_by_others) {
    if (suite == Suite::quick && held > most_held_in_quick) continue;
    const int left = device.multiprocessors - held;
    if (4 * left >= device.multiprocessors) counts.push_back(left);
  }
  return counts;
}

GemmProblem contended_problem(const DeviceDescription& device, int multiprocessors) {
  GemmProblem problem;
  problem.input = gemm_formats(Suite::quick, device.compute_capability).front().input;
  problem.m = problem.n = problem.k = 8192;
  // The full count is the undisturbed case: no target is set, as every other product is measured.
  problem.multiprocessors = multiprocessors == device.multiprocessors ? 0 : multiprocessors;
  return problem;
}

}  // namespace

void measure_gpu_contention(Devices& devices, const DeviceSetting& setting, Recorder& recorder) {
  Device& device = *devices.at(0);
  const DeviceDescription& description = device.description();
  const std::string library = require_gemm_library(device);
  SearchEffort effort = gemm_effort(setting.suite, false).brief;
  effort.recorded = false;
  const std::vector<int> counts = multiprocessor_counts(description, setting.suite);
  std::string last_failure;
  std::size_t reached = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const GemmProblem problem = contended_problem(description, counts[i]);
    recorder.progress(static_cast<double>(i) / static_cast<double>(counts.size()),
                      fmt::format("{} on {} of {} multiprocessors",
                                  gemm_problem_name(problem),
                                  counts[i],
                                  description.multiprocessors));
    try {
      ChosenGemm gemm(device, {description, library, "cube", {}, problem}, effort, recorder);
      recorder.add(gemm.steady("contention", short_rule(setting.suite), time_of(setting.suite)));
      ++reached;
    } catch (const ProbeFailure& failure) {
      last_failure = failure.what();
      recorder.warn(fmt::format("{} multiprocessors left out: {}", counts[i], last_failure));
    }
  }
  if (reached == 0) throw ProbeFailure(last_failure);
}

Seconds estimate_gpu_contention(const DeviceSetting& setting) {
  if (setting.devices.empty()) return Seconds(0.0);
  const SearchEffort effort = gemm_effort(setting.suite, false).brief;
  const Seconds each =
      search_time(effort) + short_rule(setting.suite).minimum + time_of(setting.suite);
  return static_cast<double>(multiprocessor_counts(setting.devices.front(), setting.suite).size()) *
         each;
}

}  // namespace scaleworth::probes
