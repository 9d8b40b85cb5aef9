// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/operation.h"

#include "src/core/error.h"

#include <functional>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

using probes::Collective;
using probes::MessageShape;

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

/// Point-to-point calls of one rank.
struct Peers {
  const Communicator& communicator;
  cudaStream_t stream;

  void send(const float* data, std::size_t count, int peer) const {
    const Nccl& nccl = communicator.nccl();
    nccl.check(nccl.send(data, count, ncclFloat32, peer, communicator.handle(), stream));
  }
  void receive(float* data, std::size_t count, int peer) const {
    const Nccl& nccl = communicator.nccl();
    nccl.check(nccl.receive(data, count, ncclFloat32, peer, communicator.handle(), stream));
  }
};

std::size_t start_of(int rank, std::size_t block) {
  return static_cast<std::size_t>(rank) * block;
}

void send_round_a_ring(const Peers& peers, const CollectiveBuffers& buffers, std::size_t count) {
  const int ranks = peers.communicator.ranks();
  const int rank = peers.communicator.rank();
  peers.send(buffers.send, count, (rank + 1) % ranks);
  peers.receive(buffers.receive, count, (rank + ranks - 1) % ranks);
}

/// all_to_all, gather and scatter as before NCCL had them.
void exchange_blocks(Collective collective,
                     const Peers& peers,
                     const CollectiveBuffers& buffers,
                     std::size_t block) {
  const int ranks = peers.communicator.ranks();
  const bool root = peers.communicator.rank() == 0;
  const bool all = collective == Collective::all_to_all;
  for (int peer = 0; peer < ranks; ++peer) {
    const std::size_t start = start_of(peer, block);
    if (all || (collective == Collective::scatter && root)) {
      peers.send(buffers.send + start, block, peer);
    }
    if (all || (collective == Collective::gather && root)) {
      peers.receive(buffers.receive + start, block, peer);
    }
  }
  if (collective == Collective::gather) peers.send(buffers.send, block, 0);
  if (collective == Collective::scatter) peers.receive(buffers.receive, block, 0);
}

/// The ones that NCCL has had only since 2.28; false for an older one.
bool enqueue_newer(Collective collective,
                   std::size_t block,
                   const CollectiveBuffers& buffers,
                   const Communicator& communicator,
                   cudaStream_t stream) {
  const Nccl& nccl = communicator.nccl();
  const ncclComm_t handle = communicator.handle();
  const float* send = buffers.send;
  float* receive = buffers.receive;
  if (collective == Collective::all_to_all && nccl.all_to_all != nullptr) {
    nccl.check(nccl.all_to_all(send, receive, block, ncclFloat32, handle, stream));
    return true;
  }
  if (collective == Collective::gather && nccl.gather != nullptr) {
    nccl.check(nccl.gather(send, receive, block, ncclFloat32, 0, handle, stream));
    return true;
  }
  if (collective == Collective::scatter && nccl.scatter != nullptr) {
    nccl.check(nccl.scatter(send, receive, block, ncclFloat32, 0, handle, stream));
    return true;
  }
  return false;
}

}  // namespace

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
  throw NothingToMeasure(
      fmt::format("{} has no form in place", probes::collective_name(collective)));
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
  const Peers peers{communicator, stream};
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
      grouped(nccl, [&] { send_round_a_ring(peers, buffers, block); });
      return;
    case Collective::all_to_all:
    case Collective::gather:
    case Collective::scatter:
      break;
  }
  if (enqueue_newer(collective, block, buffers, communicator, stream)) return;
  grouped(nccl, [&] { exchange_blocks(collective, peers, buffers, block); });
}

}  // namespace scaleworth::gpu
