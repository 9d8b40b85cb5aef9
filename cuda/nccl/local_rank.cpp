// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/local_rank.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {

using probes::CollectiveWork;
using probes::MessageShape;

constexpr std::size_t alignment_bytes = 4096;

/// Out of place: the receive buffer starts at the next page after the send buffer.
std::size_t receive_offset(const MessageShape& shape) {
  const std::size_t bytes = shape.send * sizeof(float);
  return (bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
}

std::size_t needed_bytes(const CollectiveWork& work, const MessageShape& shape) {
  if (work.in_place) return std::max(shape.send, shape.receive) * sizeof(float);
  return receive_offset(shape) + shape.receive * sizeof(float);
}

CollectiveBuffers divide(const CollectiveWork& work,
                         const MessageShape& shape,
                         void* memory,
                         int team_rank) {
  auto* elements = static_cast<float*>(memory);
  if (work.in_place) return in_place_buffers(work.collective, shape, elements, team_rank);
  return {elements, elements + receive_offset(shape) / sizeof(float)};
}

}  // namespace

LocalRank::LocalRank(int ordinal, int rank) : health_(ordinal), rank_(rank) {
  use();
  stream_ = make_stream();
  small_ = allocate_device(health_, alignment_bytes);
}

void LocalRank::use() const {
  check(cudaSetDevice(health_.ordinal()));
}

std::string LocalRank::name() const {
  return fmt::format("rank {} (GPU {})", rank_, health_.ordinal());
}

Bytes LocalRank::free_memory() const {
  std::size_t available = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&available, &total));
  return Bytes(static_cast<double>(available));
}

CollectiveBuffers LocalRank::plain_buffers(const CollectiveWork& work,
                                           const MessageShape& shape,
                                           int team_rank) {
  const std::size_t bytes = needed_bytes(work, shape);
  if (bytes > plain_bytes_) {
    plain_.reset();
    plain_bytes_ = 0;
    plain_ = allocate_device(health_, bytes);
    plain_bytes_ = bytes;
  }
  return divide(work, shape, plain_.get(), team_rank);
}

CollectiveBuffers LocalRank::registered_buffers(const CollectiveWork& work,
                                                const MessageShape& shape,
                                                const std::shared_ptr<const Nccl>& nccl,
                                                const Communicator& communicator) {
  forget_registered();
  plain_.reset();
  plain_bytes_ = 0;
  const std::size_t bytes = needed_bytes(work, shape);
  registered_ = allocate_registrable(nccl, bytes);
  registration_.emplace(communicator, registered_.get(), bytes);
  return divide(work, shape, registered_.get(), communicator.rank());
}

void LocalRank::release_memory() {
  forget_registered();
  plain_.reset();
  plain_bytes_ = 0;
}

void LocalRank::forget_registered(bool aborted) {
  if (aborted && registration_) registration_->abandon();
  registration_.reset();
  registered_.reset();
}

unsigned long long* LocalRank::error_count() const {
  return reinterpret_cast<unsigned long long*>(static_cast<char*>(small_.get()) +
                                               alignment_bytes / 2);
}

const std::vector<Event>& LocalRank::events(std::size_t count) {
  while (events_.size() < count) events_.push_back(make_event());
  return events_;
}

}  // namespace scaleworth::gpu
