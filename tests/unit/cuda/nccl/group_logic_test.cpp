// SPDX-License-Identifier: Apache-2.0
/// What processes of NCCL ranks tell each other, and where buffers lie in place.
#include "cuda/libraries/library.h"
#include "cuda/nccl/communicator.h"
#include "cuda/nccl/nccl_rank_group.h"
#include "cuda/nccl/plugins.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"
#include "tests/catch.h"

#include <array>
#include <functional>
#include <source_location>
#include <string>

using namespace scaleworth;
using namespace scaleworth::gpu;
using namespace scaleworth::probes;

TEST_CASE("in place, a gathering rank sends its own block and a scattering one keeps it",
          "[nccl]") {
  std::array<float, 16> memory{};
  const MessageShape shape = message_shape(Collective::all_gather, Bytes(64.0), 4);
  const auto gather = in_place_buffers(Collective::all_gather, shape, memory.data(), 2);
  CHECK(gather.send == memory.data() + 8);  // blocks of 4 elements
  CHECK(gather.receive == memory.data());
  const auto scatter = in_place_buffers(Collective::reduce_scatter, shape, memory.data(), 3);
  CHECK(scatter.send == memory.data());
  CHECK(scatter.receive == memory.data() + 12);
  const auto reduce = in_place_buffers(Collective::all_reduce, shape, memory.data(), 3);
  CHECK(reduce.send == reduce.receive);
  CHECK_THROWS_AS(in_place_buffers(Collective::all_to_all, shape, memory.data(), 0),
                  NothingToMeasure);
}

TEST_CASE("what a warm-up told survives the way to rank 0", "[nccl]") {
  NcclReport own;
  own.operation = Seconds(12e-6);
  own.tuner_called = true;
  own.offered = {{"Ring", "LL"}, {"NVLS", "Simple"}};
  own.ran = RanAlgorithm{{"Ring", "LL"}, 4};
  const auto read = read_message<NcclReport>(message_text(own));
  CHECK(read.operation == own.operation);
  CHECK(read.tuner_called);
  CHECK_FALSE(read.refused);
  CHECK(read.offered == own.offered);
  CHECK(read.ran->channels == 4);
  CHECK_FALSE(read_message<NcclReport>(message_text(NcclReport{})).ran);
  CHECK_THROWS_AS(read_message<NcclReport>("{}"), ProbeFailure);
  CHECK_THROWS_AS(read_message<NcclReport>("nonsense"), ProbeFailure);
  CHECK_THROWS_AS(read_message<NcclReport>(message_text(own) + "more"), ProbeFailure);
}

TEST_CASE("the slowest rank counts for each repetition, one that slept for none", "[nccl]") {
  std::vector<double> slowest;
  take_slowest(slowest, {1.0, 5.0});
  take_slowest(slowest, {});
  take_slowest(slowest, {3.0, 2.0});
  CHECK(slowest == std::vector<double>{3.0, 5.0});
  CHECK_THROWS_AS(take_slowest(slowest, {1.0}), ProbeFailure);
}

TEST_CASE("a lack of memory is told from other failures of the same code", "[nccl]") {
  CHECK(is_lack_of_memory(ncclUnhandledCudaError,
                          "unhandled cuda error; Cuda failure 2 'out of memory'"));
  CHECK(is_lack_of_memory(ncclUnhandledCudaError, "Failed to CUDA calloc async 10485760 bytes"));
  CHECK(is_lack_of_memory(
      ncclSystemError,
      "Error while creating shared memory segment /dev/shm/nccl-Fr8s (size 9637888)"));
  CHECK_FALSE(is_lack_of_memory(ncclSystemError,
                                "Error while attaching to shared memory segment "
                                "/dev/shm/nccl-Fr8s (size 0), error: No such file or directory "
                                "(2)"));
  CHECK(is_lack_of_memory(ncclSystemError, "Call to ibv_reg_mr failed: Cannot allocate memory"));
  CHECK_FALSE(is_lack_of_memory(ncclSystemError, "socketProgress: Connection closed by peer"));
  CHECK_FALSE(is_lack_of_memory(ncclUnhandledCudaError, "Cuda failure 719"));
  CHECK_FALSE(is_lack_of_memory(ncclInvalidUsage, "out of memory"));
}

