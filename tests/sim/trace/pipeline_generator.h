// SPDX-License-Identifier: Apache-2.0
/// Training jobs whose model is cut into stages of a pipeline, recorded to the last event.
#pragma once

#include "trace/recording.h"

#include <cstdint>
#include <optional>

namespace scaleworth::sim {

struct PipelineTruth {
  enum class Schedule : std::uint8_t {
    all_forward_first,         // GPipe
    one_forward_one_backward,  // 1F1B: backward begins as soon as the last stage can
  };
  enum class Recorder : std::uint8_t {
    profiler,   // kernels with launches and the peers of messages
    framework,  // a framework's timers: receives are shown only when their message is there
  };

  int stages = 4;
  int replicas = 2;
  int batches = 8;  // microbatches of a step
  int steps = 6;
  std::uint64_t seed = 1;
  double kernel_noise = 0.01;  // relative sigma of every kernel's duration
  Schedule schedule = Schedule::one_forward_one_backward;
  Recorder recorder = Recorder::profiler;

  std::optional<int> long_stage;  // computes `longer` times as long, on all its replicas
  std::optional<int> slow_rank;   // likewise, one GPU
  double longer = 1.4;
  double work = 1.0;  // of every stage: forward and backward take so many times as long
};

/// Ranks are numbered as stage * replicas + replica, clocks agree. A forward takes 300 us, a
/// backward 600 us, a message 20 us. A step ends with an all-reduce of each stage's replicas, one
/// of all ranks, and an optimizer. Events are classified already.
trace::Job generate_pipeline(const PipelineTruth& truth);

}  // namespace scaleworth::sim
