// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/matching.h"

#include "tests/catch.h"
#include "tests/sim/trace/faulty_job.h"
#include "tests/unit/trace/analysis/small_jobs.h"
#include "trace/attribute.h"
#include "trace/recording.h"

namespace scaleworth::trace {
namespace {

/// Which event of which rank, for comparing with what is expected.
std::vector<std::pair<std::uint32_t, std::uint32_t>> members(const MatchedCollective& matched) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
  for (const auto& member : matched.members) list.emplace_back(member.place.index, member.event);
  return list;
}

using Members = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

TEST_CASE("Calls of a group pair by their sequence numbers even when some are not recorded") {
  Job job = job_of(2);
  add_group_call(job.recordings[0], CollectiveKind::all_reduce, {0, 1}, "tp", 4);
  add_group_call(job.recordings[0], CollectiveKind::all_reduce, {2, 3}, "tp", 5);
  add_group_call(job.recordings[1], CollectiveKind::all_reduce, {2, 3}, "tp", 5);
  add_group_call(job.recordings[1], CollectiveKind::all_reduce, {4, 5}, "tp", 6);
  const Matching matching = match_collectives(job);
  REQUIRE(matching.collectives.size() == 1);
  CHECK(matching.collectives[0].index == 5);
  CHECK(matching.collectives[0].group == "tp");
  CHECK(members(matching.collectives[0]) == Members{{0, 1}, {1, 0}});
  CHECK(matching.unmatched == 2);
  CHECK(matching.remarks.size() == 1);
}

TEST_CASE("Calls that share a sequence number pair in their order") {
  Job job = job_of(2);
  for (Recording& recording : job.recordings)
    for (int call = 0; call < 2; ++call)
      add_group_call(recording, CollectiveKind::all_gather, {call, call + 1}, "tp", 9);
  const Matching matching = match_collectives(job);
  REQUIRE(matching.collectives.size() == 2);
  CHECK(members(matching.collectives[1]) == Members{{0, 1}, {1, 1}});
}

TEST_CASE("Groups pair among their own ranks, by order where there are no numbers") {
  Job job = job_of(4);
  for (int rank = 0; rank < 4; ++rank) {
    Recording& recording = job.recordings[static_cast<std::size_t>(rank)];
    // One name for two groups: only the ranks tell them apart.
    Communication& call =
        add_group_call(recording, CollectiveKind::all_reduce, {rank, rank + 9}, "tp");
    recording.groups[call.group].ranks = rank < 2 ? std::vector{0, 1} : std::vector{2, 3};
  }
  const Matching matching = match_collectives(job);
  REQUIRE(matching.collectives.size() == 2);
  CHECK(members(matching.collectives[0]) == Members{{0, 0}, {1, 0}});
  CHECK(members(matching.collectives[1]) == Members{{2, 0}, {3, 0}});
  CHECK(matching.unmatched == 0);
}

TEST_CASE("Unequal counts without numbers are left out with a remark that names the ranks") {
  Job job = job_of(3);
  for (std::size_t rank = 0; rank < 3; ++rank)
    for (int call = 0; call < (rank == 1 ? 3 : 2); ++call)
      add_call(job.recordings[rank], CollectiveKind::all_reduce, call, call + 1);
  const Matching matching = match_collectives(job);
  CHECK(matching.collectives.empty());
  CHECK(matching.unmatched == 7);
  REQUIRE(matching.remarks.size() == 1);
  CHECK(matching.remarks[0].id == FindingId::counts_of_calls_differ);
  CHECK(matching.remarks[0].arguments.at(1) == "ranks 0 and 2 2 calls, rank 1 3 calls");
}

TEST_CASE("Streams without metadata pair by their place, whatever their numbers are") {
  Job job = job_of(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    Recording& recording = job.recordings[rank];
    add_call(recording, CollectiveKind::all_reduce, 0, 1, 20 + rank);
    add_call(recording, CollectiveKind::send_receive, 1, 2, 30 + rank);
    add_call(recording, CollectiveKind::all_reduce, 2, 3, 20 + rank);
  }
  const Matching matching = match_collectives(job);
  REQUIRE(matching.collectives.size() == 3);
  CHECK(members(matching.collectives[1]) == Members{{0, 2}, {1, 2}});
  CHECK(matching.collectives[1].index == 1);
  CHECK(matching.collectives[2].kind == CollectiveKind::send_receive);
  CHECK_FALSE(matching.collectives[2].sender);
}

TEST_CASE("Kinds that ranks order differently pair each by itself") {
  Job job = job_of(2);
  add_call(job.recordings[0], CollectiveKind::all_reduce, 0, 1);
  add_call(job.recordings[0], CollectiveKind::all_gather, 1, 2);
  add_call(job.recordings[1], CollectiveKind::all_gather, 0, 1);
  add_call(job.recordings[1], CollectiveKind::all_reduce, 1, 2);
  const Matching matching = match_collectives(job);
  REQUIRE(matching.collectives.size() == 2);
  CHECK(matching.collectives[0].kind == CollectiveKind::all_reduce);
  CHECK(members(matching.collectives[0]) == Members{{0, 0}, {1, 1}});
}

TEST_CASE("Exchanges of more than two ranks without named partners are all-to-alls") {
  Job job = job_of(3);
  for (Recording& recording : job.recordings)
    add_call(recording, CollectiveKind::send_receive, 0, 1);
  const Matching matching = match_collectives(job);
  REQUIRE(matching.collectives.size() == 1);
  CHECK(matching.collectives[0].kind == CollectiveKind::all_to_all);
}

TEST_CASE("The how-manieth send meets the how-manieth receive of the same two ranks") {
  Job job = job_of(3);
  const auto message = [&](std::size_t rank, CollectiveKind kind, int start, int peer) {
    add_group_call(job.recordings[rank], kind, {start, start + 1}, "pp", start).peer = peer;
  };
  message(0, CollectiveKind::send, 0, 1);
  message(0, CollectiveKind::send, 1, 2);
  message(0, CollectiveKind::send, 2, 1);
  message(1, CollectiveKind::receive, 5, 0);
  message(1, CollectiveKind::receive, 6, 0);
  message(2, CollectiveKind::receive, 7, 0);
  const Matching matching = match_collectives(job);
  REQUIRE(matching.collectives.size() == 3);
  CHECK(members(matching.collectives[1]) == Members{{0, 2}, {1, 1}});
  CHECK(matching.collectives[1].sender == 0U);
  CHECK(members(matching.collectives[2]) == Members{{0, 1}, {2, 0}});
}

TEST_CASE("A root is found by its place in the group") {
  Job job = job_of(4);
  for (const std::size_t rank : {1U, 3U}) {
    Recording& recording = job.recordings[rank];
    Communication& call = add_group_call(recording, CollectiveKind::broadcast, {0, 1}, "dp", 0);
    call.root = 1;
    recording.groups[call.group].ranks = {1, 3};
  }
  const Matching matching = match_collectives(job);
  REQUIRE(matching.collectives.size() == 1);
  CHECK(matching.collectives[0].root == Place{3});
}

TEST_CASE("Recordings that dropped records do not pair by order") {
  Job job = job_of(2);
  for (Recording& recording : job.recordings) add_call(recording, CollectiveKind::all_reduce, 0, 1);
  job.recordings[1].losses["dropped_records"] = 3;
  const Matching matching = match_collectives(job);
  CHECK(matching.collectives.empty());
  REQUIRE(matching.remarks.size() == 1);
  CHECK(matching.remarks[0].id == FindingId::calls_without_numbers);
  CHECK(matching.remarks[0].arguments.at(1) == "rank 1");
}

TEST_CASE("A group of which ranks left no recording pairs the others and says so") {
  Job job = job_of(2);
  for (Recording& recording : job.recordings) {
    Communication& call = add_group_call(recording, CollectiveKind::all_reduce, {0, 1}, "world", 0);
    recording.groups[call.group].size = 8;
  }
  const Matching matching = match_collectives(job);
  CHECK(matching.collectives.size() == 1);
  CHECK(
      matching.remarks ==
      std::vector{Finding(
          FindingId::partners_without_recording, Finding(FindingId::group_named, "world"), 6, 8)});
}

TEST_CASE("Frameworks' timelines pair by stage and replica") {
  Job job = job_of(4);  // two replicas of two stages
  for (int rank = 0; rank < 4; ++rank) {
    Recording& recording = job.recordings[static_cast<std::size_t>(rank)];
    recording.origin.pipeline_stage = rank % 2;
    recording.origin.data_parallel_rank = rank / 2;
    const auto call = [&](CollectiveKind kind, std::string_view name) {
      add_call(recording, kind, 0, 1).name = recording.names.intern(name);
    };
    if (rank % 2 == 0) call(CollectiveKind::send, "forward-send");
    if (rank % 2 == 1) call(CollectiveKind::receive, "forward-recv");
    if (rank % 2 == 1) call(CollectiveKind::send, "backward-send");
    if (rank % 2 == 0) call(CollectiveKind::receive, "backward-recv");
    call(CollectiveKind::reduce_scatter, "grads-reduce-scatter");
    call(CollectiveKind::all_reduce, "embedding-grads-all-reduce");
    call(CollectiveKind::all_reduce, "layernorm-grads-all-reduce");
  }
  const Matching matching = match_collectives(job);
  CHECK(matching.collectives.size() == 8);
  std::vector<Members> all;
  for (const auto& matched : matching.collectives) all.push_back(members(matched));
  const auto found = [&](const Members& wanted) {
    return std::find(all.begin(), all.end(), wanted) != all.end();
  };
  CHECK(found({{0, 0}, {1, 0}}));  // forward, replica 0
  CHECK(found({{2, 1}, {3, 1}}));  // backward, replica 1
  CHECK(found({{0, 2}, {2, 2}}));  // gradients of stage 0
  CHECK(found({{2, 3}, {3, 3}}));  // embedding, replica 1
  CHECK(matching.remarks.empty());
  CHECK(matching.unmatched == 0);  // an operation of one rank needs no partner
}

TEST_CASE("Messages pair by the ranks that they name, though others left no recording") {
  Job job = job_of(3);
  job.recordings[2].origin.rank = 3;  // rank 2 is missing
  const auto message = [&](std::size_t place, CollectiveKind kind, int start, int peer) {
    Recording& recording = job.recordings[place];
    DeviceEvent& event = add_call(recording, kind, start, start + 1);
    event.communication = static_cast<std::uint32_t>(recording.communications.size());
    recording.communications.emplace_back().kind = kind;
    recording.communications.back().peer = peer;
  };
  message(0, CollectiveKind::send, 0, 2);  // to the missing one
  message(0, CollectiveKind::send, 2, 3);
  message(1, CollectiveKind::send, 4, 3);
  message(2, CollectiveKind::receive, 2, 0);
  message(2, CollectiveKind::receive, 4, 1);
  message(2, CollectiveKind::receive, 6, 1);  // more than were sent
  const Matching matching = match_collectives(job);
  REQUIRE(matching.collectives.size() == 1);
  CHECK(members(matching.collectives[0]) == Members{{0, 1}, {2, 0}});
  CHECK(matching.unmatched == 4);
  CHECK(matching.remarks == std::vector{Finding(FindingId::counts_of_calls_differ,
                                                Finding(FindingId::messages_from_to, 1, 3),
                                                "rank 1 1 calls, rank 3 2 calls")});
}

TEST_CASE("Ranks in a sentence are runs") {
  CHECK(rank_names({3}) == "rank 3");
  CHECK(rank_names({0, 2, 3, 4, 7}) == "ranks 0, 2-4 and 7");
  CHECK(rank_names({0, 2, 4, 6, 8, 10, 12, 14}) == "ranks 0, 2, 4, 6, 8, 10 and 2 more");
}

/// Two ranks of a job, the second one's clock ahead, each recorded for some steps from
/// `first[rank]` on; `varying`: the times from call to call are not always the same.
struct Windows {
  bool numbered = false;
  bool varying = true;
  int layers = 4;
  int steps = 4;
  std::array<int, 2> first{1, 1};
  std::int64_t ahead_ns = 0;

