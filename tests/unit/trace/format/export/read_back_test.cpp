// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/unit/trace/format/export/exported_job.h"
#include "tests/unit/trace/format/export/perfetto_checks.h"
#include "tests/unit/trace/format/test_folder.h"
#include "tests/unit/trace/recordings.h"
#include "trace/formats/export/export.h"
#include "trace/formats/read_job.h"

#include <fstream>
#include <sstream>
#include <utility>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

Job read(const std::string& path) {
  static const RuleTable rules = RuleTable::built_in();
  return read_job({path}, rules, 1);
}

void check_same_ledger(const Attributed& a, const Attributed& b) {
  REQUIRE(a.result.ledger.size() == b.result.ledger.size());
  for (std::size_t i = 0; i < a.result.ledger.size(); ++i) {
    const auto& x = a.result.ledger[i];
    const auto& y = b.result.ledger[i];
    CHECK(x.step == y.step);
    CHECK(x.rank == y.rank);
    CHECK(x.start == y.start);
    CHECK(x.end == y.end);
    CHECK(x.parts == y.parts);
    CHECK(x.compute_by_class == y.compute_by_class);
    CHECK(x.host_late_by_cause == y.host_late_by_cause);
    CHECK(x.waited_for == y.waited_for);
    CHECK(x.overlapped_wait == y.overlapped_wait);
    CHECK(x.communication == y.communication);
    CHECK(x.excluded == y.excluded);
  }
}

/// Exports to `path` as Chrome JSON, requires that it reads back to the same ledger, and returns
/// what was read, with what was found out about it.
std::pair<Job, Attributed> check_reads_back(const Job& job,
                                            const Attributed& all,
                                            const std::string& path,
                                            const ExportOptions& options = {}) {
  const ExportCounts counts = export_timeline(job, all, path, options);
  if (path.ends_with(".json")) check_shown(shown_of(json_of(path)), counts);
  Job again = read(path);
  Attributed same = attributed(again);
  check_same_ledger(all, same);
  return {std::move(again), std::move(same)};
}

}  // namespace

TEST_CASE("An exported Chrome timeline reads back to the same ledger", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  for (Recording& recording : job.recordings)
    for (DeviceEvent& event : recording.device_events)
      if (event.operation == DeviceOperation::kernel)
        event.shape = shape_number(recording, "[4, 2, 1] [128, 1, 1] [[8, 64], [64, 8]]");
  const Attributed all = attributed(job);
  for (const char* name : {"a.json", "a.json.gz"}) {
    const auto [again, same] = check_reads_back(job, all, folder.file(name));
    REQUIRE(again.recordings.size() == 2);
    CHECK(again.recordings[0].origin.tool == "Kineto, exported");
    const Recording& rank = again.recordings[1];
    CHECK(rank.shapes.at(NameId{1}) == "[4, 2, 1] [128, 1, 1] [[8, 64], [64, 8]]");
    CHECK(rank.communications.size() == 1);
    CHECK(rank.communications[0].sequence == 3);
    CHECK(rank.communications[0].output_bytes == 4096);
    CHECK(rank.groups.begin()->second.ranks == std::vector<std::int32_t>{0, 1});
  }
}

TEST_CASE("Root and peer of a communication read back", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  job.recordings[0].communications[0].kind = CollectiveKind::broadcast;
  job.recordings[0].communications[0].root = 1;
  job.recordings[1].communications[0].kind = CollectiveKind::receive;
  job.recordings[1].communications[0].peer = 0;
  const Attributed all = attributed(job);
  export_timeline(job, all, folder.file("a.json"));
  const Job again = read(folder.file("a.json"));
  CHECK(again.recordings[0].communications[0].kind == CollectiveKind::broadcast);
  CHECK(again.recordings[0].communications[0].root == 1);
  CHECK(again.recordings[1].communications[0].kind == CollectiveKind::receive);
  CHECK(again.recordings[1].communications[0].peer == 0);
}

TEST_CASE("What an exported file says of itself is believed only where its type is right",
          "[export]") {
  const TestFolder folder;
  Job job = small_job();
  job.recordings[0].origin.framework_timeline = true;
  const Attributed all = attributed(job);
  export_timeline(job, all, folder.file("a.json"));
  CHECK(read(folder.file("a.json")).recordings[0].origin.framework_timeline);
  std::stringstream text;
  text << std::ifstream(folder.file("a.json")).rdbuf();
  std::string damaged = text.str();
  const std::string flag = R"("framework_timeline":true)";
  REQUIRE(damaged.find(flag) != std::string::npos);
  damaged.replace(damaged.find(flag), flag.size(), R"("framework_timeline":"yes")");
  std::ofstream(folder.file("b.json")) << damaged;
  CHECK_FALSE(read(folder.file("b.json")).recordings[0].origin.framework_timeline);
}

TEST_CASE("The DLRM recording is exported with paired arrows and reads back to the same ledger",
          "[export]") {
  const auto path = shared_recording("dlrm_8xv100");
  if (!path) return;
  const TestFolder folder;
  Job job = read(*path);
  const Attributed all = attributed(job);
  // of 8 collectives, each from the last rank to the 7 others
  CHECK(check_perfetto(job, all, folder.file("a.pftrace")).arrows == 8 * 7);
  check_reads_back(job, all, folder.file("a.json"));
}

TEST_CASE("A framework's timeline has its waiting in front of its calls and reads back",
          "[export]") {
  const auto path = shared_recording("straggler_ST/timeline-ST.json.gz");
  if (!path) return;
  const TestFolder folder;
  Job job = read(*path);
  const Attributed all = attributed(job);
  CHECK(check_perfetto(job, all, folder.file("a.pftrace")).arrows > 500);
  const auto [again, same] = check_reads_back(job, all, folder.file("a.json"));
  CHECK(again.recordings[7].origin.pipeline_stage == 3);
}

TEST_CASE("A recording without marks of its steps reads back to steps found the same way",
          "[export]") {
  const auto path = shared_recording("nsys_2gpu_before.sqlite");
  if (!path) return;
  const TestFolder folder;
  Job job = read(*path);
  const Attributed all = attributed(job);
  const auto [again, same] = check_reads_back(job, all, folder.file("a.json"));
  CHECK(same.steps.choice.sentence == all.steps.choice.sentence);
}

TEST_CASE("Ranks keep their numbers where others are missing, in the file and when it is read back",
          "[export]") {
  const TestFolder folder;
  Job job = small_job();
  job.recordings[1].origin.rank = 5;  // those between are missing
  for (Recording& recording : job.recordings) recording.groups.begin()->second.ranks = {0, 5};
  const Attributed all = attributed(job);
  export_timeline(job, all, folder.file("a.pftrace"));
  const PerfettoFile file(folder.file("a.pftrace"));
  CHECK(track_of(file, "rank 5", "steps").front().integers.at("compute_ns") == 60'000);
  CHECK(track_of(file, "rank 0", "GPU 0 stream 9")[1].name == "wait for rank 5");
  const auto [again, same] = check_reads_back(job, all, folder.file("a.json"));
  CHECK(again.recordings[1].origin.rank == 5);
  ExportOptions options;
  options.ranks = {Rank{5}};
  CHECK(export_timeline(job, all, folder.file("b.json"), options).slices > 0);
  options.ranks = {Rank{1}};
  CHECK_THROWS_WITH(export_timeline(job, all, folder.file("c.json"), options),
                    "there is no recording of rank 1 to export: choose among ranks 0 and 5");
}
