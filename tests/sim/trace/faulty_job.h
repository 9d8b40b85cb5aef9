// SPDX-License-Identifier: Apache-2.0
/// Training jobs with known faults, simulated event by event; the truth is the simulator's own.
#pragma once

#include "trace/recording.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace scaleworth::testing {

enum class Fault : std::uint8_t {
  none,
  slow_gpu,          // compute of one rank takes 1 + strength times as long
  slow_stage,        // compute of all replicas of one stage does
  slow_link,         // every transfer that one rank takes part in does
  rotating_lengths,  // each micro-batch of each replica is 1 to 1 + strength times as long
  late_host,         // every launch of one rank takes strength times as long as a kernel more
};
inline constexpr std::array fault_names{
    "healthy", "slow GPU", "slow stage", "slow link", "rotating lengths", "late host"};

/// What becomes of the fault: for the truth of a prediction.
enum class Repair : std::uint8_t {
  none,
  removed,  // the affected part is as all others are; rotating lengths have their mean
  evened,   // the work of all stages together is spread evenly over them
};

/// Rank = stage * replicas + replica. A step is a forward and a backward pass of every micro-batch,
/// then the exchange of gradients and the optimizer; the host waits for the device at its end.
/// Without a pipeline gradients are exchanged in one all-reduce per layer, beside the last backward
/// pass; with one there is a 1F1B schedule with messages, parameters are gathered at the step's
/// begin, gradients are reduced and scattered after its last backward pass.
struct JobPlan {
  int replicas = 8;
  int stages = 1;
  int micro_batches = 4;  // per step and replica
  int layers = 4;         // of a stage: kernels of a forward pass; a backward pass takes twice that
  int steps = 8;
  /// A framework's timers: one piece of work per pass, communication only from when all have come,
  /// no host, one clock. Else kernels with their launches, a clock per rank.
  bool timeline = false;
  bool numbered = true;   // collectives of kernels have sequence numbers
  bool sized = true;      // collectives and messages of kernels have sizes
  bool host_seen = true;  // timers record what kept a late host from starting a pass
  int large_stage = -1;   // whose collectives are three times as large as the others'
  double layer_ns = 1.5e6;
  double transfer_ns = 2e6;  // of a collective; a message takes a tenth
  Fault fault = Fault::none;
  double strength = 0.0;
  int place = 0;                   // rank, or stage, that has the fault
  std::vector<int> more_places{};  // further ones
  int every = 1;                   // how-manieth step has the fault
  Repair repair = Repair::none;
  double noise = 0.02;             // normal, of the logarithm of every duration
  double outliers = 1e-4;          // chance of a kernel to take 4 times as long
  double pause_ns = 0.0;           // between steps, in which nothing is recorded
  double largest_offset_ns = 5e6;  // of the ranks' clocks, either way
  std::uint64_t seed = 1;

  int ranks() const { return replicas * stages; }
};

struct GeneratedJob {
  trace::Job job;                  // classified
  double step_ns = 0.0;            // from the first step's begin to the last one's end, per step
  std::vector<double> step_begin;  // by step, on the true clock; the last one's end behind them
  std::vector<double> offset_ns;   // by rank: recorded = true + offset
  double transfer_ns = 0.0;        // mean over ranks and steps of all transfers of a rank in a step
};

class JobSimulator {
 public:
  explicit JobSimulator(const JobPlan& plan)
      : plan_(plan), ranks_(static_cast<std::size_t>(plan.ranks())) {}

  GeneratedJob run() {
    for (int rank = 0; rank < plan_.ranks(); ++rank) describe(rank);
    double now = 0.0;
    for (step_ = 0; step_ < plan_.steps; ++step_) {
      result_.step_begin.push_back(now);
      for (int rank = 0; rank < plan_.ranks(); ++rank) {
        Rank& own = ranks_[static_cast<std::size_t>(rank)];
        own = {};
        own.host = now;
        program(rank);
      }
      meetings_.clear();
      simulate();
      double end = now;
      for (const Rank& own : ranks_) end = std::max(end, own.host);
      for (int rank = 0; rank < plan_.ranks(); ++rank) record(rank, now);
      now = end + plan_.pause_ns;
    }
    result_.step_begin.push_back(now - plan_.pause_ns);
    result_.step_ns = now / plan_.steps - plan_.pause_ns;
    result_.transfer_ns /= plan_.steps * plan_.ranks();
    for (trace::Recording& recording : result_.job.recordings) sort_events(recording);
    return std::move(result_);
  }

 private:
  using Kind = CollectiveKind;
  using Key = std::tuple<std::string, int, int>;  // operation, group or sender, how-manieth