  Job job(std::uint64_t seed) const {
    testing::JobPlan plan;
    plan.replicas = 2;
    plan.layers = layers;
    plan.steps = 12;
    plan.numbered = numbered;
    plan.noise = varying ? 0.02 : 0.0;
    plan.outliers = 0.0;
    plan.largest_offset_ns = 0.0;
    plan.seed = seed;
    testing::GeneratedJob generated = testing::generate_job(plan);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      Recording& recording = generated.job.recordings[rank];
      const auto begin = recording.step_marks[static_cast<std::size_t>(first[rank])].start;
      const auto end = recording.step_marks[static_cast<std::size_t>(first[rank] + steps)].start;
      const nanoseconds ahead(rank == 1 ? ahead_ns : 0);
      const auto cut = [&](auto& events) {
        std::erase_if(events,
                      [&](const auto& event) { return event.start < begin || event.end > end; });
        for (auto& event : events) {
          event.start += ahead;
          event.end += ahead;
        }
      };
      cut(recording.device_events);
      cut(recording.host_events);
      cut(recording.step_marks);
    }
    return std::move(generated.job);
  }
};

/// Of calls said to be one, how far their ends are apart on the true clock.
nanoseconds farthest_ends(const Job& job, const Matching& matching, std::int64_t ahead_ns) {
  nanoseconds farthest{};
  for (const MatchedCollective& one : matching.collectives) {
    const auto end = [&](std::size_t rank) {
      return job.recordings[rank].device_events[one.members[rank].event].end;
    };
    farthest = std::max(farthest, std::chrono::abs(end(1) - nanoseconds(ahead_ns) - end(0)));
  }
  return farthest;
}

