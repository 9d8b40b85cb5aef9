// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/trace/pipeline_generator.h"

#include "tests/sim/trace/job_generator.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace scaleworth::sim {
namespace {

using trace::DeviceEvent;
using trace::HostEvent;
using trace::Recording;

constexpr double forward_ns = 300e3;
constexpr double backward_ns = 600e3;
constexpr double message_ns = 20e3;
constexpr double call_ns = 3e3;
constexpr std::uint32_t send_stream = 20;
constexpr std::uint32_t receive_stream = 21;
constexpr std::uint32_t group_stream = 22;

/// What a stage does with one microbatch.
struct Turn {
  bool forward = true;
  int batch = 0;
};

class PipelineGenerator {
 public:
  explicit PipelineGenerator(const PipelineTruth& truth)
      : truth_(truth), random_(truth.seed), ranks_(truth.stages * truth.replicas) {
    for (int rank = 0; rank < ranks_; ++rank) add_rank(rank);
  }

  trace::Job generate() {
    for (step_ = 0; step_ < truth_.steps; ++step_) run_step();
    for (Recording& recording : job_.recordings) trace::sort_events(recording);
    return std::move(job_);
  }

 private:
  struct RankState {
    double host = 0.0;
    double device = 0.0;
    double sent = 0.0;  // the stream of sends is busy until then
    std::uint64_t correlation = 0;
    std::int64_t sequence = 0;
    std::vector<Turn> turns;
    std::size_t next = 0;
  };
  /// Direction, sending stage, replica, microbatch.
  using Message = std::tuple<bool, int, int, int>;

  bool timers() const { return truth_.recorder == PipelineTruth::Recorder::framework; }
  int stage_of(int rank) const { return rank / truth_.replicas; }

  void add_rank(int rank) {
    Recording& recording = job_.recordings.emplace_back();
    recording.origin.rank = rank;
    recording.origin.file = "rank" + std::to_string(rank) + ".json";
    recording.step_marks_from = "ProfilerStep";
    states_.emplace_back();
    if (timers()) {
      recording.origin.framework_timeline = true;
      recording.origin.pipeline_stage = stage_of(rank);
      recording.origin.data_parallel_rank = rank % truth_.replicas;
    } else {
      recording.threads.emplace_back("python");
    }
  }

  std::vector<Turn> turns_of(int stage) const {
    std::vector<Turn> turns;
    int forward = 0;
    int backward = 0;
    const bool early = truth_.schedule == PipelineTruth::Schedule::one_forward_one_backward;
    const int ahead = early ? std::min(truth_.stages - 1 - stage, truth_.batches) : truth_.batches;
    while (forward < ahead) turns.push_back({true, forward++});
    while (backward < truth_.batches) {
      if (forward < truth_.batches) turns.push_back({true, forward++});
      turns.push_back({false, backward++});
    }
    return turns;
  }

  void run_step() {
    std::vector<double> begins;
    arrived_.clear();
    for (int rank = 0; rank < ranks_; ++rank) {
      RankState& state = states_[static_cast<std::size_t>(rank)];
      begins.push_back(state.device);
      state.turns = turns_of(stage_of(rank));
      state.next = 0;
    }
    for (bool any = true; any;) {
      any = false;
      for (int rank = 0; rank < ranks_; ++rank)
        while (take_turn(rank)) any = true;
    }
    for (int stage = 0; stage < truth_.stages; ++stage) {
      std::vector<int> members;
      for (int replica = 0; replica < truth_.replicas; ++replica)
        members.push_back(stage * truth_.replicas + replica);
      all_reduce(members, "grads-all-reduce", "stage" + std::to_string(stage), 200e3);
    }
    std::vector<int> all;
    for (int rank = 0; rank < ranks_; ++rank) all.push_back(rank);
    all_reduce(all, "optimizer-clip-main-grad", "world", 30e3);
    for (const int rank : all) {
      kernel(rank, "optimizer", WorkClass::optimizer, 100e3);
      RankState& state = states_[static_cast<std::size_t>(rank)];
      if (!timers()) synchronize(rank);
      recording(rank).step_marks.push_back(
          {step_, at(begins[static_cast<std::size_t>(rank)]), at(state.device)});
    }
  }

  /// False when the rank is done with its turns or its message is not there yet.
  bool take_turn(int rank) {
    RankState& state = states_[static_cast<std::size_t>(rank)];
    if (state.next == state.turns.size()) return false;
    const Turn turn = state.turns[state.next];
    const int stage = stage_of(rank);
    const int from = turn.forward ? stage - 1 : stage + 1;
    if (from >= 0 && from < truth_.stages) {
      const auto message = arrived_.find({turn.forward, from, rank % truth_.replicas, turn.batch});
      if (message == arrived_.end()) return false;
      receive(rank, turn.forward, from, message->second);
    }
    double factor = truth_.work;
    if (truth_.long_stage == stage || truth_.slow_rank == rank) factor *= truth_.longer;
    if (turn.forward) {
      kernel(rank,
             timers() ? "forward-compute" : "gemm_forward",
             WorkClass::gemm,
             forward_ns * factor);
    } else {
      kernel(rank,
             timers() ? "backward-compute" : "gemm_backward",
             WorkClass::gemm,
             backward_ns * factor);
    }
    const int to = turn.forward ? stage + 1 : stage - 1;
    if (to >= 0 && to < truth_.stages) send(rank, turn, to);
    ++state.next;
    return true;
  }

