// SPDX-License-Identifier: Apache-2.0
/// Any bytes as the events of a job of two ranks: steps are disjoint and in order, every ledger
/// sums to its step (build_job_ledger throws std::logic_error where one does not), and factors of
/// efficiency multiply.
#include "trace/analysis/clocks.h"
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/analysis/ledger.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace scaleworth;
using namespace scaleworth::trace;

void require(bool holds) {
  if (!holds) std::abort();
}

class InputBytes {
 public:
  InputBytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  std::uint8_t next() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  /// Mostly small, at times as large as recordings may have it.
  nanoseconds time() {
    const auto value = static_cast<std::int8_t>(next());
    const int shift = next() % 8 == 0 ? 53 : 10;
    return nanoseconds(std::int64_t{value} * (std::int64_t{1} << shift) + next());
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

template <class Event>
void take_times(InputBytes& bytes, Event& event) {
  event.start = bytes.time();
  event.end = bytes.next() % 4 == 0 ? bytes.time() : event.start + nanoseconds(bytes.next() * 64);
}

void take_device_event(InputBytes& bytes, Recording& recording) {
  DeviceEvent event;
  take_times(bytes, event);
  event.end = std::max(event.start, event.end);
  event.correlation = bytes.next() % 16;
  event.stream = bytes.next() % 4;
  event.name = recording.names.intern(std::string(1, static_cast<char>('a' + bytes.next() % 6)));
  event.work_class = static_cast<WorkClass>(bytes.next() % work_classes);
  if (event.work_class == WorkClass::communication)
    event.collective = static_cast<CollectiveKind>(bytes.next() % 13);
  recording.device_events.push_back(event);
}

void take_host_event(InputBytes& bytes, Recording& recording) {
  HostEvent event;
  take_times(bytes, event);
  event.correlation = bytes.next() % 16;
  event.thread = bytes.next() % 3;
  event.synchronization = bytes.next() % 3;
  event.activity = static_cast<HostActivity>(bytes.next() % 6);
  const std::uint8_t cause = bytes.next() % 14;
  if (cause < host_causes) event.cause = static_cast<HostCause>(cause);
  recording.host_events.push_back(event);
}

void take_mark(InputBytes& bytes, Recording& recording) {
  StepMark mark;
  take_times(bytes, mark);
  mark.number = bytes.next() % 32 == 0 ? 2147483647 : bytes.next() % 8;
  recording.step_marks.push_back(mark);
}

Job take_job(InputBytes& bytes) {
  Job job;
  job.recordings.resize(2);
  for (Recording& recording : job.recordings) {
    recording.synchronizations.resize(2);
    recording.synchronizations[0].kind = Synchronization::Kind::stream_wait_event;
    recording.synchronizations[0].stream = 1;
  }
  while (!bytes.empty()) {
    const std::uint8_t what = bytes.next();
    Recording& recording = job.recordings[what & 1u];
    switch (what >> 1u & 7u) {
      case 0:
        take_mark(bytes, recording);
        break;
      case 1:
      case 2:
        take_host_event(bytes, recording);
        break;
      default:
        take_device_event(bytes, recording);
    }
  }
  for (Recording& recording : job.recordings) sort_events(recording);
  return job;
}

void check_steps(const StepPlan& plan) {
  for (const auto& steps : plan.by_rank) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      require(steps[i].start <= steps[i].end);
      require(i == 0 || steps[i - 1].end <= steps[i].start);
      require(i == 0 || steps[i - 1].number < steps[i].number);
    }
  }
}

/// Factors multiply and lie in (0, 1].
void check_efficiency(const EfficiencyResult& result) {
  require(result.efficiency || result.reason);
  if (!result.efficiency) return;
  const Efficiency& e = *result.efficiency;
  const double product = e.load_balance * e.serialization * e.transfer;
  require(e.parallel > 0.0 && e.parallel <= 1.0 && std::abs(product / e.parallel - 1.0) < 1e-9);
  for (const double factor : {e.load_balance, e.host, e.dependency, e.transfer})
    require(factor > 0.0 && factor <= 1.0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  InputBytes bytes(data, size);
  const Job job = take_job(bytes);
  const Matching matching = match_collectives(job);
  const Alignment alignment = align_clocks(job, matching);
  const Waits waits = split_waits(job, matching, alignment);
  const StepPlan plan = find_steps(job, alignment.map);
  check_steps(plan);
  for (const auto& ledger : build_job_ledger(job, plan, waits, alignment.map)) check_sums(ledger);
  StragglerReport stragglers;
  stragglers.stragglers.emplace_back();
  stragglers.stragglers[0].significant = true;
  const JobReplay replay(job, plan, waits, alignment);
  settle_costs(replay, 1.0, stragglers);
  check_efficiency(measure_efficiency(replay, stragglers));
  return 0;
}
