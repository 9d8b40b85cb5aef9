// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/collective_timing.h"

#include "src/core/lists.h"
#include "src/core/process.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <new>
#include <thread>
#include <utility>

namespace scaleworth::probes::host {
namespace {
/// On a busy machine one operation can suddenly take a time slice, so batches are short (presumed:
/// 10 ms); a block must be long against two clock readings (40 ns).
constexpr PacerLimits limits{
    .batch_s = 0.01, .repetitions = 8, .block_s = 200e-6, .operations = 1000};
constexpr std::int64_t least_slack_ns = 1'000;  // some reads of the clock
/// Who gives way to other programs may come back late, who sleeps comes back at once.
constexpr std::int64_t sleeping_ns = 150'000;  // before a start the rank is awake,
constexpr std::int64_t spinning_ns = 20'000;   // and keeps the core
constexpr std::int64_t tolerated_ns = 200;     // between the ranks' starts

/// What rank 0 keeps of the repetitions.
class Samples {
 public:
  Samples(CollectiveMode mode, const StoppingTarget& target, Seconds operation)
      : isolated_(mode == CollectiveMode::isolated),
        patience_s_(target.time_budget.value()),
        pacer_(mode, target, operation, limits) {}

  CollectiveBatch next() const { return pacer_.next(); }

  /// `stamps`: rank after rank, each with the batch's repetitions. `spent_ns` on all of them, with
  /// the waits for a common start.
  void add(const std::vector<Stamp>& stamps, const CollectiveBatch& batch, std::int64_t spent_ns) {
    const auto repetitions = static_cast<std::size_t>(batch.repetitions);
    const double each_s = 1e-9 * static_cast<double>(spent_ns) / batch.repetitions;
    for (std::size_t i = 0; i < repetitions; ++i) {
      std::vector<Stamp> ranks;
      for (std::size_t at = i; at < stamps.size(); at += repetitions) ranks.push_back(stamps[at]);
      const std::int64_t start = std::ranges::min(ranks, {}, &Stamp::start_ns).start_ns;
      const std::int64_t time = duration_ns(ranks, start);
      if (is_late(ranks, start, time)) {
        ++late_;
        late_s_ += each_s;
        unused_s_ += each_s;
        continue;
      }
      keep(ranks);
      pacer_.add({1e-9 * static_cast<double>(time) / batch.operations},
                 Seconds(each_s + std::exchange(unused_s_, 0.0)));
    }
  }

  CollectiveMeasured result(Bytes message) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const RankTiming& timing : timings_) first = std::min(first, timing.start_ns);
    for (RankTiming& timing : timings_) {
      timing.start_ns -= first;
      timing.end_ns -= first;
    }
    const StoppingRule& rule = pacer_.rule();
    CollectiveMeasured measured{message,
                                rule.samples(),
                                std::move(timings_),
                                {rule.explanation()},
                                sample_warnings(rule.samples()),
                                pacer_.operations()};
    if (late_ > rule.samples().size())
      measured.warnings.emplace_back(FindingId::late_starts_left_out, late_);
    return measured;
  }

 private:
  /// Isolated: to the end that comes last. Else of the slowest rank.
  std::int64_t duration_ns(const std::vector<Stamp>& ranks, std::int64_t first_start) const {
    if (isolated_) return std::ranges::max(ranks, {}, &Stamp::end_ns).end_ns - first_start;
    const auto own = [](const Stamp& stamp) { return stamp.end_ns - stamp.start_ns; };
    return own(std::ranges::max(ranks, {}, own));
  }

  /// The scheduler kept a rank from the start: its delay is not the operation's. As many are left
  /// out as fit into the budget once more, so that a crowded machine comes to an end.
  bool is_late(const std::vector<Stamp>& ranks, std::int64_t first_start, std::int64_t time) const {
    const std::int64_t last = std::ranges::max(ranks, {}, &Stamp::start_ns).start_ns;
    return isolated_ && late_s_ < patience_s_ &&
           last - first_start > std::max(tolerated_ns, time / 40);  // 2.5 %, or what ranks can do
  }

  void keep(const std::vector<Stamp>& ranks) {
    const auto iteration = static_cast<std::int32_t>(pacer_.rule().samples().size());
    for (int rank = 0; const Stamp& stamp : ranks)
      timings_.push_back({iteration, Rank{rank++}, stamp.start_ns, stamp.end_ns});
  }

