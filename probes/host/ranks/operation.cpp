// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/operation.h"

#include "probes/collectives/pattern.h"
#include "src/core/error.h"

#include <algorithm>
#include <limits>
#include <new>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

constexpr std::size_t page = 4096;

}  // namespace

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
    throw ProbeFailure(fmt::format("{} of {} B on {} ranks gave a wrong result: {}",
                                   collective_name(operation.collective),
                                   operation.shape.message.value(),
                                   operation.ranks,
                                   *error));
  }
}

}  // namespace scaleworth::probes::host