TEST_CASE("failures for lack of memory become OutOfMemory with the rank, others pass", "[nccl]") {
  const auto outcome = [](const std::function<void()>& action) -> std::string {
    try {
      name_lack_of_memory("rank 3 (GPU 3)", action);
    } catch (const OutOfMemory& failure) {
      return failure.what();
    }
    return "nothing";
  };
  CHECK(outcome([] {
          throw Error(cudaErrorMemoryAllocation, std::source_location::current());
        }).starts_with("rank 3 (GPU 3): out of memory: "));
  CHECK(outcome([] {
          throw LibraryError(
              "NCCL", "Failed to CUDA malloc 8 bytes", 1, std::source_location::current());
        }).starts_with("rank 3 (GPU 3): out of memory: NCCL: Failed to CUDA malloc"));
  CHECK_THROWS_AS(
      outcome([] { throw Error(cudaErrorLaunchFailure, std::source_location::current()); }), Error);
  CHECK(outcome([] {}) == "nothing");
}

TEST_CASE("a place survives the way to the other ranks", "[nccl]") {
  const RankPlace place{"node a 1234", "0000:18:00.0", "GPU-1", 1};
  const auto read = read_message<RankPlace>(message_text(place));
  CHECK(read.host == place.host);
  CHECK(read.bus_id == place.bus_id);
  CHECK(read.uuid == place.uuid);
  CHECK(read.numa == 1);
  CHECK_FALSE(read_message<RankPlace>(message_text(RankPlace{})).numa);
  CHECK_THROWS_AS(read_message<RankPlace>("[]"), ProbeFailure);
}

TEST_CASE("links are symmetric, the slower direction counts, nodes are numbered", "[nccl]") {
  const std::vector<RankPlace> places{
      {"b", "", "0", 0}, {"b", "", "1", std::nullopt}, {"a", "", "2", 1}};
  const RankLink none;
  const RankLink near{LinkKind::nvlink, 0};
  const RankLink far{LinkKind::peer, 1};
  const RankLink away{LinkKind::network, 0};
  const RankLinks links =
      assemble_links(places, {{none, near, away}, {far, none, away}, {away, away, none}});
  CHECK(links.node == std::vector<int>{0, 0, 1});
  CHECK(links.numa == std::vector<std::optional<int>>{0, std::nullopt, 1});
  CHECK(links.link[0][1] == far);
  CHECK(links.link[1][0] == far);
  CHECK(read_message<std::vector<RankLink>>(message_text(links.link[0])) == links.link[0]);
  CHECK_THROWS_AS(assemble_links(places, {{none, near}, {far, none}, {away, away}}), ProbeFailure);
}

TEST_CASE("a placement counts GPUs and nodes, and one GPU for two ranks is refused", "[nccl]") {
  std::vector<RankPlace> places{{"a 1", "0000:18:00.0", "GPU-1", 0},
                                {"a 1", "0000:19:00.0", "GPU-2", 0},
                                {"b 2", "0000:18:00.0", "GPU-1", 0}};
  CHECK(describe_placement(places, true, false) == "3 GPUs on 2 nodes, one process per GPU");
  CHECK_NOTHROW(refuse_shared_gpus(places));  // the same name on another node
  places[2].host = "a 1";
  CHECK(describe_placement(places, false, false) == "3 GPUs on 1 node, one process");
  CHECK_THROWS_AS(refuse_shared_gpus(places), UserError);
  CHECK(describe_placement(places, true, true).starts_with("3 ranks that share a GPU"));
}

TEST_CASE("a rank's GPU is found by how many ranks of its host come before it", "[nccl]") {
  CHECK(index_on_host(0, {"a", "a", "b", "a"}) == 0);
  CHECK(index_on_host(2, {"a", "a", "b", "a"}) == 0);
  CHECK(index_on_host(3, {"a", "a", "b", "a"}) == 2);
}
