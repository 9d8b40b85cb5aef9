// SPDX-License-Identifier: Apache-2.0
/// Joining ranks, one of which fails, against an NCCL whose communicators behave as nccl.h says of
/// those that do not block: the call returns ncclInProgress, ncclCommGetAsyncError the outcome.
#include "cuda/libraries/library.h"
#include "cuda/nccl/communicator.h"
#include "src/core/error.h"
#include "tests/catch.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

using namespace scaleworth;
using namespace scaleworth::gpu;
using namespace std::chrono_literals;

namespace {
/// In progress for two polls; then done, failed where its rank is to fail, or in progress for ever.
struct FakeCommunicator {
  int rank = 0;
  std::atomic<int> polls{0};
};

/// What the library has to play, and what it saw.
struct Play {
  int failing_rank = -1;
  bool at_once = false;  // the failing rank fails in the call itself
  std::atomic<int> blocking{0};
  std::atomic<int> made{0};
  std::atomic<int> aborted{0};
};
Play play;

ncclResult_t init(ncclComm_t* result, int, ncclUniqueId, int rank, ncclConfig_t* config) {
  if (config->blocking != 0) ++play.blocking;
  *result = nullptr;
  if (play.at_once && rank == play.failing_rank) return ncclInvalidUsage;
  ++play.made;
  *result = reinterpret_cast<ncclComm_t>(new FakeCommunicator{rank});
  return ncclInProgress;
}

ncclResult_t state_of(ncclComm_t handle, ncclResult_t* state) {
  auto* communicator = reinterpret_cast<FakeCommunicator*>(handle);
  *state = ncclInProgress;
  if (++communicator->polls < 3) return ncclSuccess;
  if (play.failing_rank < 0) *state = ncclSuccess;
  if (play.failing_rank == communicator->rank) *state = ncclSystemError;
  return ncclSuccess;
}

ncclResult_t abort_one(ncclComm_t handle) {
  ++play.aborted;
  delete reinterpret_cast<FakeCommunicator*>(handle);
  return ncclSuccess;
}

std::shared_ptr<const Nccl> fake_nccl(int failing_rank, bool at_once = false) {
  play.failing_rank = failing_rank;
  play.at_once = at_once;
  play.blocking = play.made = play.aborted = 0;
  auto nccl = std::make_shared<Nccl>();
  nccl->init_rank_config = &init;
  nccl->get_async_error = &state_of;
  nccl->abort = &abort_one;
  nccl->error_words = [](ncclResult_t) { return "unhandled system error"; };
  nccl->last_error = [](ncclComm_t) { return "no interface"; };
  return nccl;
}
}  // namespace

TEST_CASE("ranks that can join do, and leave no communicator behind", "[nccl]") {
  const auto nccl = fake_nccl(-1);
  const std::atomic<bool> stop{false};
  std::thread other([&] { static_cast<void>(try_to_join(nccl, {}, 2, 1, stop, 10s)); });
  CHECK_NOTHROW(try_to_join(nccl, {}, 2, 0, stop, 10s));
  other.join();
  CHECK(play.blocking == 0);
  CHECK(play.made == 2);
  CHECK(play.aborted == 2);
}

TEST_CASE("a rank that has joined keeps its communicator while others are still joining",
          "[nccl]") {
  const auto nccl = fake_nccl(-1);
  const std::atomic<bool> stop{false};
  OwnedCommunicator first = try_to_join(nccl, {}, 2, 0, stop, 10s);
  CHECK(play.aborted == 0);
  OwnedCommunicator second = try_to_join(nccl, {}, 2, 1, stop, 10s);
  first.reset();
  second.reset();
  CHECK(play.aborted == 2);
}

TEST_CASE("a rank that fails says why, and the others end after the limit", "[nccl]") {
  for (const bool at_once : {false, true}) {
    const auto nccl = fake_nccl(1, at_once);
    const std::atomic<bool> stop{false};
    CHECK_THROWS_AS(try_to_join(nccl, {}, 2, 1, stop, 10s), LibraryError);
    CHECK_THROWS_AS(try_to_join(nccl, {}, 2, 0, stop, 20ms), RanksMissing);
    CHECK(play.aborted == play.made);
  }
}

TEST_CASE("a rank of the same process ends as soon as another gave up", "[nccl]") {
  const auto nccl = fake_nccl(1);
  const std::atomic<bool> stop{true};
  CHECK_THROWS_AS(try_to_join(nccl, {}, 2, 0, stop, 10min), RanksMissing);
  CHECK(play.aborted == 1);
}
