// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/trace/job_generator.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

namespace scaleworth::sim {
namespace {

using trace::DeviceEvent;
using trace::HostEvent;
using trace::Recording;

constexpr double launch_ns = 4e3;        // of the host, per call
constexpr double launch_delay_ns = 5e3;  // from the call's end to the kernel's start
constexpr std::uint32_t communication_stream = 20;

class Generator {
 public:
  explicit Generator(const JobTruth& truth) : truth_(truth), random_(truth.seed) {
    result_.clocks.resize(static_cast<std::size_t>(truth.ranks));
    for (int rank = 0; rank < truth.ranks; ++rank) add_rank(rank);
  }

  GeneratedJob generate() {
    for (step_ = 0; step_ < truth_.steps; ++step_) run_step();
    for (Recording& recording : result_.job.recordings) {
      if (truth_.lost_share > 0.0) lose_events(recording);
      trace::sort_events(recording);
    }
    return std::move(result_);
  }

 private:
  struct RankState {
    double host = 0.0;
    double device = 0.0;         // the stream that computes is busy until then
    double communication = 0.0;  // the other one
    double step_begin = 0.0;
    std::uint64_t correlation = 0;
    std::int64_t sequence = 0;
  };

  void add_rank(int rank) {
    Recording& recording = result_.job.recordings.emplace_back();
    recording.origin.rank = rank;
    recording.origin.file = "rank" + std::to_string(rank) + ".json";
    recording.threads.emplace_back("python");
    recording.step_marks_from = "ProfilerStep";
    if (truth_.cause == LateCause::pipeline_stage) {
      recording.origin.pipeline_stage = rank * 4 / truth_.ranks;
      recording.origin.data_parallel_rank = rank % (truth_.ranks / 4);
    }
    states_.emplace_back();
    std::normal_distribution<double> normal;
    // Clocks may differ by anything; the first rank's is as good as any.
    result_.clocks[static_cast<std::size_t>(rank)] = {
        1e12 + truth_.clock_offset_ns * normal(random_), truth_.clock_drift * normal(random_)};
  }

  void run_step() {
    each_rank([&](int rank) { begin_step(rank); });
    for (int layer = 0; layer < truth_.layers; ++layer) {
      each_rank([&](int rank) { compute_layer(rank, layer); });
      if (truth_.pairs) {
        for (int rank = 0; rank + 1 < truth_.ranks; rank += 2) pair_collective(rank, layer);
        each_rank([&](int rank) {
          if (rank % 2 == 0) kernel(rank, "bookkeeping", WorkClass::elementwise, extra());
        });
      }
      std::vector<int> all;
      each_rank([&](int rank) { all.push_back(rank); });
      collective(all, "world", truth_.transfer_ns);
    }
    each_rank([&](int rank) { end_step(rank); });
  }

  double extra() const { return truth_.pair_extra_ns; }
  double late() const { return truth_.late_ns; }
  bool guilty(int rank, LateCause cause) const {
    if (truth_.cause != cause) return false;
    if (cause == LateCause::pipeline_stage) return rank * 4 / truth_.ranks == 3;
    return rank == (truth_.rotating ? (truth_.straggler + step_) % truth_.ranks : truth_.straggler);
  }

  void begin_step(int rank) {
    RankState& state = state_of(rank);
    state.step_begin = state.host;
    host_work(rank, 30e3, HostCause::data_loading, "DataLoader");
    if (guilty(rank, LateCause::host)) {
      const bool loading = truth_.seed % 2 == 0;
      host_work(rank,
                late(),
                loading ? HostCause::data_loading : HostCause::garbage_collection,
                loading ? "DataLoader" : "gc");
    }
    if (guilty(rank, LateCause::profiler)) profiler_work(rank, late());
    copy(rank, 40e3 + (guilty(rank, LateCause::copies) ? late() : 0.0));
  }

  void compute_layer(int rank, int layer) {
    // An indirect straggler is a slow one whose partner of the pair is the last of all.
    const bool slow = guilty(rank, LateCause::slower_kernels) ||
                      guilty(rank, LateCause::indirect) || guilty(rank, LateCause::pipeline_stage);
    const double sum = 380e3 * truth_.layers;
    const double factor = slow ? 1.0 + late() / sum : 1.0;
    kernel(rank, "gemm_qkv", WorkClass::gemm, 120e3 * factor);
    kernel(rank, "attention", WorkClass::attention, 90e3 * factor);
    kernel(rank, "gemm_mlp", WorkClass::gemm, 150e3 * factor);
    kernel(rank, "norm", WorkClass::normalization, 20e3 * factor);
    if (layer == 0 && guilty(rank, LateCause::more_work))
      for (double left = late(); left > 0.0; left -= 150e3)
        kernel(rank, "gemm_mlp", WorkClass::gemm, std::min(left, 150e3));
  }

  void pair_collective(int rank, int layer) {
    const bool slow = layer == 0 && (guilty(rank, LateCause::communication) ||
                                     guilty(rank + 1, LateCause::communication));
    collective({rank, rank + 1}, "pair" + std::to_string(rank), 20e3 + (slow ? late() : 0.0));
  }

  void end_step(int rank) {
    RankState& state = state_of(rank);
    state.device = std::max(state.device, state.communication);
    kernel(rank, "adam", WorkClass::optimizer, 80e3);
    HostEvent wait =
        host_event(rank, "cudaDeviceSynchronize", std::max(0.0, state.device - state.host) + 3e3);
    wait.cause = HostCause::synchronizing_call;
    recording_of(rank).host_events.push_back(wait);
    trace::StepMark mark;
    mark.number = step_;
    mark.start = clock(rank).recorded(state.step_begin);
    mark.end = clock(rank).recorded(state.host);
    recording_of(rank).step_marks.push_back(mark);
    result_.length_ns = std::max(result_.length_ns, state.host);
  }

