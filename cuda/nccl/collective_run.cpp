// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/fill.h"
#include "cuda/nccl/nccl_rank_group.h"
#include "src/core/error.h"
#include "src/core/process.h"

#include <algorithm>
#include <thread>

namespace scaleworth::gpu {
namespace {
using std::chrono::steady_clock;

// The first operation of a size opens connections, which takes seconds across nodes.
constexpr std::chrono::seconds patience{60};
constexpr double many_times = 20.0;  // the expected time; presumed: beyond, it hangs
constexpr int not_a_number_byte = 0xFF;

double between_s(const Event& first, const Event& second) {
  return std::max(1e-9, elapsed_s(first, second));
}

/// Sends and receives that start together; the group is closed whatever happens.
void grouped(const Nccl& nccl, const std::function<void()>& calls) {
  nccl.check(nccl.group_start());
  try {
    calls();
  } catch (...) {
    static_cast<void>(nccl.group_end());
    throw;
  }
  nccl.check(nccl.group_end());
}

std::size_t start_of(int rank, std::size_t block) {
  return static_cast<std::size_t>(rank) * block;
}

/// Point-to-point calls of one rank, of `count` elements each.
struct Peers {
  const Communicator& communicator;
  std::size_t count;
  cudaStream_t stream;

  void send(const float* data, int peer) const {
    const Nccl& nccl = communicator.nccl();
    nccl.check(nccl.send(data, count, ncclFloat32, peer, communicator.handle(), stream));
  }
  void receive(float* data, int peer) const {
    const Nccl& nccl = communicator.nccl();
    nccl.check(nccl.receive(data, count, ncclFloat32, peer, communicator.handle(), stream));
  }
};

/// all_to_all, gather and scatter as before NCCL had them.
void exchange_blocks(Collective collective, const Peers& peers, const CollectiveBuffers& buffers) {
  const bool root = peers.communicator.rank() == 0;
  const bool all = collective == Collective::all_to_all;
  for (int peer = 0; peer < peers.communicator.ranks(); ++peer) {
    const std::size_t start = start_of(peer, peers.count);
    if (all || (collective == Collective::scatter && root)) peers.send(buffers.send + start, peer);
    if (all || (collective == Collective::gather && root)) {
      peers.receive(buffers.receive + start, peer);
    }
  }
  if (collective == Collective::gather) peers.send(buffers.send, 0);
  if (collective == Collective::scatter) peers.receive(buffers.receive, 0);
}
}  // namespace

std::string describe(const CollectiveWork& work) {
  return fmt::format("{} of {:.0f} B", key_of(work.collective), work.message.value());
}

CollectiveRun::CollectiveRun(LocalRank& place,
                             const Communicator& communicator,
                             const CollectiveWork& work,
                             const std::atomic<bool>& stop)
    : place_(place),
      communicator_(communicator),
      work_(work),
      shape_(message_shape(work.collective, work.message, communicator.ranks())),
      stop_(stop),
      what_(describe(work)),
      buffers_(place.plain_buffers(work, shape_, communicator.rank())) {
  fill();
}

void CollectiveRun::fill() {
  const cudaStream_t stream = place_.stream();
  check(cudaMemsetAsync(place_.alignment(), 0, 2 * sizeof(float), stream));
  check(
      cudaMemsetAsync(buffers_.receive, not_a_number_byte, shape_.receive * sizeof(float), stream));
  check(cudaMemsetAsync(buffers_.send, not_a_number_byte, shape_.send * sizeof(float), stream));
  check(launch_fill_pattern(buffers_.send, shape_.send, rank_term(communicator_.rank()), stream));
}

void CollectiveRun::run() {
  enqueue(work_.collective, shape_, buffers_, communicator_, place_.stream());
}

void CollectiveRun::align() {
  const Nccl& nccl = communicator_.nccl();
  float* data = place_.alignment();
  nccl.check(nccl.all_reduce(
      data, data + 1, 1, ncclFloat32, ncclSum, communicator_.handle(), place_.stream()));
}

Seconds CollectiveRun::warm_up() {
  // As on the host, collective_timing.cpp.
  const int runs = work_.message <= small_message ? 5 : 2;
  const std::vector<Event>& events = place_.events(2);
  for (int i = 0; i < runs; ++i) {
    check(cudaEventRecord(events[0].get(), place_.stream()));
    run();
    check(cudaEventRecord(events[1].get(), place_.stream()));
    wait(events[1].get(), std::chrono::duration<double>(operation_s_));
  }
  operation_s_ = between_s(events[0], events[1]);
  return Seconds(operation_s_);
}

void CollectiveRun::verify() {
  fill();
  const cudaStream_t stream = place_.stream();
  graph_ ? check(cudaGraphLaunch(graph_.get(), stream)) : run();
  unsigned long long* errors = place_.error_count();
  check(cudaMemsetAsync(errors, 0, sizeof(*errors), stream));
  for (const ExpectedStretch& stretch :
       expected_result(work_.collective, shape_, communicator_.rank(), communicator_.ranks())) {
    check(launch_count_errors({buffers_.receive + stretch.begin,
                               stretch.count,
                               stretch.first,
                               stretch.scale,
                               stretch.offset},
                              errors,
                              stream));
  }
  const Event& done = place_.events(1)[0];
  check(cudaEventRecord(done.get(), stream));
  wait(done.get(), std::chrono::duration<double>(operation_s_));
  unsigned long long wrong = 0;
  check(cudaMemcpyAsync(&wrong, errors, sizeof(wrong), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  if (wrong != 0) {
    throw WrongResult(
        "{} on {}: {} of {} elements are wrong", what_, place_.name(), wrong, shape_.receive);
  }
}

void CollectiveRun::capture(int operations) {
  // Its second operation would work on the result of the first.
  if (work_.in_place) throw NothingToMeasure(FindingId::no_graph_in_place, what_);
  Capture capture(place_.stream());
  for (int i = 0; i < operations; ++i) run();
  const Graph graph = capture.finish();
  graph_ = instantiate(graph);
  verify();
}

std::vector<double> CollectiveRun::time(const CollectiveBatch& batch) {
  const auto repetitions = static_cast<std::size_t>(batch.repetitions);
  const std::vector<Event>& events = place_.events(2 * repetitions);
  for (std::size_t i = 0; i < repetitions; ++i) {
    align();
    check(cudaEventRecord(events[2 * i].get(), place_.stream()));
    if (work_.mode == CollectiveMode::graph) {
      check(cudaGraphLaunch(graph_.get(), place_.stream()));
    } else {
      for (int operation = 0; operation < batch.operations; ++operation) run();
    }
    check(cudaEventRecord(events[2 * i + 1].get(), place_.stream()));
  }
  wait(events[2 * repetitions - 1].get(),
       std::chrono::duration<double>(operation_s_ * batch.repetitions * batch.operations));
  std::vector<double> seconds;
  for (std::size_t i = 0; i < repetitions; ++i) {
    seconds.push_back(between_s(events[2 * i], events[2 * i + 1]) / batch.operations);
  }
  return seconds;
}

void CollectiveRun::wait(cudaEvent_t event, std::chrono::duration<double> expected) {
  const auto begin = steady_clock::now();
  const std::chrono::duration<double> limit = patience + many_times * expected;
  while (!has_happened(event)) {
    const auto waited = steady_clock::now() - begin;
    if (waited < std::chrono::milliseconds(1)) continue;
    communicator_.require_healthy(what_);
    check_interrupt();
    if (stop_) throw RanksMissing("{}: another rank gave up", place_.name());
    if (waited > limit) {
      throw RanksMissing("{} on {} did not end within {:.0f} s: a rank is lost or stuck",
                         what_,
                         place_.name(),
                         limit.count());
    }
    // Far below what is waited for, and leaves the core.
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

CollectiveBuffers in_place_buffers(Collective collective,
                                   const MessageShape& shape,
                                   float* memory,
                                   int rank) {
  float* own = memory + start_of(rank, shape.block);
  switch (collective) {
    case Collective::all_reduce:
    case Collective::broadcast:
    case Collective::reduce:
      return {memory, memory};
    case Collective::all_gather:
    case Collective::gather:
      return {own, memory};
    case Collective::reduce_scatter:
    case Collective::scatter:
      return {memory, own};
    case Collective::all_to_all:
    case Collective::send_receive:
      break;
  }
  throw NothingToMeasure(FindingId::no_form_in_place, key_of(collective));
}

void enqueue(Collective collective,
             const MessageShape& shape,
             const CollectiveBuffers& buffers,
             const Communicator& communicator,
             cudaStream_t stream) {
  const Nccl& nccl = communicator.nccl();
  const ncclComm_t handle = communicator.handle();
  const float* send = buffers.send;
  float* receive = buffers.receive;
  const std::size_t block = shape.block;
  const Peers peers{communicator, block, stream};
  switch (collective) {
    case Collective::all_reduce:
      nccl.check(nccl.all_reduce(send, receive, block, ncclFloat32, ncclSum, handle, stream));
      return;
    case Collective::all_gather:
      nccl.check(nccl.all_gather(send, receive, block, ncclFloat32, handle, stream));
      return;
    case Collective::reduce_scatter:
      nccl.check(nccl.reduce_scatter(send, receive, block, ncclFloat32, ncclSum, handle, stream));
      return;
    case Collective::broadcast:
      nccl.check(nccl.broadcast(send, receive, block, ncclFloat32, 0, handle, stream));
      return;
    case Collective::reduce:
      nccl.check(nccl.reduce(send, receive, block, ncclFloat32, ncclSum, 0, handle, stream));
      return;
    case Collective::send_receive:
      grouped(nccl, [&] {
        const int ranks = communicator.ranks();
        const int rank = communicator.rank();
        peers.send(send, (rank + 1) % ranks);
        peers.receive(receive, (rank + ranks - 1) % ranks);
      });
      return;
    case Collective::all_to_all:
      if (nccl.all_to_all == nullptr) break;
      nccl.check(nccl.all_to_all(send, receive, block, ncclFloat32, handle, stream));
      return;
    case Collective::gather:
      if (nccl.gather == nullptr) break;
      nccl.check(nccl.gather(send, receive, block, ncclFloat32, 0, handle, stream));
      return;
    case Collective::scatter:
      if (nccl.scatter == nullptr) break;
      nccl.check(nccl.scatter(send, receive, block, ncclFloat32, 0, handle, stream));
      return;
  }
  grouped(nccl, [&] { exchange_blocks(collective, peers, buffers); });
}
}  // namespace scaleworth::gpu