  struct Work {
    std::string_view name;
    std::uint32_t stream = 0;
    double ns = 0.0;            // of compute; of communication its transfer
    Kind kind = Kind::unknown;  // unknown: compute
    Key meeting{};
    int members = 0;
    int peer = -1;
    std::vector<std::size_t> after{};  // besides what is before it on its stream
    std::size_t batch = 0;             // timers measure work of one batch together
    bool waits = false;                // the host, for all work so far
    double host = 5e3;                 // that the launch takes
    double bytes = 0.0;
    double held = 0.0;  // by a late host, of timers
    // Simulated:
    double launch = 0.0;
    double start = unknown;  // when the rank came
    double all = unknown;    // when all had come
    double end = unknown;
  };
  struct Rank {
    std::vector<Work> work;
    std::size_t next = 0;
    double host = 0.0;
    std::vector<std::size_t> barrier;  // of timers: what the next operation follows
    std::size_t batches = 0;
  };
  struct Meeting {
    std::vector<std::pair<int, std::size_t>> members;  // rank, work
  };
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  static constexpr double launch_latency = 4e3;
  static constexpr double bytes_per_ns = 50.0;
  enum Stream : std::uint32_t {
    compute = 7,
    gradients = 20,
    upwards = 21,
    downwards = 22,
    receives_up = 23,
    receives_down = 24
  };

  int stage(int rank) const { return rank / plan_.replicas; }
  int replica(int rank) const { return rank % plan_.replicas; }

