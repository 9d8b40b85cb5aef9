// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/formats/export/exported_job.h"
#include "tests/unit/trace/formats/test_folder.h"
#include "trace/formats/read_job.h"

#include <string>
#include <utility>

#include <fmt/format.h>

using namespace scaleworth;
using namespace scaleworth::trace;
using std::chrono::microseconds;

namespace {

const char* const broadcast = "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
const char* const reduce = "ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
const char* const all_reduce =
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

/// One process whose GPUs 0 and 2 compute and run collectives.
class OneProcess {
 public:
  OneProcess() {
    job_.recordings.emplace_back();
    kernel(0, "gemm", 0, 10);
    kernel(2, "gemm", 0, 10);
  }

  /// From `start` to `start` + 20 us on GPU 0, from `late` us after it on GPU 2.
  OneProcess& collective(const char* first, const char* second, int start, int late = 5) {
    kernel(0, first, start, start + 20);
    kernel(2, second, start + late, start + late + 15);
    return *this;
  }
  OneProcess& collectives(int count) {
    for (int i = 0; i < count; ++i) collective(broadcast, broadcast, 100 * (i + 1));
    return *this;
  }
  OneProcess& kernel(std::uint16_t device, const char* name, int start, int end) {
    Recording& recording = job_.recordings.front();
    DeviceEvent event;
    event.device = device;
    event.name = recording.names.intern(name);
    event.start = microseconds(start);
    event.end = microseconds(end);
    recording.device_events.push_back(event);
    return *this;
  }
  Origin& origin() { return job_.recordings.front().origin; }

  Job split() {
    static const RuleTable rules = RuleTable::built_in();
    for (Recording& recording : job_.recordings) sort_events(recording);
    split_lone_process(job_, rules);
    return std::move(job_);
  }

 private:
  Job job_;
};

}  // namespace

TEST_CASE("GPUs of one process that run the same collectives together are a rank each",
          "[read_job]") {
  const Job job = OneProcess().collectives(2).collective(reduce, reduce, 500).split();
  REQUIRE(job.recordings.size() == 2);
  CHECK(job.recordings[0].origin.rank == 0);
  CHECK(job.recordings[1].origin.rank == 1);
  CHECK(job.recordings[1].origin.device == 2);
  CHECK(job.recordings[1].origin.world_size == 2);
  CHECK(job.recordings[1].origin.rank_basis == RankBasis::counted);
  CHECK(job.recordings[0].device_events.size() == 4);
  CHECK(job.remarks == std::vector{Finding(FindingId::gpus_are_ranks, 2, 3)});
}

TEST_CASE("GPUs of one process stay one rank where their collectives do not tell", "[read_job]") {
  CHECK(OneProcess().split().recordings.size() == 1);
  CHECK(OneProcess().collectives(2).split().recordings.size() == 1);
  CHECK(OneProcess().collectives(9).collective(reduce, broadcast, 2000).split().recordings.size() ==
        1);
  // One GPU runs a collective more.
  CHECK(OneProcess().collectives(9).kernel(0, reduce, 2000, 2010).split().recordings.size() == 1);
  // A third one only computes.
  CHECK(OneProcess().collectives(9).kernel(3, "gemm", 0, 10).split().recordings.size() == 1);
}

TEST_CASE("one collective in ten may end on one GPU before it begins on another", "[read_job]") {
  CHECK(OneProcess()
            .collectives(9)
            .collective(broadcast, broadcast, 2000, 30)
            .split()
            .recordings.size() == 2);
  CHECK(OneProcess()
            .collectives(8)
            .collective(broadcast, broadcast, 2000, 30)
            .split()
            .recordings.size() == 1);
}

TEST_CASE("a process that is a rank of a larger job stays one rank", "[read_job]") {
  OneProcess rank;
  rank.collectives(5).origin().world_size = 4;
  CHECK(rank.split().recordings.size() == 1);
  OneProcess alone;
  alone.collectives(5).origin().world_size = 1;
  CHECK(alone.split().recordings.size() == 2);
}

TEST_CASE("waiting is found between the GPUs of a Kineto file", "[read_job]") {
  std::string events;
  const auto kernel = [&](int device, const char* name, int start, int end) {
    events += fmt::format(
        R"({}{{"ph": "X", "cat": "kernel", "name": "{}", "pid": {}, "tid": 7, "ts": {}, "dur": {},)"
        R"( "args": {{"device": {}, "stream": 7}}}})",
        events.empty() ? "" : ",",
        name,
        device,
        start,
        end - start,
        device);
  };
  // GPU 1 computes 200 us of every 300, GPU 0 100 us; the transfer takes 20 us.
  for (int i = 0; i < 4; ++i) {
    kernel(0, "gemm", 300 * i, 300 * i + 100);
    kernel(1, "gemm", 300 * i, 300 * i + 200);
    for (const int device : {0, 1})
      kernel(device, all_reduce, 300 * i + 100 * (device + 1), 300 * i + 220);
  }
  const TestFolder folder;
  folder.write("a.json", R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}");
  static const RuleTable rules = RuleTable::built_in();
  Job job = read_job({folder.file("a.json")}, rules, 1);
  REQUIRE(job.recordings.size() == 2);
  CHECK(job.ranks_from == Finding(FindingId::ranks_counted, "order of the GPUs of one process"));
  CHECK(job.recordings[0].remarks.empty());
  const Attributed all = attributed(job);
  REQUIRE(all.waits.collectives.size() == 4);
  nanoseconds waited{};
  for (const CommunicationSplit& split : all.waits.by_rank[0]) waited += split.split - split.start;
  CHECK(waited == microseconds(400));
}