  const bool isolated_;
  const double patience_s_;
  CollectivePacer pacer_;
  std::vector<RankTiming> timings_;
  std::size_t late_ = 0;
  double late_s_ = 0.0;
  double unused_s_ = 0.0;  // since the last sample
};

std::vector<Stamp> gather(const Operation& operation, const std::vector<Stamp>& own) {
  const std::size_t bytes = own.size() * sizeof(Stamp);
  const std::vector<std::size_t> bytes_of_rank(operation.ranks, bytes);
  std::vector<Stamp> all(operation.rank == 0 ? own.size() * bytes_of_rank.size() : 0);
  check(operation.mpi,
        operation.mpi.gather_bytes(
            operation.group, own.data(), bytes, all.data(), bytes_of_rank.data()));
  return all;
}

CollectiveBatch share(const Operation& operation, CollectiveBatch batch) {
  check(operation.mpi, operation.mpi.broadcast_bytes(operation.group, &batch, sizeof(batch), 0));
  return batch;
}

/// Untimed runs until connections, buffers and caches are in their steady state; returns this
/// rank's duration of the last one. `most`: as many as there will be samples.
Seconds warm_up(const Operation& operation, std::size_t most) {
  // Small ones are cheap, and need connections, buffers and caches more. Presumed.
  const std::size_t usual = operation.shape.message <= small_message ? 5 : 2;
  if (most == 1) return Seconds(0.0);  // it takes seconds
  const auto runs = static_cast<int>(std::min(usual, most));
  std::vector<Stamp> stamps;
  agree(operation.mpi, operation.group, trouble_of(operation.rank, [&] {
          stamps = time_repetitions(operation, runs, 1, std::nullopt);
        }));
  const Stamp& last = stamps.back();
  return Seconds(1e-9 * static_cast<double>(last.end_ns - last.start_ns));
}

/// The latest of all ranks' `now_ns` as a clock of theirs shows it; no rank returns before all have
/// called.
std::int64_t latest(const Operation& operation, std::int64_t now_ns) {
  // A double holds a steady clock to 2 ns for half a year of uptime.
  const auto own = static_cast<double>(now_ns);
  double last = own;
  check(operation.mpi, operation.mpi.all_reduce_max_f64(operation.group, &own, &last, 1));
  return static_cast<std::int64_t>(last);
}

/// Twice what the agreement on a start takes between these ranks, and a little: all have heard of
/// it when it comes.
CommonStart common_start(const Operation& operation, const ClockOffset& clock) {
  std::array<double, 5> took_ns{};  // a median that one delay does not move
  for (double& time : took_ns) {
    check(operation.mpi, operation.mpi.barrier(operation.group));
    const std::int64_t begin = steady_now_ns();
    latest(operation, begin);
    time = static_cast<double>(steady_now_ns() - begin);
  }
  std::ranges::sort(took_ns);
  const auto typical = static_cast<std::int64_t>(took_ns[took_ns.size() / 2]);
  return {clock.offset.count(), 2 * latest(operation, typical) + least_slack_ns};
}

/// Waits for the others, then until the same instant of the common clock.
void start_together(const Operation& operation, const CommonStart& start) {
  const std::int64_t agreed = latest(operation, steady_now_ns() + start.clock_offset_ns);
  const std::int64_t until = agreed + start.slack_ns - start.clock_offset_ns;
  for (std::int64_t now = steady_now_ns(); now < until; now = steady_now_ns()) {
    const std::chrono::nanoseconds early(until - now - sleeping_ns);
    if (early.count() > 0) std::this_thread::sleep_for(early);
    if (until - now > spinning_ns) std::this_thread::yield();
  }
}

constexpr std::size_t page = 4096;  // buffers begin on pages, as those of programs do
}  // namespace

