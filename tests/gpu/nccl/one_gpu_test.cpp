// SPDX-License-Identifier: Apache-2.0
/// What holds on one GPU: the data and its check, a communicator of one rank, refusals.
#include "cuda/kernels/fill.h"
#include "cuda/libraries/nccl.h"
#include "cuda/nccl/communicator.h"
#include "probes/collectives.h"
#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/gpu/nccl/group.h"

#include <variant>
#include <vector>

using namespace scaleworth;
using namespace scaleworth::gpu;
using scaleworth::gpu_tests::opened_group;

namespace {

constexpr std::size_t count = 1'000'003;

probes::CollectiveWork all_reduce_work() {
  probes::CollectiveWork work;
  work.message = Bytes(4.0 * count);
  return work;
}

std::vector<float> read(const float* data) {
  std::vector<float> host(count);
  check(cudaMemcpy(host.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost));
  return host;
}

unsigned long long errors_in(LocalRank& place, const float* data, float offset) {
  check(cudaMemsetAsync(place.error_count(), 0, sizeof(unsigned long long), place.stream()));
  check(launch_count_errors({data, count, 0, 1.0F, offset}, place.error_count(), place.stream()));
  check(cudaStreamSynchronize(place.stream()));
  unsigned long long errors = 0;
  check(cudaMemcpy(&errors, place.error_count(), sizeof(errors), cudaMemcpyDeviceToHost));
  return errors;
}

}  // namespace

TEST_CASE("the pattern on the GPU is that of the host, and one wrong element is counted",
          "[nccl][gpu]") {
  LocalRank place(0, 0);
  const auto shape = probes::message_shape(Collective::all_reduce, Bytes(4.0 * count), 2);
  const CollectiveBuffers buffers = place.plain_buffers(all_reduce_work(), shape, 0);
  check(launch_fill_pattern(buffers.send, count, probes::rank_term(3), place.stream()));
  check(cudaStreamSynchronize(place.stream()));
  std::vector<float> host(count);
  probes::fill_pattern(host, 3);
  CHECK(read(buffers.send) == host);
  CHECK(errors_in(place, buffers.send, probes::rank_term(3)) == 0);
  check(cudaMemset(buffers.send + 777, 0xFF, sizeof(float)));  // a NaN
  CHECK(errors_in(place, buffers.send, probes::rank_term(3)) == 1);
}

TEST_CASE("a communicator of one rank copies", "[nccl][gpu]") {
  const auto opened = open_nccl("");
  const auto& nccl = std::get<std::shared_ptr<const Nccl>>(opened);
  LocalRank place(0, 0);
  ncclUniqueId id{};
  nccl->check(nccl->get_unique_id(&id));
  const Communicator communicator(nccl, id, 1, 0);
  const probes::MessageShape shape{count, count, count, Bytes(4.0 * count)};
  const CollectiveBuffers buffers = place.plain_buffers(all_reduce_work(), shape, 0);
  check(launch_fill_pattern(buffers.send, count, 0.0F, place.stream()));
  for (const auto collective : {Collective::all_reduce,
                                Collective::all_gather,
                                Collective::broadcast,
                                Collective::gather,
                                Collective::send_receive}) {
    check(cudaMemsetAsync(buffers.receive, 0xFF, count * sizeof(float), place.stream()));
    enqueue(collective, shape, buffers, communicator, place.stream());
    check(cudaStreamSynchronize(place.stream()));
    CAPTURE(key_of(collective));
    CHECK(errors_in(place, buffers.receive, 0.0F) == 0);
  }
  communicator.require_healthy("copying");
}

TEST_CASE("the group tells where its ranks are and refuses what it cannot do", "[nccl][gpu]") {
  probes::RankGroup& group = *opened_group().group;
  CHECK(group.rank() == Rank{0});
  CHECK(group.size() >= 1);
  CHECK(group.available_memory_per_rank() > Bytes(0.0));
  CHECK(group.links().node == std::vector<int>(static_cast<std::size_t>(group.size()), 0));
  CHECK_FALSE(group.shared_gpu());
  probes::CollectiveWork work;
  work.message = Bytes(64.0);
  work.ranks = 1;
  CHECK_THROWS_AS(group.time_collective(work, {}), ProbeFailure);
}