  void send(int rank, const Turn& turn, int to) {
    RankState& state = states_[static_cast<std::size_t>(rank)];
    const double start = timers() ? state.device : std::max(state.device, state.sent) + pause_ns;
    const double end = start + message_ns;
    event(rank, turn.forward ? "forward-send" : "backward-send", start, end, send_stream);
    message(rank, CollectiveKind::send, to);
    state.sent = end;
    if (timers()) state.device = end;
    arrived_[{turn.forward, stage_of(rank), rank % truth_.replicas, turn.batch}] = end;
  }

  void receive(int rank, bool forward, int from, double arrival) {
    RankState& state = states_[static_cast<std::size_t>(rank)];
    const double start = state.device + pause_ns;
    const double end = std::max(start + 2 * pause_ns, arrival);
    // Timers begin when the sender is there.
    const double shown = timers() ? std::max(start, end - message_ns) : start;
    event(rank, forward ? "forward-recv" : "backward-recv", shown, end, receive_stream);
    message(rank, CollectiveKind::receive, from);
    state.device = end;
  }

  /// Makes the last event of `rank` a message with that stage of its replica.
  void message(int rank, CollectiveKind kind, int stage) {
    DeviceEvent& last = recording(rank).device_events.back();
    last.work_class = WorkClass::communication;
    last.collective = kind;
    if (timers()) return;
    last.communication = static_cast<std::uint32_t>(recording(rank).communications.size());
    trace::Communication& known = recording(rank).communications.emplace_back();
    known.kind = kind;
    known.peer = stage * truth_.replicas + rank % truth_.replicas;
  }

  void all_reduce(const std::vector<int>& members,
                  const std::string& name,
                  const std::string& group,
                  double transfer) {
    double last = 0.0;
    for (const int rank : members)
      last = std::max(last, states_[static_cast<std::size_t>(rank)].device + pause_ns);
    for (const int rank : members) {
      RankState& state = states_[static_cast<std::size_t>(rank)];
      const double start = timers() ? last : state.device + pause_ns;
      event(rank, name, start, last + transfer, group_stream);
      DeviceEvent& event = recording(rank).device_events.back();
      event.work_class = WorkClass::communication;
      event.collective = CollectiveKind::all_reduce;
      state.device = last + transfer;
      if (timers()) continue;
      event.communication = static_cast<std::uint32_t>(recording(rank).communications.size());
      trace::Communication& known = recording(rank).communications.emplace_back();
      known.kind = CollectiveKind::all_reduce;
      known.group = recording(rank).names.intern(group);
      known.sequence = state.sequence++;
    }
  }

  void kernel(int rank, std::string_view name, WorkClass work_class, double length) {
    RankState& state = states_[static_cast<std::size_t>(rank)];
    std::normal_distribution<double> noise(1.0, truth_.kernel_noise);
    const double start = state.device + pause_ns;
    state.device = start + length * std::max(0.2, noise(random_));
    event(rank, name, start, state.device, compute_stream);
    recording(rank).device_events.back().work_class = work_class;
  }

  /// The host launches far ahead: it is never late.
  void event(int rank, std::string_view name, double start, double end, std::uint32_t stream) {
    RankState& state = states_[static_cast<std::size_t>(rank)];
    DeviceEvent event;
    event.name = recording(rank).names.intern(name);
    event.start = at(start);
    event.end = at(end);
    event.stream = stream;
    if (!timers()) {
      HostEvent launch = host_event(rank, "cudaLaunchKernel", call_ns);
      launch.correlation = event.correlation = ++state.correlation;
      recording(rank).host_events.push_back(launch);
    }
    recording(rank).device_events.push_back(event);
  }

  HostEvent host_event(int rank, std::string_view name, double length) {
    RankState& state = states_[static_cast<std::size_t>(rank)];
    HostEvent event;
    event.name = recording(rank).names.intern(name);
    event.start = at(state.host);
    state.host += length;
    event.end = at(state.host);
    return event;
  }

  void synchronize(int rank) {
    RankState& state = states_[static_cast<std::size_t>(rank)];
    HostEvent wait =
        host_event(rank, "cudaDeviceSynchronize", std::max(0.0, state.device - state.host));
    wait.cause = HostCause::synchronizing_call;
    recording(rank).host_events.push_back(wait);
    state.device = state.host + 2 * call_ns;
  }

  static std::chrono::nanoseconds at(double time) {
    return std::chrono::nanoseconds(1'000'000'000'000 + static_cast<std::int64_t>(time));
  }
  Recording& recording(int rank) { return job_.recordings[static_cast<std::size_t>(rank)]; }

  const PipelineTruth& truth_;
  std::mt19937_64 random_;
  int ranks_;
  int step_ = 0;
  trace::Job job_;
  std::vector<RankState> states_;
  std::map<Message, double> arrived_;  // when it is there
};

}  // namespace

trace::Job generate_pipeline(const PipelineTruth& truth) {
  return PipelineGenerator(truth).generate();
}

}  // namespace scaleworth::sim
