// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/whole_number.h"
#include "tests/catch.h"
#include "trace/formats/read_job.h"

#include <limits>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

Recording from(const std::string& file,
               std::optional<std::int32_t> rank,
               std::optional<std::int32_t> size = {}) {
  Recording recording;
  recording.origin.file = file;
  recording.origin.rank = rank;
  recording.origin.world_size = size;
  if (rank) recording.origin.rank_from = "distributedInfo";
  return recording;
}

Recording at(const std::string& file, std::int64_t start_s, std::int64_t end_s) {
  Recording recording = from(file, std::nullopt);
  DeviceEvent event;
  event.start = std::chrono::seconds(start_s);
  event.end = std::chrono::seconds(end_s);
  recording.device_events.push_back(event);
  return recording;
}

Job job_of(std::vector<Recording> recordings) {
  Job job;
  job.recordings = std::move(recordings);
  return job;
}

template <typename... Recordings>
Job job(Recordings... recordings) {
  std::vector<Recording> all;
  (all.push_back(std::move(recordings)), ...);
  return job_of(std::move(all));
}

std::string refusal(const Job& mixed) {
  try {
    refuse_mixed_runs(mixed);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("Ranks are found in the usual names of files", "[ranks]") {
  CHECK(file_name_rank("/data/run7/rank-3.Apr_03_18_51_38.1102.pt.trace.json.gz") == 3);
  CHECK(file_name_rank("inference_rank_1.json.gz") == 1);
  CHECK(file_name_rank("traces.tar.gz:out/rank12.json") == 12);
  CHECK(file_name_rank("trace_rank3.json") == 3);
  CHECK(file_name_rank("Global-Rank=5.json") == 5);
  CHECK(file_name_rank("rank0_of_rank_group.json") == 0);
}

TEST_CASE("A number in a name that no rank stands before is no rank", "[ranks]") {
  for (const char* name : {"libkineto_activities_44151.json",
                           "jtkj003_672975.1754980773706849449.pt.trace.json",
                           "resnet_50.json",
                           "gpu7_4182.1700000000000.pt.trace.json",
                           "worker7_trace.json",
                           "trace_15.json",
                           "12.json",
                           "proc3.json",
                           "lowrank8.json",
                           "rank4x8.json",
                           "local_rank3.json",
                           "report.sqlite",
                           "v100.json"})
    CHECK_FALSE(file_name_rank(name).has_value());
}

TEST_CASE("Cycles of one process are one recording where they do not overlap", "[ranks]") {
  const auto cycle = [](const std::string& file, std::int64_t process, std::int64_t start_s) {
    Recording recording = at(file, start_s, start_s + 1);
    recording.origin.process = process;
    recording.origin.device = 0;
    recording.device_events[0].name = recording.names.intern(file);
    recording.device_events[0].correlation = 7;
    recording.step_marks.push_back({4, {}, {}});
    return recording;
  };
  const auto joined = [&](Job job) {
    join_cycles(job);
    return std::move(job.recordings);
  };
  const auto cycles =
      joined(job(cycle("later", 12, 60), cycle("first", 12, 10), cycle("b", 13, 10)));
  REQUIRE(cycles.size() == 2);
  const Recording& whole = cycles[0].origin.process == 12 ? cycles[0] : cycles[1];
  REQUIRE(whole.device_events.size() == 2);
  CHECK(whole.names.at(whole.device_events[0].name) == "first");
  CHECK(whole.names.at(whole.device_events[1].name) == "later");
  // Equal numbers of calls and steps in both are not the same calls and steps.
  CHECK(whole.device_events[0].correlation != whole.device_events[1].correlation);
  CHECK(whole.step_marks.at(0).number != whole.step_marks.at(1).number);
  // Containers repeat the numbers of processes: at once, or an hour apart, they are others.
  CHECK(joined(job(cycle("a", 12, 10), cycle("b", 12, 10))).size() == 2);
  CHECK(joined(job(cycle("a", 12, 10), cycle("b", 12, 3610))).size() == 2);
}

TEST_CASE("Numbers in names sort as numbers", "[ranks]") {
  CHECK(natural_less("rank-2.json", "rank-10.json"));
  CHECK_FALSE(natural_less("rank-10.json", "rank-2.json"));
  CHECK(natural_less("rank-09", "rank-10"));
  CHECK(natural_less("a", "a1"));
  CHECK_FALSE(natural_less("a1", "a1"));
}

TEST_CASE("Metadata decides over names, and recordings come in the order of ranks", "[ranks]") {
  Job ranks = job(from("rank0.json", 1), from("rank1.json", 0));
  assign_ranks(ranks);
  CHECK(ranks.recordings[0].origin.file == "rank1.json");
  CHECK(ranks.ranks_from == Finding(FindingId::ranks_stated, "distributedInfo"));
  CHECK(ranks.remarks.empty());
}

TEST_CASE("Names decide where all recordings claim one rank", "[ranks]") {
  Job ranks = job(from("b_rank1.json", 0), from("a_rank2.json", 0), from("c_rank0.json", 0));
  assign_ranks(ranks);
  CHECK(ranks.recordings[2].origin.file == "a_rank2.json");
  CHECK(ranks.ranks_from ==
        Finding(FindingId::ranks_of_names_as_both, "b_rank1.json", "a_rank2.json", 0));
}

TEST_CASE("A rank that the stated job cannot have is unknown, and is said", "[ranks]") {
  using Number = std::optional<std::int64_t>;
  for (const auto& [rank, size] : {std::pair<Number, Number>{2147483647, 2},
                                   {2, 2},
                                   {-1, 2},
                                   {most_ranks, std::nullopt},
                                   {std::numeric_limits<std::int64_t>::max(), std::nullopt}}) {
    Recording stated;
    stated.origin.file = "b.json";
    state_rank(stated, rank, size, "distributedInfo");
    CHECK_FALSE(stated.origin.rank);
    CHECK(stated.origin.rank_from.empty());
    CHECK(stated.remarks ==
          std::vector{size ? Finding(FindingId::no_rank_of_job, "distributedInfo", *rank, *size)
                           : Finding(FindingId::no_rank, "distributedInfo", *rank)});
    Job two = job(from("a.json", std::nullopt), std::move(stated));
    assign_ranks(two);
    CHECK(two.recordings[1].origin.rank == 1);
    CHECK(two.recordings[1].origin.rank_from == "order of files");
  }
  Recording none;
  state_rank(none, 1, -2, "distributedInfo");
  CHECK(none.origin.rank == 1);
  CHECK_FALSE(none.origin.world_size);
  CHECK(none.remarks == std::vector{Finding(FindingId::no_size_of_a_job, "distributedInfo", -2)});
}

TEST_CASE("Two recordings of one rank are refused where names do not help", "[ranks]") {
  Job ranks = job(from("x.json", 4), from("y.json", 4));
  CHECK_THROWS_WITH(assign_ranks(ranks), StartsWith("x.json and y.json are both rank 4"));
}

TEST_CASE("Without metadata and names the order of the files decides, and is said", "[ranks]") {
  Job ranks = job(from("b", std::nullopt), from("a", std::nullopt));
  assign_ranks(ranks);
  CHECK(ranks.recordings[0].origin.file == "a");
  CHECK(ranks.recordings[0].origin.rank == 0);
  CHECK(ranks.recordings[0].origin.rank_from == "order of files");
  CHECK(ranks.ranks_from == Finding(FindingId::ranks_in_order));
}

TEST_CASE("What a file holds in order goes on over several files", "[ranks]") {
  std::vector<Recording> all;
  for (const char* file : {"node-b.sqlite", "node-a.sqlite"})
    for (const int place : {0, 1}) {
      all.push_back(from(file, place));
      all.back().origin.rank_basis = RankBasis::counted;
      all.back().origin.process = place;
    }
  Job ranks = job_of(std::move(all));
  assign_ranks(ranks);
  CHECK(ranks.recordings[1].origin.file == "node-a.sqlite");
  CHECK(ranks.recordings[2].origin.file == "node-b.sqlite");
  CHECK(ranks.recordings[3].origin.rank == 3);
}

TEST_CASE("Recordings without a rank take the free ones", "[ranks]") {
  Job ranks = job(from("x", std::nullopt), from("y", 1), from("z", std::nullopt));
  assign_ranks(ranks);
  CHECK(ranks.recordings[0].origin.file == "x");
  CHECK(ranks.recordings[1].origin.file == "y");
  CHECK(ranks.recordings[2].origin.file == "z");
}

TEST_CASE("Missing ranks of many are named", "[ranks]") {
  std::vector<Recording> all;
  for (int rank = 0; rank < 4096; ++rank)
    if (rank != 7 && rank != 100 && rank != 4095)
      all.push_back(from("rank-" + std::to_string(rank), rank, 4096));
  Job ranks = job_of(std::move(all));
  assign_ranks(ranks);
  CHECK(ranks.recordings.size() == 4093);
  CHECK(ranks.remarks ==
        std::vector{Finding(FindingId::other_ranks_missing, "ranks 7, 100 and 4095", 4096)});
  CHECK(ranks.recordings[7].origin.rank == 8);
}

TEST_CASE("Recordings of jobs of different sizes are refused by name", "[ranks]") {
  CHECK(refusal(job(from("a", 0, 8), from("b", 1, 8))).empty());
  CHECK(refusal(job(from("a", 0, 8), from("b", 1, 16))) ==
        "a and b are of different runs (8 and 16 ranks): give the recordings of one run");
}

TEST_CASE("Other communicators of all ranks are other runs, those of parts are not", "[ranks]") {
  const auto in = [](const std::string& file, const std::string& run, int size) {
    Recording recording = from(file, 0, size);
    recording.origin.rank_basis = RankBasis::communicator;
    recording.origin.run = run;
    return recording;
  };
  CHECK(refusal(job(in("a", "communicator 0x1", 2), in("b", "communicator 0x2", 2))) ==
        "a and b are of different runs (communicator 0x1 and communicator 0x2): give the "
        "recordings of one run");
  CHECK(refusal(job(in("a", "1", 2), in("b", "1", 2), in("c", "2", 2), in("d", "2", 2))).empty());
}

TEST_CASE("Times on the wall clock that do not meet are of different runs", "[ranks]") {
  const std::int64_t may = 1'780'000'000;
  CHECK(refusal(job(at("a", may, may + 5), at("b", may + 30, may + 35))).empty());
  CHECK(refusal(job(at("b", may + 300, may + 305), at("a", may, may + 5))) ==
        "a and b are of different runs (295 s lie between them): give the recordings of one run");
  CHECK(refusal(job(at("a", 0, 5), at("b", 300, 305))).empty());  // since boot: says nothing
}