constexpr std::int64_t far_ahead_ns = 57'000'000;

TEST_CASE("Windows at different times pair by their numbers, and what both recorded") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    for (const std::int64_t ahead : {std::int64_t{0}, far_ahead_ns}) {
      const Windows windows{.numbered = true, .first = {1, 3}, .ahead_ns = ahead};
      const Job job = windows.job(seed);
      const Matching matching = match_collectives(job);
      CHECK(matching.collectives.size() == 2 * 4);
      CHECK(farthest_ends(job, matching, ahead) < nanoseconds(10'000));
    }
}

TEST_CASE("Windows at different times do not pair by order, and name nobody") {
  int no_verdicts = 0;
  int windows_seen = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed)
    for (const int later : {1, 2, 5})
      for (const int layers : {1, 2, 4})
        for (const std::int64_t ahead : {std::int64_t{0}, far_ahead_ns}) {
          CAPTURE(seed, later, layers, ahead);
          const int steps = later == 5 ? 2 : 4;
          const Windows windows{
              .layers = layers, .steps = steps, .first = {1, 1 + later}, .ahead_ns = ahead};
          const auto result = attribute(windows.job(seed)).result;
          CHECK(result.stragglers.stragglers.empty());
          no_verdicts += result.stragglers.finding == StragglerFinding::no_verdict;
          ++windows_seen;
        }
  CHECK(no_verdicts > 0.95 * windows_seen);
}

