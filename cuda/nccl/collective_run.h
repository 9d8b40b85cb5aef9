// SPDX-License-Identifier: Apache-2.0
/// One rank's part in the measurement of one collective.
#pragma once

#include "cuda/nccl/communicator.h"
#include "cuda/runtime/handles.h"
#include "probes/collectives.h"

#include <atomic>
#include <chrono>

namespace scaleworth::gpu {
/// "all_reduce of 1024 B"
std::string describe(const probes::CollectiveWork& work);

/// All ranks of a team call the same members in the same order, each on its own thread or process.
/// A wait ends with ProbeFailure naming rank and call when the rank's communicator failed, when
/// `stop` was set, or after the limit.
class CollectiveRun {
 public:
  /// Fills the send buffer. `stop`: another rank of this process gave up.
  CollectiveRun(LocalRank& place,
                const Communicator& communicator,
                const probes::CollectiveWork& work,
                const std::atomic<bool>& stop);

  /// A few operations, so that connections exist and clocks have risen. Returns the time of the
  /// last.
  Seconds warm_up();
  /// Once more on fresh data, and compares the result where it lies. Throws ProbeFailure with the
  /// number of wrong elements.
  void verify();
  /// Captures `operations` of them and replays them once, which is the graph's own warm-up.
  void capture(int operations);
  /// Seconds of one operation for each repetition. isolated: a small all-reduce just before it in
  /// the same stream brings the ranks together, and hides the launch. graph: after `capture`.
  std::vector<double> time(const probes::CollectiveBatch& batch);

 private:
  void fill();
  void run();
  void align();
  void wait(cudaEvent_t event, std::chrono::duration<double> expected);

  LocalRank& place_;
  const Communicator& communicator_;
  const probes::CollectiveWork work_;
  const probes::MessageShape shape_;
  const std::atomic<bool>& stop_;
  const std::string what_;
  CollectiveBuffers buffers_;
  double operation_s_ = 0.1;
  GraphExecutable graph_;
};
}  // namespace scaleworth::gpu
