// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/trace/formats/export/exported_file.h"
#include "tests/unit/trace/formats/export/exported_job.h"
#include "tests/unit/trace/formats/test_folder.h"
#include "tests/unit/trace/recordings.h"
#include "trace/formats/export/export_writer.h"
#include "trace/formats/read_job.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::trace;
using std::chrono::microseconds;

namespace {

/// Begins with their times in us, and ends, in order: "gemm 10 | end 70".
std::string written(const std::vector<ExportedEvent>& events) {
  std::string text;
  for (const ExportedEvent& event : events)
    text += (text.empty() ? "" : " | ") + event.name + " " + std::to_string(event.time / 1000);
  return text;
}

}  // namespace

TEST_CASE("Kernels that overlap on a stream lie in lanes, calls inside calls do not", "[export]") {
  const auto at = [](int start, int end) {
    return TimeInterval{microseconds(start), microseconds(end)};
  };
  const std::vector<TimeInterval> events = {at(0, 10), at(2, 4), at(5, 12), at(10, 11), at(12, 12)};
  CHECK(assign_lanes(events, Nesting::none) == std::vector<std::uint32_t>{0, 1, 1, 0, 0});
  CHECK(assign_lanes(events, Nesting::inside_allowed) == std::vector<std::uint32_t>{0, 0, 1, 0, 0});
}

TEST_CASE("An export has nested tracks, paired arrows and the counts that it tells", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  const Attributed all = attributed(job);
  const ExportCounts counts = check_export(job, all, folder.file("a.json"));
  const auto file = json_of(folder.file("a.json"));
  CHECK(counts.arrows == 1);
  CHECK(counts.left_out == 0);
  CHECK(counts.bytes == std::filesystem::file_size(folder.file("a.json")));

  CHECK(written(track_of(file, "rank 0", "GPU 0 stream 7")) == "gemm_kernel 10 | end 70");
  CHECK(written(track_of(file, "rank 0", "GPU 0 stream 7 (2)")) ==
        "elementwise_kernel 20 | end 30");
  CHECK(written(track_of(file, "rank 0", "GPU 0 stream 9")) ==
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL 20 | wait for rank 1 20 | end 75 | transfer 75 | "
        "end 80 | end 80");
  CHECK(written(track_of(file, "rank 1", "python 10/1")) ==
        "forward 1 | cudaLaunchKernel 2 | end 4 | cuLaunchKernelEx 5 | end 6 | end 50");
  // the arrow leads from the late kernel's begin to the transfer after the waiting
  CHECK(track_of(file, "rank 1", "GPU 0 stream 9").front().arrows_out == 1);
  CHECK(track_of(file, "rank 0", "GPU 0 stream 9").at(3).arrows_in == 1);
  const ExportedEvent step = track_of(file, "rank 0", "steps").front();
  CHECK(step.name == "step 0");
  CHECK(step.arguments.at("compute_ns") == 60'000);
}

TEST_CASE("The Chrome export is JSON whose slices nest and whose arrows have two ends",
          "[export]") {
  const TestFolder folder;
  Job job = small_job();
  job.recordings[0].names.intern("unused");
  job.recordings[0].device_events[0].name =
      job.recordings[0].names.intern("kernel<\"quoted\\\">\n(int)");
  const Attributed all = attributed(job);
  const ExportCounts counts = export_timeline(job, all, folder.file("a.json"));
  const auto document = json_of(folder.file("a.json"));
  check_shown(shown_of(document), counts);
  std::int64_t slices = 0;
  std::map<int, std::string> arrows;
  std::map<std::pair<int, int>, std::vector<double>> open;  // ends, by process and thread
  for (const auto& event : document.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "s" || phase == "f") arrows[event.at("id").get<int>()] += phase;
    if (phase != "X") continue;
    ++slices;
    auto& ends = open[{event.at("pid").get<int>(), event.at("tid").get<int>()}];
    const double start = event.at("ts");
    const double end = start + event.at("dur").get<double>();
    while (!ends.empty() && ends.back() <= start) ends.pop_back();
    CHECK((ends.empty() || end <= ends.back()));
    ends.push_back(end);
  }
  CHECK(slices == counts.slices);
  REQUIRE(static_cast<std::int64_t>(arrows.size()) == counts.arrows);
  for (const auto& [id, phases] : arrows) CHECK(std::set(phases.begin(), phases.end()).size() == 2);
}

TEST_CASE("Kernels are shown to the nanosecond, and every arrow", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  for (Recording& recording : job.recordings)
    for (DeviceEvent& event : recording.device_events) event.end += std::chrono::nanoseconds(7);
  Attributed all = attributed(job);
  CommunicationSplit& waiting = all.waits.by_rank[0].at(0);
  REQUIRE(waiting.waited_for);
  std::int64_t arrows = 1;
  SECTION("which ends when the last rank comes") {}
  SECTION("to a rank whose waiting ended before the last rank's call is recorded") {
    waiting.split -= microseconds(10);
  }
  SECTION("but for one to a call that ended before the last rank came") {
    waiting.split = waiting.end = microseconds(70);
    job.recordings[0].device_events[2].end = waiting.end;
    arrows = 0;
  }
  CHECK(check_export(job, all, folder.file("a.json")).arrows == arrows);
  const auto document = json_of(folder.file("a.json"));
  const std::int64_t origin = document.at("baseTimeNanoseconds");
  std::set<EngineSlice> shown;
  for (const auto& [track, slices] : shown_of(document).slices)
    shown.insert(slices.begin(), slices.end());
  for (const Recording& recording : job.recordings)
    for (const DeviceEvent& event : recording.device_events)
      CHECK(shown.contains({event.start.count() - origin, event.end.count() - origin}));
}