TEST_CASE("A clock far ahead is accepted where only one pairing explains the times between calls") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const int layers : {1, 4}) {
      CAPTURE(seed, layers);
      const Job job = Windows{.layers = layers, .steps = 8, .ahead_ns = far_ahead_ns}.job(seed);
      const Matching matching = match_collectives(job);
      CHECK(matching.collectives.size() == static_cast<std::size_t>(8 * layers));
      CHECK(farthest_ends(job, matching, far_ahead_ns) < nanoseconds(10'000));
      const Alignment alignment = align_clocks(job, matching);
      CHECK(alignment.report.comparable);
      CHECK(std::chrono::abs(alignment.map.clock(1).offset + nanoseconds(far_ahead_ns)) <
            nanoseconds(10'000));
    }
}

TEST_CASE("With equal times between calls a clock far ahead is not known, and an equal one is") {
  const Windows same{.varying = false, .layers = 1, .steps = 8};
  CHECK(match_collectives(same.job(1)).collectives.size() == 8);
  const Windows ahead{.varying = false, .layers = 1, .steps = 8, .ahead_ns = far_ahead_ns};
  const Matching matching = match_collectives(ahead.job(1));
  CHECK(matching.collectives.empty());
  REQUIRE(matching.remarks.size() == 1);
  CHECK(matching.remarks[0].id == FindingId::pairing_ambiguous);
  CHECK_FALSE(align_clocks(ahead.job(1), matching).report.comparable);
}

TEST_CASE("Two GPUs of one host pair by order, however dense and regular their calls") {
  for (const int ahead : {22'000, 500'000}) {
    Job job = job_of(2);
    for (int index = 0; index < 40; ++index)
      for (int rank = 0; rank < 2; ++rank) {
        const int end = 40'000 * index + ahead * rank + 10'000;
        add_call(job.recordings[static_cast<std::size_t>(rank)],
                 CollectiveKind::all_reduce,
                 end - 5'000,
                 end);
      }
    CHECK(match_collectives(job).collectives.size() == (ahead < 30'000 ? 40 : 0));
  }
}

}  // namespace
}  // namespace scaleworth::trace