CollectiveMeasured measure_collective(const Operation& operation,
                                      CollectiveMode mode,
                                      const StoppingTarget& target,
                                      const ClockOffset& clock,
                                      Watchdog& watchdog) {
  const auto all_well = [&](const std::function<void()>& action) {
    agree(operation.mpi, operation.group, trouble_of(operation.rank, action));
    watchdog.progress();
  };
  Samples samples(mode, target, warm_up(operation, target.maximum_samples));
  std::optional<CommonStart> start;
  if (mode == CollectiveMode::isolated) start = common_start(operation, clock);
  CollectiveBatch batch = share(operation, samples.next());
  while (batch.repetitions > 0) {
    std::vector<Stamp> own;
    std::int64_t spent_ns = 0;
    all_well([&] {
      const std::int64_t begin = steady_now_ns();
      own = time_repetitions(operation, batch.repetitions, batch.operations, start);
      spent_ns = steady_now_ns() - begin;
      for (Stamp& stamp : own) {
        stamp.start_ns += clock.offset.count();
        stamp.end_ns += clock.offset.count();
      }
      check_interrupt();
    });
    const std::vector<Stamp> stamps = gather(operation, own);
    all_well([&] {
      if (operation.rank == 0) samples.add(stamps, batch, spent_ns);
    });
    batch = share(operation, samples.next());
  }
  all_well([&] { verify(operation); });
  const Bytes message = operation.shape.message;
  return operation.rank == 0 ? samples.result(message) : CollectiveMeasured{.message = message};
}

namespace {
/// Two nodes, or one twice, and the rank of each that exchanges messages.
struct NodePair {
  std::pair<int, int> nodes;
  std::pair<int, int> ranks;
};

/// Pairs that exchange at the same time; first those within the nodes.
std::vector<std::vector<NodePair>> rounds_of_pairs(const std::vector<int>& node_of) {
  std::vector<std::vector<int>> ranks_of(1 + std::ranges::max(node_of));  // by node
  for (int rank = 0; rank < std::ssize(node_of); ++rank) ranks_of[node_of[rank]].push_back(rank);
  std::vector<std::vector<NodePair>> rounds(1);
  for (int node = 0; node < std::ssize(ranks_of); ++node)
    if (const auto& here = ranks_of[node]; here.size() > 1)
      rounds[0].push_back({{node, node}, {here[0], here[1]}});
  for (const auto& round : pair_rounds(static_cast<int>(ranks_of.size())))
    rounds.push_back(mapped(round, [&](const std::pair<int, int>& nodes) {
      return NodePair{nodes, {ranks_of[nodes.first][0], ranks_of[nodes.second][0]}};
    }));
  // Twice: what disturbs one pair for a while is over when it comes again.
  const auto again = rounds;
  rounds.insert(rounds.end(), again.begin(), again.end());
  return rounds;
}
}  // namespace

std::vector<Point> measure_pairs(const MpiModule& mpi,
                                 MpiGroup world,
                                 const std::vector<int>& node_of) {
  struct Exchange {
    std::int64_t bytes;
    int repetitions;
  };
  // Start-up time and, by the difference of the two others, the rate (`link_levels`). Few
  // repetitions: over a slow link one takes seconds; see docs/accuracy.md.
  constexpr std::array exchanges{Exchange{8, 10}, Exchange{1 << 18, 5}, Exchange{1 << 20, 5}};
  const int own = mpi.rank(world);
  std::vector<char> send(exchanges.back().bytes);
  std::vector<char> receive(exchanges.back().bytes);
  std::vector<Point> points;
  for (const auto& round : rounds_of_pairs(node_of)) {
    int partner = -1;
    for (const NodePair& pair : round) {
      if (pair.ranks.first == own) partner = pair.ranks.second;
      if (pair.ranks.second == own) partner = pair.ranks.first;
    }
    for (const Exchange& exchange : exchanges) {
      int status = mpi.barrier(world);
      const auto repetitions = static_cast<std::size_t>(exchange.repetitions);
      std::vector<double> own_s(repetitions);
      const bool begins = own < partner;
      // The first is a warm-up: the connection opens. There and back, one way at a time: of two
      // streams on one connection one can wait for the other's end.
      for (std::size_t i = 0; partner >= 0 && i <= repetitions; ++i) {
        const std::int64_t begin = steady_now_ns();
        for (const bool sends : {begins, !begins})
          status |= mpi.send_receive_bytes(world,
                                           send.data(),
                                           sends ? partner : -1,
                                           receive.data(),
                                           sends ? -1 : partner,
                                           exchange.bytes);
        if (i > 0) own_s[i - 1] = 0.5e-9 * static_cast<double>(steady_now_ns() - begin);
      }
      std::vector<double> all(node_of.size() * repetitions);
      status |= mpi.all_gather_bytes(world, own_s.data(), all.data(), repetitions * sizeof(double));
      check(mpi, status);
      for (const NodePair& pair : round) {
        const auto times = all.begin() + pair.ranks.first * exchange.repetitions;  // who began
        const Bytes bytes(static_cast<double>(exchange.bytes));
        Point& point = points.emplace_back(
            collective_point({Collective::send_receive, CollectiveMode::back_to_back, bytes, 2},
                             {.message = bytes,
                              .time_s = {times, times + exchange.repetitions},
                              .stop_reason = {{FindingId::exchanges_made, exchange.repetitions}}}));
        point.setting.set({{Parameter::source_index, std::int64_t{pair.nodes.first}},
                           {Parameter::target_index, std::int64_t{pair.nodes.second}}});
      }
    }
  }
  return points;
}

