// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/collective_timing.h"

#include "src/core/process.h"

#include <algorithm>
#include <limits>
#include <new>

namespace scaleworth::probes::host {
namespace {
/// On a busy machine one operation can suddenly take a time slice, so batches are short; a block
/// must be long against two clock readings (40 ns).
constexpr PacerLimits limits{
    .batch_s = 0.01, .repetitions = 8, .block_s = 200e-6, .operations = 1000};
constexpr Bytes small_message{1 << 20};

/// Rank 0's part after a batch. `stamps`: rank after rank, each with `repetitions` entries.
void add_batch(const std::vector<Stamp>& stamps,
               const CollectiveBatch& batch,
               CollectivePacer& pacer,
               std::vector<RankTiming>& timings) {
  const auto repetitions = static_cast<std::size_t>(batch.repetitions);
  const auto first = static_cast<std::int32_t>(pacer.rule().samples().size());
  std::vector<double> slowest(repetitions);
  for (std::size_t i = 0; i < repetitions; ++i) {
    for (std::size_t rank = 0; rank * repetitions < stamps.size(); ++rank) {
      const Stamp& stamp = stamps[rank * repetitions + i];
      const double time_s = 1e-9 * static_cast<double>(stamp.end_ns - stamp.start_ns);
      slowest[i] = std::max(slowest[i], time_s / batch.operations);
      timings.push_back({first + static_cast<std::int32_t>(i),
                         Rank{static_cast<int>(rank)},
                         stamp.start_ns,
                         stamp.end_ns});
    }
  }
  const auto spent_ns = stamps[repetitions - 1].end_ns - stamps[0].start_ns;
  pacer.add(slowest, Seconds(1e-9 * static_cast<double>(spent_ns) / batch.repetitions));
}

CollectiveMeasured result_of(const CollectivePacer& pacer,
                             std::vector<RankTiming> timings,
                             Bytes message) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const RankTiming& timing : timings) first = std::min(first, timing.start_ns);
  for (RankTiming& timing : timings) {
    timing.start_ns -= first;
    timing.end_ns -= first;
  }
  const StoppingRule& rule = pacer.rule();
  return {message,
          rule.samples(),
          std::move(timings),
          rule.explanation(),
          sample_warnings(rule.samples()),
          pacer.operations()};
}

std::vector<Stamp> gather(const Operation& operation, const std::vector<Stamp>& own) {
  const std::size_t bytes = own.size() * sizeof(Stamp);
  const std::vector<std::size_t> bytes_of_rank(static_cast<std::size_t>(operation.ranks), bytes);
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
/// rank's duration of the last one.
Seconds warm_up(const Operation& operation) {
  const int runs = operation.shape.message <= small_message ? 5 : 2;
  std::vector<Stamp> stamps;
  agree(operation.mpi, operation.group, trouble_of(operation.rank, [&] {
          stamps = time_repetitions(operation, runs, 1);
        }));
  const Stamp& last = stamps.back();
  return Seconds(1e-9 * static_cast<double>(last.end_ns - last.start_ns));
}

constexpr std::size_t page = 4096;
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
  CollectivePacer pacer(mode, target, warm_up(operation), limits);
  std::vector<RankTiming> timings;
  CollectiveBatch batch = share(operation, pacer.next());
  while (batch.repetitions > 0) {
    std::vector<Stamp> own;
    all_well([&] {
      own = time_repetitions(operation, batch.repetitions, batch.operations);
      for (Stamp& stamp : own) {
        stamp.start_ns += clock.offset.count();
        stamp.end_ns += clock.offset.count();
      }
      check_interrupt();
    });
    const std::vector<Stamp> stamps = gather(operation, own);
    all_well([&] {
      if (operation.rank == 0) add_batch(stamps, batch, pacer, timings);
    });
    batch = share(operation, pacer.next());
  }
  all_well([&] { verify(operation); });
  const Bytes message = operation.shape.message;
  return operation.rank == 0 ? result_of(pacer, std::move(timings), message)
                             : CollectiveMeasured{.message = message};
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

std::vector<Stamp> time_repetitions(const Operation& operation, int repetitions, int operations) {
  std::vector<Stamp> stamps(static_cast<std::size_t>(repetitions));
  int status = 0;
  for (Stamp& stamp : stamps) {
    status |= operation.mpi.barrier(operation.group);
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