  /// An event on the host from now on, which moves the host's time on.
  HostEvent host_event(int rank, std::string_view name, double length) {
    RankState& state = state_of(rank);
    HostEvent event;
    event.name = recording_of(rank).names.intern(name);
    event.start = clock(rank).recorded(state.host);
    state.host += length;
    event.end = clock(rank).recorded(state.host);
    return event;
  }

  void host_work(int rank, double length, HostCause cause, std::string_view name) {
    HostEvent event = host_event(rank, name, length);
    event.activity = trace::HostActivity::operation;
    event.cause = cause;
    recording_of(rank).host_events.push_back(event);
  }

  void profiler_work(int rank, double length) {
    HostEvent event = host_event(rank, "Buffer Flush", length);
    event.activity = trace::HostActivity::overhead;
    recording_of(rank).host_events.push_back(event);
  }

  /// Launches; the event starts when its stream and the launch allow it.
  DeviceEvent launched(int rank, std::string_view name, WorkClass work_class) {
    HostEvent launch = host_event(rank, "cudaLaunchKernel", launch_ns);
    RankState& state = state_of(rank);
    launch.correlation = ++state.correlation;
    recording_of(rank).host_events.push_back(launch);
    DeviceEvent event;
    event.name = recording_of(rank).names.intern(name);
    event.correlation = launch.correlation;
    event.stream = compute_stream;
    event.work_class = work_class;
    state.device = std::max(state.device + pause_ns, state.host + launch_delay_ns);
    event.start = clock(rank).recorded(state.device);
    return event;
  }

  /// Arrives when the kernels before it are done, on the stream of the collectives when it has all
  /// of those before it.
  DeviceEvent launched_collective(int rank) {
    RankState& state = state_of(rank);
    const double computed = state.device;
    DeviceEvent event = launched(rank, "ncclDevKernel_AllReduce", WorkClass::communication);
    if (truth_.overlapped) {
      event.stream = communication_stream;
      state.communication = std::max(state.device, state.communication + pause_ns);
      event.start = clock(rank).recorded(state.communication);
      state.device = computed;
    }
    return event;
  }

  double arrival(int rank) {
    return truth_.overlapped ? state_of(rank).communication : state_of(rank).device;
  }

  void finish(int rank, DeviceEvent event, double end) {
    state_of(rank).device = end;
    event.end = clock(rank).recorded(end);
    recording_of(rank).device_events.push_back(event);
  }

  void kernel(int rank, std::string_view name, WorkClass work_class, double length) {
    DeviceEvent event = launched(rank, name, work_class);
    event.shape = trace::shape_number(recording_of(rank), "[8, 1, 1] [128, 1, 1]");
    std::normal_distribution<double> noise(1.0, truth_.kernel_noise);
    finish(rank, event, state_of(rank).device + length * std::max(0.2, noise(random_)));
  }

  void copy(int rank, double length) {
    DeviceEvent event = launched(rank, "Memcpy HtoD", WorkClass::copy);
    event.operation = trace::DeviceOperation::copy;
    finish(rank, event, state_of(rank).device + length);
  }

  void collective(const std::vector<int>& members, const std::string& group, double transfer) {
    std::vector<DeviceEvent> events;
    double last = 0.0;
    for (const int rank : members) {
      events.push_back(launched_collective(rank));
      events.back().collective = CollectiveKind::all_reduce;
      events.back().communication =
          static_cast<std::uint32_t>(recording_of(rank).communications.size());
      trace::Communication& known = recording_of(rank).communications.emplace_back();
      known.kind = CollectiveKind::all_reduce;
      known.group = recording_of(rank).names.intern(group);
      known.sequence = state_of(rank).sequence;
      last = std::max(last, arrival(rank));
    }
    std::normal_distribution<double> skew(0.0, truth_.end_skew_ns);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const double computed = state_of(members[i]).device;
      finish(members[i], events[i], last + transfer + std::abs(skew(random_)));
      if (truth_.overlapped)
        state_of(members[i]).communication = std::exchange(state_of(members[i]).device, computed);
      ++state_of(members[i]).sequence;
    }
  }

  void lose_events(Recording& recording) {
    std::bernoulli_distribution lost(truth_.lost_share);
    const auto count =
        std::erase_if(recording.device_events, [&](const DeviceEvent&) { return lost(random_); });
    recording.losses["dropped_records"] = static_cast<std::int64_t>(count);
  }

  template <class Action>
  void each_rank(Action action) {
    for (int rank = 0; rank < truth_.ranks; ++rank) action(rank);
  }
  RankState& state_of(int rank) { return states_[static_cast<std::size_t>(rank)]; }
  const ClockOfRank& clock(int rank) const {
    return result_.clocks[static_cast<std::size_t>(rank)];
  }
  Recording& recording_of(int rank) {
    return result_.job.recordings[static_cast<std::size_t>(rank)];
  }

  const JobTruth& truth_;
  std::mt19937_64 random_;
  std::vector<RankState> states_;
  int step_ = 0;
  GeneratedJob result_;
};

}  // namespace

GeneratedJob generate_job(const JobTruth& truth) {
  return Generator(truth).generate();
}

}  // namespace scaleworth::sim
