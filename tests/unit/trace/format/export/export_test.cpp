// SPDX-License-Identifier: Apache-2.0
#include "trace/format/export/export.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/trace/format/export/exported_job.h"
#include "tests/unit/trace/format/export/perfetto_decoder.h"
#include "tests/unit/trace/format/test_folder.h"
#include "tests/unit/trace/recordings.h"
#include "trace/format/export/lanes.h"
#include "trace/format/read_job.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

using namespace scaleworth;
using namespace scaleworth::trace;
using std::chrono::microseconds;

namespace {

constexpr std::uint64_t slice_begin = 1;
constexpr std::uint64_t slice_end = 2;
constexpr std::uint64_t counter_value = 4;

struct Totals {
  std::int64_t slices = 0;
  std::int64_t counters = 0;
  std::multiset<std::uint64_t> flows_out;
  std::multiset<std::uint64_t> flows_in;
};

/// Requires that the slices of each track nest and end.
Totals check(const PerfettoFile& file) {
  Totals totals;
  for (const auto& [track, events] : file.events) {
    std::uint64_t last = 0;
    std::int64_t open = 0;
    for (const DecodedEvent& event : events) {
      REQUIRE(event.time >= last);
      last = event.time;
      if (event.type == slice_begin) ++open;
      if (event.type == slice_end) --open;
      REQUIRE(open >= 0);
      totals.slices += event.type == slice_begin;
      totals.counters += event.type == counter_value;
      totals.flows_out.insert(event.flows_out.begin(), event.flows_out.end());
      totals.flows_in.insert(event.flows_in.begin(), event.flows_in.end());
    }
    CHECK(open == 0);
    CHECK(file.process_names.contains(file.parents.at(track)));
  }
  CHECK(totals.flows_out == totals.flows_in);
  CHECK(std::set(totals.flows_in.begin(), totals.flows_in.end()).size() == totals.flows_in.size());
  return totals;
}

const std::vector<DecodedEvent>& track_of(const PerfettoFile& file,
                                          const std::string& process,
                                          const std::string& name) {
  for (const auto& [track, events] : file.events)
    if (file.track_names.at(track) == name &&
        file.process_names.at(file.parents.at(track)) == process)
      return events;
  throw std::runtime_error("no track " + name);
}

/// Begins with their times in us, and ends, in order: "gemm 10 | end 70".
std::string written(const std::vector<DecodedEvent>& events) {
  std::string text;
  for (const DecodedEvent& event : events)
    text += (text.empty() ? "" : " | ") +
            (event.type == slice_begin ? event.name : std::string("end")) + " " +
            std::to_string(event.time / 1000);
  return text;
}

Job read(const std::string& path) {
  static const RuleTable rules = RuleTable::built_in();
  return read_job({path}, {&rules, 1});
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

/// Exports to `path` in Perfetto's format and requires that the file holds what it is told to.
ExportCounts check_perfetto(const Job& job, const Attributed& all, const std::string& path) {
  const ExportCounts counts = export_timeline(job, all, path);
  const Totals totals = check(PerfettoFile(path));
  CHECK(totals.slices == counts.slices);
  CHECK(totals.counters == counts.counters);
  CHECK(static_cast<std::int64_t>(totals.flows_in.size()) == counts.arrows);
  return counts;
}

/// Exports to `path` as Chrome JSON, requires that it reads back to the same ledger, and returns
/// what was read, with what was found out about it.
std::pair<Job, Attributed> check_reads_back(const Job& job,
                                            const Attributed& all,
                                            const std::string& path,
                                            const ExportOptions& options = {}) {
  export_timeline(job, all, path, options);
  Job again = read(path);
  Attributed same = attributed(again);
  check_same_ledger(all, same);
  return {std::move(again), std::move(same)};
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

TEST_CASE("A native export has nested tracks, paired arrows and the counts that it tells",
          "[export]") {
  const TestFolder folder;
  Job job = small_job();
  const Attributed all = attributed(job);
  const ExportCounts counts = export_timeline(job, all, folder.file("a.pftrace"));
  const PerfettoFile file(folder.file("a.pftrace"));
  const Totals totals = check(file);
  CHECK(totals.slices == counts.slices);
  CHECK(totals.counters == counts.counters);
  CHECK(static_cast<std::int64_t>(totals.flows_in.size()) == counts.arrows);
  CHECK(counts.arrows == 1);
  CHECK(counts.left_out == 0);
  CHECK(counts.narrowed.empty());
  CHECK(counts.bytes == std::filesystem::file_size(folder.file("a.pftrace")));

  CHECK(written(track_of(file, "rank 0", "GPU 0 stream 7")) == "gemm_kernel 10 | end 70");
  CHECK(written(track_of(file, "rank 0", "GPU 0 stream 7 (2)")) ==
        "elementwise_kernel 20 | end 30");
  CHECK(written(track_of(file, "rank 0", "GPU 0 stream 9")) ==
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL 20 | wait for rank 1 20 | end 75 | transfer 75 | "
        "end 80 | end 80");
  CHECK(written(track_of(file, "rank 1", "python 10/1")) ==
        "forward 1 | cudaLaunchKernel 2 | end 4 | cuLaunchKernelEx 5 | end 6 | end 50");
  // the arrow leads from the late kernel's begin to the end of the waiting
  CHECK(track_of(file, "rank 1", "GPU 0 stream 9").front().flows_out.size() == 1);
  CHECK(track_of(file, "rank 0", "GPU 0 stream 9").at(3).flows_in.size() == 1);
  const DecodedEvent& step = track_of(file, "rank 0", "steps").front();
  CHECK(step.name == "step 0");
  CHECK(step.integers.at("compute_ns") == 60'000);
}

TEST_CASE("Load and bytes in flight are counters", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  const Attributed all = attributed(job);
  export_timeline(job, all, folder.file("a.pftrace"));
  const PerfettoFile file(folder.file("a.pftrace"));
  const auto& load = track_of(file, "rank 1", "GPU busy");
  // in pieces of 10 us: busy from 10 to 70, half busy (75 to 80) in the last
  REQUIRE(load.size() == 3);
  CHECK(load[0].counter == 100);
  CHECK(load[1].time == 70'000);
  CHECK(load[1].counter == 50);
  CHECK(load[2].counter == 0);
  const auto& bytes = track_of(file, "rank 1", "communication in flight");
  REQUIRE(bytes.size() == 2);
  CHECK(bytes[0].counter == 4096);
  CHECK(bytes[0].time == 75'000);
  CHECK(bytes[1].counter == 0);
}

TEST_CASE("An exported Chrome timeline reads back to the same ledger", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  const Attributed all = attributed(job);
  for (const char* name : {"a.json", "a.json.gz"}) {
    const auto [again, same] = check_reads_back(job, all, folder.file(name));
    REQUIRE(again.recordings.size() == 2);
    CHECK(again.recordings[0].origin.tool == "Kineto, exported");
    const Recording& rank = again.recordings[1];
    CHECK(rank.communications.size() == 1);
    CHECK(rank.communications[0].sequence == 3);
    CHECK(rank.communications[0].output_bytes == 4096);
    CHECK(rank.groups.begin()->second.ranks == std::vector<std::int32_t>{0, 1});
  }
}

TEST_CASE("Root and peer of a communication read back", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  job.recordings[0].communications[0].kind = attribution::CollectiveKind::broadcast;
  job.recordings[0].communications[0].root = 1;
  job.recordings[1].communications[0].kind = attribution::CollectiveKind::receive;
  job.recordings[1].communications[0].peer = 0;
  const Attributed all = attributed(job);
  export_timeline(job, all, folder.file("a.json"));
  const Job again = read(folder.file("a.json"));
  CHECK(again.recordings[0].communications[0].kind == attribution::CollectiveKind::broadcast);
  CHECK(again.recordings[0].communications[0].root == 1);
  CHECK(again.recordings[1].communications[0].kind == attribution::CollectiveKind::receive);
  CHECK(again.recordings[1].communications[0].peer == 0);
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
  std::ifstream file(folder.file("a.json"));
  const auto document = nlohmann::json::parse(file);
  std::int64_t slices = 0;
  std::int64_t values = 0;
  std::map<int, std::string> arrows;
  std::map<std::pair<int, int>, std::vector<double>> open;  // ends, by process and thread
  for (const auto& event : document.at("traceEvents")) {
    const std::string phase = event.at("ph");
    values += phase == "C";
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
  CHECK(values == counts.counters);
  REQUIRE(static_cast<std::int64_t>(arrows.size()) == counts.arrows);
  for (const auto& [id, phases] : arrows) CHECK(std::set(phases.begin(), phases.end()).size() == 2);
}

TEST_CASE("Ranks, a window and the slowest step select what is written", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  const Attributed all = attributed(job);
  ExportOptions options;
  SECTION("one rank has no arrows to others") {
    options.ranks = {Rank{1}};
    CHECK(export_timeline(job, all, folder.file("a.pftrace"), options).arrows == 0);
    const PerfettoFile file(folder.file("a.pftrace"));
    check(file);
    CHECK(file.process_names.size() == 1);
    CHECK(file.process_names.begin()->second == "rank 1");
  }
  SECTION("a window") {
    options.window = TimeInterval{microseconds(72), microseconds(90)};
    export_timeline(job, all, folder.file("a.pftrace"), options);
    const PerfettoFile file(folder.file("a.pftrace"));
    CHECK_THROWS_WITH(track_of(file, "rank 0", "GPU 0 stream 7"), "no track GPU 0 stream 7");
    CHECK(track_of(file, "rank 0", "GPU 0 stream 9").size() == 6);
  }
  SECTION("the slowest step") {
    options.slowest_step = true;
    export_timeline(job, all, folder.file("a.pftrace"), options);
    const PerfettoFile file(folder.file("a.pftrace"));
    CHECK(track_of(file, "rank 0", "steps").size() == 2);
  }
  SECTION("what is not there is refused") {
    options.ranks = {Rank{5}};
    CHECK_THROWS_AS(export_timeline(job, all, folder.file("a.pftrace"), options), UserError);
    CHECK_THROWS_AS(export_timeline(job, all, folder.file("a.svg"), {}), UserError);
    options = {};
    options.window = TimeInterval{std::chrono::seconds(5), std::chrono::seconds(6)};
    CHECK_THROWS_AS(export_timeline(job, all, folder.file("a.json"), options), UserError);
    CHECK_THROWS_AS(export_timeline(job, all, folder.file("absent/a.json"), {}), UserError);
    CHECK(std::filesystem::is_empty(folder.path()));
  }
}

TEST_CASE("A file that would be too large shows a shorter window and says so", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  Recording& rank = job.recordings[0];
  const DeviceEvent kernel = rank.device_events[0];
  for (int i = 0; i < 20'000; ++i) {
    DeviceEvent event = kernel;
    event.start = microseconds(300 + 2 * i);
    event.end = microseconds(301 + 2 * i);
    rank.device_events.push_back(event);
  }
  const Attributed all = attributed(job);
  ExportOptions options;
  options.most_bytes = 1'200'000;
  const ExportCounts counts = export_timeline(job, all, folder.file("a.json"), options);
  CHECK(counts.bytes <= options.most_bytes);
  CHECK(counts.slices > 1000);
  CHECK(counts.slices < 20'000);
  CHECK_THAT(counts.narrowed, Catch::EndsWith("choose a window, ranks or a larger limit"));
  options.most_bytes = 100;
  CHECK_THROWS_AS(export_timeline(job, all, folder.file("b.json"), options), UserError);
  CHECK_FALSE(std::filesystem::exists(folder.file("b.json")));
  CHECK_FALSE(std::filesystem::exists(folder.file("b.json.part")));
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

TEST_CASE("Culprits stand over the whole window", "[export]") {
  const TestFolder folder;
  Job job = small_job();
  Attributed all = attributed(job);
  attribution::Culprit culprit;
  culprit.sentence = "rank 1 keeps the others waiting";
  all.result.culprits.culprits = {culprit};
  export_timeline(job, all, folder.file("a.pftrace"));
  const PerfettoFile file(folder.file("a.pftrace"));
  CHECK(track_of(file, "scaleworth", "verdict").front().name == culprit.sentence);
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
  check_reads_back(job, all, folder.file("a.json.gz"));
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
