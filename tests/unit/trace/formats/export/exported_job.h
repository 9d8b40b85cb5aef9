// SPDX-License-Identifier: Apache-2.0
/// Small jobs and what is found out about them, on clocks that agree.
#pragma once

#include "trace/analysis/ledger.h"
#include "trace/attribute.h"
#include "trace/classify.h"
#include "trace/recording.h"

#include <string>
#include <utility>

namespace scaleworth::trace {

/// Classifies `job`, too.
inline Attributed attributed(Job& job) {
  static const RuleTable rules = RuleTable::built_in();
  for (Recording& recording : job.recordings) classify(recording, rules);
  Attributed all;
  all.matching = match_collectives(job);
  all.alignment.map = ClockMap(job.recordings.size());
  all.steps = find_steps(job, all.alignment.map);
  all.waits = split_waits(job, all.matching, all.alignment);
  all.result.ledger = build_job_ledger(job, all.steps, all.waits, all.alignment.map);
  all.steps.drawn = 1;  // the one that counts
  return all;
}

/// One rank: a step from 0 to 100 us, a kernel, an all-reduce from `arrival` to 80 us on another
/// stream, and the launch of both.
inline Recording small_rank(int rank, int arrival_us) {
  using std::chrono::microseconds;
  Recording recording;
  recording.origin.rank = rank;
  recording.origin.world_size = 2;
  recording.origin.tool = "Kineto";
  recording.threads = {"python 10/1"};
  const auto device = [&](const char* name, int start, int end, std::uint32_t stream, int launch) {
    DeviceEvent event;
    event.start = microseconds(start);
    event.end = microseconds(end);
    event.name = recording.names.intern(name);
    event.stream = stream;
    event.correlation = static_cast<std::uint64_t>(launch);
    recording.device_events.push_back(event);
  };
  device("gemm_kernel", 10, 70, 7, 1);
  device("elementwise_kernel", 20, 30, 7, 1);  // overlaps the one before on its stream
  device("ncclDevKernel_AllReduce_Sum_f32_RING_LL", arrival_us, 80, 9, 2);
  recording.communications.push_back({CollectiveKind::all_reduce,
                                      recording.names.intern("default_pg"),
                                      3,
                                      4096,
                                      4096,
                                      std::nullopt,
                                      std::nullopt});
  recording.device_events.back().communication = 0;
  recording.groups[recording.names.intern("default_pg")] = {"", 2, {0, 1}};
  const auto host = [&](const char* name, int start, int end, HostActivity activity, int launch) {
    HostEvent event;
    event.start = microseconds(start);
    event.end = microseconds(end);
    event.name = recording.names.intern(name);
    event.activity = activity;
    event.correlation = static_cast<std::uint64_t>(launch);
    recording.host_events.push_back(event);
  };
  host("forward", 1, 50, HostActivity::annotation, 0);
  host("cudaLaunchKernel", 2, 4, HostActivity::runtime_call, 1);
  host("cuLaunchKernelEx", 5, 6, HostActivity::driver_call, 2);
  for (int step = 0; step < 3; ++step)
    recording.step_marks.push_back(
        {step, microseconds(100 * step), microseconds(100 * step + 100)});
  recording.step_marks_from = "ProfilerStep";
  sort_events(recording);
  return recording;
}

inline Job small_job() {
  Job job;
  job.recordings.push_back(small_rank(0, 20));
  job.recordings.push_back(small_rank(1, 75));  // the last to come
  return job;
}

}  // namespace scaleworth::trace
