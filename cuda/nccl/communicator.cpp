// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/communicator.h"

#include "cuda/kernels/loading.h"
#include "cuda/libraries/library.h"
#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/core/process.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <thread>

namespace scaleworth::gpu {
namespace {

constexpr std::size_t alignment_bytes = 4096;  // a page: no two buffers share one, as in programs

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

constexpr std::array<std::string_view, 4> memory_words{
    "out of memory", "alloc", "no space left", "creating shared memory"};

}  // namespace

Communicator::Communicator(std::shared_ptr<const Nccl> nccl,
                           const ncclUniqueId& id,
                           int ranks,
                           int rank)
    : handle_(nullptr, {std::move(nccl)}), ranks_(ranks), rank_(rank) {
  ncclComm_t communicator = nullptr;
  const Nccl& table = this->nccl();
  table.check(table.init_rank(&communicator, ranks, id, rank));
  handle_.reset(communicator);
}

OwnedCommunicator try_to_join(const std::shared_ptr<const Nccl>& nccl,
                              const ncclUniqueId& id,
                              int ranks,
                              int rank,
                              const std::atomic<bool>& stop,
                              std::chrono::duration<double> limit) {
  const auto begin = std::chrono::steady_clock::now();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t communicator = nullptr;
  ncclResult_t state = nccl->init_rank_config(&communicator, ranks, id, rank, &config);
  OwnedCommunicator joined(communicator, {nccl});
  while (state == ncclInProgress) {
    check_interrupt();
    if (stop || std::chrono::steady_clock::now() - begin > limit) {
      throw RanksMissing("no communicator of {} ranks after {:.0f} s: a rank is lost or failed",
                         ranks,
                         limit.count());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    nccl->check(nccl->get_async_error(communicator, &state));
  }
  nccl->check(state);
  return joined;
}

void Communicator::require_healthy(const std::string& doing) const {
  ncclResult_t state = ncclSuccess;
  nccl().check(nccl().get_async_error(handle(), &state));
  if (state == ncclSuccess || state == ncclInProgress) return;
  const std::string words = nccl().words(state);
  const std::string what = fmt::format("{}, rank {} of {}: {}", doing, rank_, ranks_, words);
  if (is_lack_of_memory(state, words)) throw OutOfMemory(what);
  throw ProbeFailure(what);
}

LocalRank::LocalRank(int ordinal, int rank) : health_(ordinal), rank_(rank) {
  use();
  check(load_kernels());
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

void LocalRank::release_memory() {
  plain_.reset();
  plain_bytes_ = 0;
}

unsigned long long* LocalRank::error_count() const {
  return reinterpret_cast<unsigned long long*>(static_cast<char*>(small_.get()) +
                                               alignment_bytes / 2);
}

const std::vector<Event>& LocalRank::events(std::size_t count) {
  while (events_.size() < count) events_.push_back(make_event());
  return events_;
}

bool is_lack_of_memory(int code, std::string_view words) {
  if (code != ncclUnhandledCudaError && code != ncclSystemError) return false;
  const std::string lower = lower_case(words);
  return std::ranges::any_of(
      memory_words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

void name_lack_of_memory(const std::string& who, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.status() != cudaErrorMemoryAllocation) throw;
    throw OutOfMemory("{}: out of memory: {}", who, error.what());
  } catch (const LibraryError& error) {
    // Without the call site: a folder's name may have one of these words.
    const std::string_view what = error.what();
    if (!is_lack_of_memory(error.code(), what.substr(0, what.rfind(" (code ")))) throw;
    throw OutOfMemory("{}: out of memory: {}", who, error.what());
  }
}
}  // namespace scaleworth::gpu