  /// The same draw for the same place, whatever the fault: in [0, 1).
  double uniform(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) const {
    std::uint64_t x = plan_.seed;
    for (const std::uint64_t part : {a, b, c, d}) {
      x += 0x9e3779b97f4a7c15ULL + part * 0xd1342543de82ef95ULL;
      x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
      x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
      x ^= x >> 31U;
    }
    return static_cast<double>(x >> 11U) * 0x1p-53;
  }
  double noise(std::uint64_t a, std::uint64_t b, std::uint64_t c) const {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(a, b, c, 1)));
    return std::exp(plan_.noise * radius * std::cos(2.0 * std::numbers::pi * uniform(a, b, c, 2)));
  }

  bool has(Fault fault, int place) const {
    const bool placed = plan_.place == place ||
                        std::ranges::find(plan_.more_places, place) != plan_.more_places.end();
    return plan_.fault == fault && placed && plan_.repair != Repair::removed &&
           step_ % plan_.every == 0;
  }
  double compute_factor(int rank, int micro_batch) const {
    if (plan_.fault == Fault::slow_stage && plan_.repair == Repair::evened)
      return 1.0 + plan_.strength / plan_.stages;
    if (has(Fault::slow_gpu, rank) || has(Fault::slow_stage, stage(rank)))
      return 1.0 + plan_.strength;
    if (plan_.fault != Fault::rotating_lengths || micro_batch < 0) return 1.0;
    if (plan_.repair != Repair::none) return 1.0 + plan_.strength / 2.0;
    return 1.0 + plan_.strength * uniform(static_cast<std::uint64_t>(step_),
                                          static_cast<std::uint64_t>(micro_batch),
                                          static_cast<std::uint64_t>(replica(rank)),
                                          3);
  }

  /// Draws are by the how-manieth work of the rank's step.
  Work& add(int rank, Work work) {
    Rank& own = ranks_[static_cast<std::size_t>(rank)];
    const std::uint64_t place = own.work.size();
    const auto step = static_cast<std::uint64_t>(step_);
    const auto who = static_cast<std::uint64_t>(rank);
    work.ns *= noise(step, place, who);
    // One kernel of a timer's pass at most.
    const double kernels = work.ns / plan_.layer_ns;
    if (work.kind == Kind::unknown && uniform(step, place, who, 4) < plan_.outliers * kernels)
      work.ns += 3.0 * plan_.layer_ns;
    work.batch = own.batches++;
    if (plan_.timeline) work.after = std::exchange(own.barrier, {own.work.size()});
    own.work.push_back(std::move(work));
    return own.work.back();
  }

  void compute_pass(int rank, std::string_view name, int micro_batch, int layers) {
    const int pieces = plan_.timeline ? 1 : layers;
    const double ns = plan_.layer_ns * layers / pieces * compute_factor(rank, micro_batch);
    for (int i = 0; i < pieces; ++i) {
      Work& work = add(rank, {name, compute, ns});
      if (has(Fault::late_host, rank)) work.host += (1.0 + plan_.strength) * plan_.layer_ns;
    }
  }

  void collective(
      int rank, std::string_view name, Kind kind, int group, int members, double share = 1.0) {
    const Rank& own = ranks_[static_cast<std::size_t>(rank)];
    const auto index = static_cast<int>(std::ranges::count(own.work, name, &Work::name));
    if (members == plan_.replicas && group == plan_.large_stage) share *= 3.0;
    Work work{name, gradients, share * plan_.transfer_ns * link_factor(rank), kind};
    work.bytes = share * plan_.transfer_ns * bytes_per_ns;
    work.meeting = Key(name, group, index);
    work.members = members;
    work.after = last_compute(own);
    add(rank, std::move(work));
  }
  double link_factor(int rank) const {
    return has(Fault::slow_link, rank) ? 1.0 + plan_.strength : 1.0;
  }

  /// One end of a message of `micro_batch` between this stage and the next or the one before.
  void message(int rank, bool forward, bool sends, int micro_batch) {
    const bool to_next = forward == sends;
    if (stage(rank) == (to_next ? plan_.stages - 1 : 0)) return;
    const int peer = rank + (to_next ? plan_.replicas : -plan_.replicas);
    static constexpr std::array<std::string_view, 4> names{
        "backward-recv", "backward-send", "forward-recv", "forward-send"};
    static constexpr std::array streams{receives_down, downwards, receives_up, upwards};
    const std::size_t place = (forward ? 2U : 0U) + (sends ? 1U : 0U);
    Work work{names[place],
              streams[place],
              0.1 * plan_.transfer_ns * link_factor(rank),
              sends ? Kind::send : Kind::receive};
    work.bytes = 0.1 * plan_.transfer_ns * bytes_per_ns;
    work.meeting = Key(forward ? "up" : "down", sends ? rank : peer, micro_batch);
    work.members = 2;
    work.peer = peer;
    // As frameworks launch them: on streams of their own, after the compute before them.
    work.after = last_compute(ranks_[static_cast<std::size_t>(rank)]);
    add(rank, std::move(work));
  }

  static std::vector<std::size_t> last_compute(const Rank& own) {
    for (std::size_t i = own.work.size(); i-- > 0;)
      if (own.work[i].kind == Kind::unknown) return {i};
    return {};
  }

  /// Timers show a send and a receive, the last two operations since `since`, as one.
  void together(int rank, std::size_t since) {
    Rank& own = ranks_[static_cast<std::size_t>(rank)];
    if (!plan_.timeline || own.work.size() < since + 2) return;
    own.work[since + 1].after = own.work[since].after;
    own.work[since + 1].batch = own.work[since].batch;
    own.barrier = {since, since + 1};
  }

  void pass(int rank, bool forward, int micro_batch) {
    Rank& own = ranks_[static_cast<std::size_t>(rank)];
    const std::size_t first = own.work.size();
    compute_pass(rank,
                 forward ? "forward-compute" : "backward-compute",
                 micro_batch,
                 forward ? plan_.layers : 2 * plan_.layers);
    if (plan_.timeline) return;
    // It needs what the last receive of its direction brought, the first stage its parameters.
    for (std::size_t i = first; i-- > 0;) {
      const std::uint32_t stream = own.work[i].stream;
      if (stream != (forward ? receives_up : receives_down) && stream != gradients) continue;
      own.work[first].after.push_back(i);
      break;
    }
  }

  void program(int rank) {
    const int micro_batches = plan_.micro_batches;
    if (plan_.stages == 1) {
      for (int i = 0; i < micro_batches; ++i) {
        pass(rank, true, i);
        if (i + 1 < micro_batches) pass(rank, false, i);
      }
      for (int layer = 0; layer < plan_.layers; ++layer) {
        compute_pass(rank, "backward-compute", micro_batches - 1, 2);
        collective(rank, "grads-all-reduce", Kind::all_reduce, 0, plan_.ranks());
      }
    } else {
      collective(rank, "params-all-gather", Kind::all_gather, stage(rank), plan_.replicas);
      one_forward_one_backward(rank);
      collective(rank, "grads-reduce-scatter", Kind::reduce_scatter, stage(rank), plan_.replicas);
      collective(rank, "optimizer-clip-main-grad", Kind::all_reduce, 0, plan_.ranks(), 0.1);
    }
    // The optimizer needs all gradients.
    Rank& own = ranks_[static_cast<std::size_t>(rank)];
    const std::size_t exchange = own.work.size() - 1;
    Work& optimizer = add(rank, {"optimizer", compute, plan_.layer_ns * compute_factor(rank, -1)});
    optimizer.after.push_back(exchange);
    optimizer.waits = true;
  }

  void one_forward_one_backward(int rank) {
    Rank& own = ranks_[static_cast<std::size_t>(rank)];
    const int warm_up = std::min(plan_.stages - 1 - stage(rank), plan_.micro_batches);
    const int steady = plan_.micro_batches - warm_up;
    for (int i = 0; i < warm_up; ++i) {
      message(rank, true, false, i);
      pass(rank, true, i);
      message(rank, true, true, i);
    }
    if (steady > 0) message(rank, true, false, warm_up);
    for (int i = 0; i < steady; ++i) {
      pass(rank, true, warm_up + i);
      std::size_t since = own.work.size();
      message(rank, true, true, warm_up + i);
      message(rank, false, false, i);
      together(rank, since);
      pass(rank, false, i);
      since = own.work.size();
      message(rank, false, true, i);
      if (i + 1 < steady) message(rank, true, false, warm_up + i + 1);
      together(rank, since);
    }
    for (int i = steady; i < plan_.micro_batches; ++i) {
      message(rank, false, false, i);
      pass(rank, false, i);
      message(rank, false, true, i);
    }
  }

  /// Work in the order of each rank's program, as soon as all that it needs has ended.
  void simulate() {
    std::size_t left = 0;
    for (const Rank& own : ranks_) left += own.work.size();
    while (left > 0) {
      const std::size_t before = left;
      for (int rank = 0; rank < plan_.ranks(); ++rank)
        for (Rank& own = ranks_[static_cast<std::size_t>(rank)];
             own.next < own.work.size() && begin(rank, own.next);
             ++own.next)
          --left;
      if (left == before) throw std::logic_error("the generated job waits for itself");
    }
    for (Rank& own : ranks_)
      for (const Work& work : own.work)
        if (work.waits) own.host = std::max(own.host, work.end + 20e3);
  }

  bool begin(int rank, std::size_t place) {
    Rank& own = ranks_[static_cast<std::size_t>(rank)];
    Work& work = own.work[place];
    double ready = plan_.timeline ? own.host : own.host + work.host + launch_latency;
    for (std::size_t i = place; i-- > 0;)
      if (own.work[i].stream == work.stream && !plan_.timeline) {
        if (std::isnan(own.work[i].end)) return false;
        ready = std::max(ready, own.work[i].end + 1e3);
        break;
      }
    for (const std::size_t before : work.after) {
      if (std::isnan(own.work[before].end)) return false;
      ready = std::max(ready, own.work[before].end + 1e3);
    }
    if (plan_.timeline && has(Fault::late_host, rank) && work.kind == Kind::unknown)
      ready += work.held = plan_.strength * work.ns;
    if (!plan_.timeline) work.launch = own.host += work.host;
    work.start = ready;
    if (work.kind == Kind::unknown) {
      work.all = ready;
      work.end = ready + work.ns;
      return true;
    }
    Meeting& meeting = meetings_[work.meeting];
    meeting.members.emplace_back(rank, place);
    if (std::ssize(meeting.members) == work.members) resolve(meeting);
    return true;
  }

  /// A transfer takes as long as on the slowest link of its members.
  void resolve(const Meeting& meeting) {
    double all = 0.0;
    double ns = 0.0;
    for (const auto& [rank, place] : meeting.members) {
      const Work& work = ranks_[static_cast<std::size_t>(rank)].work[place];
      all = std::max(all, work.start);
      ns = std::max(ns, work.ns);
    }
    result_.transfer_ns += ns * static_cast<double>(meeting.members.size());
    for (const auto& [rank, place] : meeting.members) {
      Work& work = ranks_[static_cast<std::size_t>(rank)].work[place];
      work.all = all;
      // Ends agree to some microseconds.
      work.end =
          all + ns +
          4e3 * uniform(
                    static_cast<std::uint64_t>(step_), place, static_cast<std::uint64_t>(rank), 5);
    }
  }

  void describe(int rank) {
    trace::Recording& recording = result_.job.recordings.emplace_back();
    trace::Origin& origin = recording.origin;
    origin.rank = rank;
    origin.world_size = plan_.ranks();
    origin.framework_timeline = plan_.timeline;
    origin.file = plan_.timeline ? "timeline.json" : "rank" + std::to_string(rank) + ".json";
    if (plan_.stages > 1 || plan_.timeline) {
      origin.pipeline_stage = stage(rank);
      origin.data_parallel_rank = replica(rank);
    }
    recording.threads = {"host"};
    recording.step_marks_from = "generated";
    result_.offset_ns.push_back(
        plan_.timeline || rank == 0
            ? 0.0
            : std::round(plan_.largest_offset_ns *
                         (2.0 * uniform(static_cast<std::uint64_t>(rank), 0, 0, 6) - 1.0)));
  }

  /// Some time in, as no recording begins at zero.
  std::chrono::nanoseconds recorded(int rank, double time) const {
    return std::chrono::nanoseconds(
        std::llround(1e9 + time + result_.offset_ns[static_cast<std::size_t>(rank)]));
  }

  void record(int rank, double begin) {
    trace::Recording& recording = result_.job.recordings[static_cast<std::size_t>(rank)];
    const Rank& own = ranks_[static_cast<std::size_t>(rank)];
    double first = std::numeric_limits<double>::max();
    for (const Work& work : own.work) {
      trace::DeviceEvent event;
      double start = plan_.timeline ? work.all : work.start;
      double end = work.end;
      for (const Work& other : own.work)
        if (plan_.timeline && other.batch == work.batch) {
          start = std::max(start, other.all);
          end = std::max(end, other.end);
        }
      first = std::min(first, start);
      if (work.held > 0.0 && plan_.host_seen) collect_garbage(rank, recording, work);
      event.start = recorded(rank, start);
      event.end = recorded(rank, end);
      event.name = recording.names.intern(work.name);
      event.stream = work.stream;
      event.work_class = work.kind == Kind::unknown ? WorkClass::gemm : WorkClass::communication;
      event.collective = work.kind;
      if (!plan_.timeline) launch(rank, recording, work, event);
      if (work.kind != Kind::unknown) {
        event.communication = static_cast<std::uint32_t>(recording.communications.size());
        recording.communications.push_back(communication(recording, work));
      }
      recording.device_events.push_back(event);
    }
    recording.step_marks.push_back({step_,
                                    recorded(rank, plan_.timeline ? first : begin),
                                    recorded(rank, own.host - (plan_.timeline ? 20e3 : 0.0))});
  }

  void collect_garbage(int rank, trace::Recording& recording, const Work& work) const {
    trace::HostEvent event;
    event.start = recorded(rank, work.start - work.held);
    event.end = recorded(rank, work.start);
    event.name = recording.names.intern("gc");
    event.activity = trace::HostActivity::operation;
    event.cause = HostCause::garbage_collection;
    recording.host_events.push_back(event);
  }

  void launch(int rank, trace::Recording& recording, const Work& work, trace::DeviceEvent& event) {
    event.correlation = recording.host_events.size() + 1;
    trace::HostEvent call;
    call.start = recorded(rank, work.launch - 5e3);
    call.end = recorded(rank, work.launch);
    call.correlation = event.correlation;
    call.name = recording.names.intern("cudaLaunchKernel");
    recording.host_events.push_back(call);
    if (!work.waits) return;
    call.start = call.end;
    call.end = recorded(rank, work.end + 20e3);
    call.correlation = 0;
    call.name = recording.names.intern("cudaDeviceSynchronize");
    call.cause = HostCause::synchronizing_call;
    recording.host_events.push_back(call);
  }

  /// Timelines tell the kind only; partners follow from the operation's name.
  trace::Communication communication(trace::Recording& recording, const Work& work) {
    trace::Communication known;
    known.kind = work.kind;
    if (plan_.timeline) return known;
    if (plan_.sized) known.input_bytes = static_cast<std::int64_t>(work.bytes);
    const int group = std::get<1>(work.meeting);
    const bool all = work.peer >= 0 || work.members == plan_.ranks();
    known.group = recording.names.intern(all ? "all" : "stage " + std::to_string(group));
    trace::ProcessGroup& process_group = recording.groups[known.group];
    if (process_group.ranks.empty())
      for (int rank = 0; rank < plan_.ranks(); ++rank)
        if (all || stage(rank) == group) process_group.ranks.push_back(rank);
    process_group.size = static_cast<std::int32_t>(process_group.ranks.size());
    if (work.peer >= 0) {
      known.peer = work.peer;
    } else if (plan_.numbered) {
      known.sequence = sequences_[{&recording, known.group}]++;
    }
    return known;
  }

  JobPlan plan_;
  std::vector<Rank> ranks_;
  std::map<Key, Meeting> meetings_;
  std::map<std::pair<const trace::Recording*, trace::NameId>, std::int64_t> sequences_;
  GeneratedJob result_;
  int step_ = 0;
};

inline GeneratedJob generate_job(const JobPlan& plan) {
  return JobSimulator(plan).run();
}

/// The step without the fault, with the same draws.
inline double repaired_step_ns(JobPlan plan, Repair repair = Repair::removed) {
  plan.repair = repair;
  return generate_job(plan).step_ns;
}

}  // namespace scaleworth::testing