TEST_CASE("Names whose bytes are no UTF-8 leave a strict JSON file", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  job.recordings[0].device_events[0].name = job.recordings[0].names.intern("caf\xe9 \xc3\xa9");
  const Attributed all = attributed(job);
  export_timeline(job, all, folder.file("a.json"));
  std::set<std::string> names;
  const nlohmann::json document = json_of(folder.file("a.json"));
  for (const auto& event : document.at("traceEvents")) names.insert(event.at("name"));
  CHECK(names.contains("caf\xef\xbf\xbd \xc3\xa9"));
}

TEST_CASE("Ranks, a window and the slowest step select what is written", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  const Attributed all = attributed(job);
  ExportOptions options;
  SECTION("one rank has no arrows to others") {
    options.ranks = {Rank{1}};
    CHECK(export_timeline(job, all, folder.file("a.json"), options).arrows == 0);
    const auto file = json_of(folder.file("a.json"));
    CHECK(track_of(file, "rank 1", "steps").size() == 6);
    CHECK_THROWS_WITH(track_of(file, "rank 0", "steps"), "no track steps");
  }
  SECTION("a window") {
    options.window = TimeInterval{microseconds(72), microseconds(90)};
    export_timeline(job, all, folder.file("a.json"), options);
    const auto file = json_of(folder.file("a.json"));
    CHECK_THROWS_WITH(track_of(file, "rank 0", "GPU 0 stream 7"), "no track GPU 0 stream 7");
    CHECK(track_of(file, "rank 0", "GPU 0 stream 9").size() == 6);
  }
  SECTION("the slowest step") {
    options.slowest_step = true;
    export_timeline(job, all, folder.file("a.json"), options);
    const auto file = json_of(folder.file("a.json"));
    CHECK(track_of(file, "rank 0", "steps").size() == 2);
  }
  SECTION("what is not there is refused") {
    options.ranks = {Rank{5}};
    CHECK_THROWS_AS(export_timeline(job, all, folder.file("a.json"), options), UserError);
    CHECK_THROWS_AS(export_timeline(job, all, folder.file("a.pftrace"), {}), UserError);
    options = {};
    options.window = TimeInterval{std::chrono::seconds(5), std::chrono::seconds(6)};
    CHECK_THROWS_AS(export_timeline(job, all, folder.file("a.json"), options), UserError);
    CHECK_THROWS_AS(export_timeline(job, all, folder.file("absent/a.json"), {}), UserError);
    CHECK(std::filesystem::is_empty(folder.path()));
  }
}

TEST_CASE("An export of one rank alone gives its exposed communication, but no wait", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  const std::string both = folder.file("both.json");
  export_timeline(job, attributed(job), both);
  job.recordings.pop_back();
  const std::string alone = folder.file("alone.json");
  export_timeline(job, attributed(job), alone);
  const auto step_of = [](const std::string& path) {
    const auto document = nlohmann::json::parse(std::ifstream(path));
    for (const auto& event : document["traceEvents"])
      if (event.value("name", "") == "step 0") return event["args"];
    return nlohmann::json();
  };
  // Alone on the GPU from 70 to 80 us, of which the other rank came at 75.
  CHECK(step_of(both)["exposed_wait_ns"] == 5000);
  CHECK(step_of(both)["exposed_transfer_ns"] == 5000);
  CHECK(step_of(both)["exposed_undivided_ns"] == 0);
  CHECK(step_of(alone)["exposed_undivided_ns"] == 10000);
  for (const char* unknown : {"exposed_wait_ns", "exposed_transfer_ns", "overlapped_wait_ns"})
    CHECK_FALSE(step_of(alone).contains(unknown));
}

TEST_CASE("Public recordings are exported with paired arrows", "[export]") {
  const auto& [name, least] = GENERATE(
      table<const char*, int>({{"dlrm_8xv100", 8 * 7}, {"straggler_ST/timeline-ST.json.gz", 501}}));
  const auto path = shared_recording(name);
  if (!path) return;
  const TestFolder folder;
  const RuleTable rules = RuleTable::built_in();
  Job job = read_job({*path}, rules, 1);
  const Attributed all = attributed(job);
  // Of 8 collectives of the first, each from the last rank to the 7 others.
  CHECK(check_export(job, all, folder.file("a.json")).arrows >= least);
}

TEST_CASE("An exported file is refused as a recording, by what it is", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  const Attributed all = attributed(job);
  export_timeline(job, all, folder.file("a.json"));
  const RuleTable rules = RuleTable::built_in();
  CHECK_THROWS_WITH(read_job({folder.file("a.json")}, rules, 1),
                    ContainsSubstring("give the recordings that it was made of"));
}

TEST_CASE("Ranks keep their numbers where others are missing", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  job.recordings[1].origin.rank = 5;  // those between are missing
  for (Recording& recording : job.recordings) recording.groups.begin()->second.ranks = {0, 5};
  const Attributed all = attributed(job);
  export_timeline(job, all, folder.file("a.json"));
  const auto file = json_of(folder.file("a.json"));
  CHECK(track_of(file, "rank 5", "steps").front().arguments.at("compute_ns") == 60'000);
  CHECK(track_of(file, "rank 0", "GPU 0 stream 9")[1].name == "wait for rank 5");
  ExportOptions options;
  options.ranks = {Rank{5}};
  CHECK(export_timeline(job, all, folder.file("b.json"), options).slices > 0);
  options.ranks = {Rank{1}};
  CHECK_THROWS_WITH(export_timeline(job, all, folder.file("c.json"), options),
                    "there is no recording of rank 1 to export: choose among ranks 0 and 5");
}
