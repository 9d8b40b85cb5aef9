// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/collectives/small_jobs.h"
#include "trace/analysis/culprits/find_culprits.h"
#include "trace/analysis/ledger/build_ledger.h"

#include <array>
#include <random>
#include <set>

namespace scaleworth::trace {
namespace {

/// Jobs without sense: any kind, group, number, partner, place and time.
class Nonsense {
 public:
  explicit Nonsense(unsigned seed) : random_(seed) {}

  Job job() {
    Job job = job_of(1 + below(5));
    for (Recording& recording : job.recordings) {
      if (below(3) == 0) recording.origin.pipeline_stage = static_cast<int>(below(3));
      if (below(3) == 0) recording.origin.data_parallel_rank = static_cast<int>(below(2));
      if (below(4) == 0) recording.origin.host = "node";
      if (below(9) == 0) recording.losses["dropped_records"] = 1;
      const std::size_t events = below(30);
      for (std::size_t i = 0; i < events; ++i) add_event(recording);
      sort_events(recording);
    }
    return job;
  }

 private:
  std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  void add_event(Recording& recording) {
    static constexpr std::array names = {
        "forward-send", "backward-recv", "embedding-all-reduce", "clip", "layernorm", "x"};
    DeviceEvent& event = add_kernel(recording, names[below(names.size())], 0, 0, 7 + below(2));
    constexpr std::int64_t farthest = std::int64_t{1} << 61;
    event.start = nanoseconds(below(40) == 0 ? (below(2) == 0 ? -farthest : farthest - 1)
                                             : static_cast<std::int64_t>(below(3000)));
    event.end = event.start + nanoseconds(below(400));
    if (below(3) == 0) return;
    event.work_class = attribution::WorkClass::communication;
    event.collective = static_cast<CollectiveKind>(below(13));
    if (below(2) == 0) return;
    event.communication = static_cast<std::uint32_t>(recording.communications.size());
    Communication& known = recording.communications.emplace_back();
    known.kind = event.collective;
    if (below(4) != 0) known.group = recording.names.intern(below(2) == 0 ? "a" : "b");
    if (below(2) == 0) known.sequence = static_cast<std::int64_t>(below(6));
    if (below(4) == 0) known.peer = static_cast<int>(below(7)) - 1;
    if (below(4) == 0) known.root = static_cast<int>(below(7)) - 1;
    if (below(3) == 0) recording.groups[known.group].ranks = {0, static_cast<int>(below(4)), 2};
  }

  std::mt19937 random_;
};

TEST_CASE("Recordings without sense are taken apart without loss") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    const Job job = Nonsense(seed).job();
    const Matching matching = match_collectives(job);
    const Alignment alignment = align_clocks(job, matching);
    const Waits waits = split_waits(job, matching, alignment);
    for (const MatchedCollective& matched : matching.collectives) {
      std::set<std::uint32_t> ranks;
      for (const auto& member : matched.members) ranks.insert(member.rank);
      REQUIRE(ranks.size() == matched.members.size());
      REQUIRE(ranks.size() >= 2);
    }
    for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
      std::set<std::uint32_t> events;
      for (const CommunicationSplit& split : waits.by_rank[rank]) {
        REQUIRE(events.insert(split.event).second);
        REQUIRE(split.start <= split.split);
        REQUIRE(split.split <= split.end);
      }
      const auto& recorded = job.recordings[rank].device_events;
      REQUIRE(events.size() == static_cast<std::size_t>(std::count_if(
                                   recorded.begin(), recorded.end(), [](const DeviceEvent& event) {
                                     return event.work_class ==
                                            attribution::WorkClass::communication;
                                   })));
    }
    const StepPlan steps = find_steps(job, alignment.map);
    const auto report = find_culprits(
        job, steps, waits, alignment, build_job_ledger(job, steps, waits, alignment.map));
    REQUIRE(report.culprits.empty() != report.abstention.empty());
  }
}

}  // namespace
}  // namespace scaleworth::trace