std::span<float> Buffer::reserve(std::size_t elements) {
  if (elements > capacity_) {
    release();
    const std::size_t bytes = (elements * sizeof(float) + page - 1) / page * page;
    memory_.reset(static_cast<float*>(std::aligned_alloc(page, bytes)));
    if (!memory_) throw std::bad_alloc();
    capacity_ = elements;
  }
  return {memory_.get(), elements};
}

void Buffer::release() {
  memory_.reset();
  capacity_ = 0;
}

void prepare(const Operation& operation) {
  fill_pattern(operation.send, operation.rank);
  std::fill(
      operation.receive.begin(), operation.receive.end(), std::numeric_limits<float>::quiet_NaN());
  if (operation.collective == Collective::broadcast && operation.rank == 0) {
    fill_pattern(operation.receive, 0);
  }
}

int run_once(const Operation& operation) {
  const MpiModule& mpi = operation.mpi;
  const MpiGroup group = operation.group;
  const float* send = operation.send.data();
  float* receive = operation.receive.data();
  const std::size_t block = operation.shape.block;
  const std::size_t bytes = block * sizeof(float);
  switch (operation.collective) {
    case Collective::all_reduce:
      return mpi.all_reduce_f32(group, send, receive, block);
    case Collective::all_gather:
      return mpi.all_gather_bytes(group, send, receive, bytes);
    case Collective::reduce_scatter:
      return mpi.reduce_scatter_f32(group, send, receive, block);
    case Collective::all_to_all:
      return mpi.all_to_all_bytes(group, send, receive, bytes);
    case Collective::broadcast:
      return mpi.broadcast_bytes(group, receive, bytes, 0);
    case Collective::reduce:
    case Collective::gather:
    case Collective::scatter:
      throw ProbeFailure("this group of ranks measures no rooted collective but broadcast");
    case Collective::send_receive:
      break;
  }
  return mpi.send_receive_bytes(group,
                                send,
                                (operation.rank + 1) % operation.ranks,
                                receive,
                                (operation.rank + operation.ranks - 1) % operation.ranks,
                                bytes);
}

void verify(const Operation& operation) {
  const auto error = find_error(
      operation.receive,
      expected_result(operation.collective, operation.shape, operation.rank, operation.ranks));
  if (error) {
    throw ProbeFailure("{} of {} B on {} ranks gave a wrong result: {}",
                       key_of(operation.collective),
                       operation.shape.message.value(),
                       operation.ranks,
                       *error);
  }
}

std::vector<Stamp> time_repetitions(const Operation& operation,
                                    int repetitions,
                                    int operations,
                                    const std::optional<CommonStart>& start) {
  std::vector<Stamp> stamps(repetitions);
  int status = 0;
  for (Stamp& stamp : stamps) {
    if (start) {
      start_together(operation, *start);
    } else {
      status |= operation.mpi.barrier(operation.group);
    }
    stamp.start_ns = steady_now_ns();
    for (int i = 0; i < operations; ++i) status |= run_once(operation);
    stamp.end_ns = steady_now_ns();
  }
  check(operation.mpi, status);
  return stamps;
}

void sleep_until_all_arrive(const MpiModule& mpi, MpiGroup group) {
  MpiRequest request = nullptr;
  check(mpi, mpi.start_barrier(group, &request));
  int done = 0;
  while (true) {
    check(mpi, mpi.test(&request, &done));
    if (done != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}
}  // namespace scaleworth::probes::host
