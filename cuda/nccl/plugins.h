// SPDX-License-Identifier: Apache-2.0
/// Tuner and profiler plugins: exported symbols, what NCCL reported.
#pragma once

#include "cuda/nccl/plugin_interfaces.h"
#include "probes/ranks.h"
#include "src/core/units.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The plugins that NCCL finds in this program itself (STATIC_PLUGIN): their symbols must be in the
// dynamic table of the executable.

extern "C" {
extern scaleworth::gpu::NcclTunerV4 ncclTunerPlugin_v4;
extern scaleworth::gpu::NcclTunerV5 ncclTunerPlugin_v5;
extern scaleworth::gpu::NcclTunerV6 ncclTunerPlugin_v6;
extern scaleworth::gpu::NcclProfilerV4 ncclProfiler_v4;
extern scaleworth::gpu::NcclProfilerV5 ncclProfiler_v5;
}

namespace scaleworth::gpu {

/// Points NCCL_TUNER_PLUGIN and NCCL_PROFILER_PLUGIN at this program unless the user has set them.
/// To be called before the first communicator and while no other thread runs: NCCL remembers a
/// failed load, and the environment has no lock. Returns what is lost for respecting the user's
/// settings.
std::vector<Finding> offer_plugins();

/// What NCCL reported while it was watched.
struct NcclReport {
  std::vector<probes::CollectiveAlgorithm> offered;  // usable ways of the last call
  std::optional<probes::RanAlgorithm> ran;
  bool tuner_called = false;
  bool refused = false;  // the way to be forced was not usable
  /// Slowest of the process's ranks in the warm-up; 0: none of its ranks took part.
  Seconds operation;
};

/// Shared by the plugins and the measurement: what NCCL reported, and what it has to do. Used by
/// any number of threads: each rank of this process enqueues on its own.
class PluginState {
 public:
  /// A call that moves no more than this is the measurement's own and neither recorded nor forced.
  static constexpr std::size_t own_bytes = 4;

  /// From now on calls take this way where it is usable; absent: NCCL chooses.
  void force(const std::optional<probes::CollectiveAlgorithm>& way);
  /// Clears the report and listens until `stop_watching`. Between the two the profiler is on.
  void start_watching();
  NcclReport stop_watching();

  /// The tuner's question. `costs`: 7 x 3 as described at NcclTunerV5.
  void tune(std::size_t bytes, float* costs, int algorithms, int protocols);
  /// The profiler's result.
  void started(std::string_view algorithm, std::string_view protocol, int channels);
  /// NCCL reads this mask before each call.
  void offer_mask(int* mask);

 private:
  void listen(bool on);

  std::atomic<bool> busy_{false};  // forcing or watching: else NCCL is not held up
  std::mutex mutex_;
  bool watching_ = false;
  std::optional<probes::CollectiveAlgorithm> forced_;
  int* mask_ = nullptr;
  NcclReport report_;
};

/// One in a process: NCCL's plugin calls carry no pointer to another.
PluginState& plugin_state();

/// Makes each element the larger one; an empty vector of an idle rank changes nothing. Throws
/// ProbeFailure when the lengths differ.
void take_slowest(std::vector<double>& slowest, const std::vector<double>& other);
}  // namespace scaleworth::gpu
