// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/read_job.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/trace/formats/nsight/nsys_file.h"
#include "tests/unit/trace/formats/tar_writer.h"
#include "tests/unit/trace/formats/test_folder.h"
#include "tests/unit/trace/recordings.h"

#include <filesystem>

#include <fmt/format.h>

using namespace scaleworth;
using namespace scaleworth::trace;

namespace {

/// A Kineto file with one kernel at `start_us`.
std::string kineto(std::optional<int> rank, int start_us = 10, int world_size = 2) {
  return fmt::format(
      R"({{"schemaVersion": 1, "distributedInfo": {{{}}}, "traceEvents": [)"
      R"({{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": {}, "dur": 5,)"
      R"( "args": {{"device": 0, "stream": 7, "correlation": 1}}}}]}})",
      rank ? fmt::format(R"("rank": {}, "world_size": {})", *rank, world_size) : "",
      start_us);
}

Job read(const std::vector<std::string>& inputs) {
  static const RuleTable rules = RuleTable::built_in();
  return read_job(inputs, rules, 2);
}

std::string job_refusal(const std::vector<std::string>& inputs) {
  try {
    read(inputs);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A folder is read with all that is below it, without what is no recording",
          "[read_job]") {
  const TestFolder folder;
  folder.write("a/one.json", kineto(1));
  folder.write("b/two.json", kineto(0));
  folder.write("b/notes.txt", "nothing");
  folder.write(".hidden/three.json", kineto(2));
  const Job job = read({folder.path()});
  REQUIRE(job.recordings.size() == 2);
  CHECK(contains(job.recordings[0].origin.file, "two.json"));
  CHECK(job.remarks == std::vector{Finding(FindingId::other_files, 1)});
}

TEST_CASE("A pattern names files, and one without a match is refused", "[read_job]") {
  const TestFolder folder;
  folder.write("rank-0.json", kineto({}));
  folder.write("rank-1.json", kineto({}));
  folder.write("other.json", kineto({}));
  const Job job = read({folder.file("rank-*.json")});
  CHECK(job.recordings.size() == 2);
  CHECK(job.ranks_from == Finding(FindingId::ranks_of_names));
  CHECK(contains(job_refusal({folder.file("absent-*.json")}), "names no file"));
}

TEST_CASE("Files named twice are read once", "[read_job]") {
  const TestFolder folder;
  const std::string path = folder.write("rank-0.json", kineto({}));
  CHECK(find_files({path, folder.path(), folder.file("*.json")}).size() == 1);
}

TEST_CASE("An archive gives a recording for each member, compressed or not", "[read_job]") {
  const TestFolder folder;
  const std::string path = folder.write("run.tar",
                                        TarWriter()
                                            .file("r/0.json", kineto(0))
                                            .file("r/readme", "x")
                                            .file("r/1.json", kineto(1))
                                            .end());
  const auto same = [](const Job& job) {
    REQUIRE(job.recordings.size() == 2);
    CHECK(contains(job.recordings[1].origin.file, ":r/1.json"));
  };
  same(read({path}));
  REQUIRE(std::system(fmt::format("gzip -k '{}'", path).c_str()) == 0);
  same(read({path + ".gz"}));
}

TEST_CASE("An unreadable file among others is left out with a remark, alone it is an error",
          "[read_job]") {
  const TestFolder folder;
  folder.write("rank-0.json", kineto({}));
  const std::string bad = folder.write("rank-1.json", "{\"traceEvents\": []}");
  const Job job = read({folder.path()});
  CHECK(job.recordings.size() == 1);
  REQUIRE(job.remarks.size() == 1);
  CHECK(job.remarks[0].id == FindingId::left_out);
  CHECK(std::get<std::string>(job.remarks[0].arguments.at(0).value).starts_with(bad));
  CHECK(contains(job_refusal({bad}), bad));
  CHECK(contains(job_refusal({folder.write("notes.txt", "nothing")}),
                 "notes.txt is of no known format"));
}

TEST_CASE("Reports that only nsys can read name the command, unless the export lies beside them",
          "[read_job]") {
  const TestFolder folder;
  CHECK(contains(job_refusal({folder.write("a.nsys-rep", "x")}), "nsys export --type sqlite"));
  NsysFile file;
  file.tables().name(1, "kernel").kernel(1, 2, 1, 1);
  std::filesystem::copy(file.path(), folder.file("a.sqlite"));
  const Job job = read({folder.path()});
  CHECK(job.recordings.size() == 1);
  CHECK(job.remarks.empty());
}

TEST_CASE("A database in an archive is unpacked to be read", "[read_job]") {
  const TestFolder folder;
  NsysFile file;
  file.tables().name(1, "kernel").kernel(1, 2, 1, 1);
  std::ifstream bytes(file.path(), std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(bytes), {}};
  const Job job = read({folder.write("run.tar", TarWriter().file("x.sqlite", content).end())});
  REQUIRE(job.recordings.size() == 1);
  CHECK(contains(job.recordings[0].origin.file, "run.tar:x.sqlite"));
}

TEST_CASE("Recordings of different runs are refused, naming two files", "[read_job]") {
  const TestFolder folder;
  const std::string a = folder.write("a.json", kineto(0, 10, 2));
  const std::string b = folder.write("b.json", kineto(1, 10, 4));
  CHECK(contains(job_refusal({a, b}), a + " and " + b + " are of different runs"));
}

TEST_CASE("The eight ranks of the DLRM recording come in the order of their metadata",
          "[read_job]") {
  const auto path = shared_recording("dlrm_8xv100");
  if (!path) return;
  const Job job = read({*path});
  REQUIRE(job.recordings.size() == 8);
  for (int rank = 0; rank < 8; ++rank) {
    CHECK(job.recordings[static_cast<std::size_t>(rank)].origin.rank == rank);
    CHECK(job.recordings[static_cast<std::size_t>(rank)].origin.world_size == 8);
  }
  CHECK(job.ranks_from == Finding(FindingId::ranks_stated, "distributedInfo"));
}

TEST_CASE("A framework's timeline is told from PyTorch's, and holds all ranks in one file",
          "[read_job]") {
  const auto path = shared_recording("straggler_ST/timeline-ST.json.gz");
  if (!path) return;
  const Job job = read({*path});
  REQUIRE(job.recordings.size() == 8);
  CHECK(job.recordings[7].origin.pipeline_stage == 3);
  CHECK(job.recordings[7].origin.data_parallel_rank == 1);
}

TEST_CASE("A process that drives several GPUs is said to count as one rank", "[read_job]") {
  const TestFolder folder;
  std::string two = kineto(0);
  const std::string event =
      R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 30, "dur": 5,)"
      R"( "args": {"device": 1, "stream": 7, "correlation": 2}}, )";
  two.insert(two.find(R"({"ph")"), event);
  folder.write("two.json", two);
  const Job job = read({folder.path()});
  CHECK(job.recordings.front().remarks == std::vector{Finding(FindingId::several_devices, 2)});
}

TEST_CASE("What no machine does is left out, counted and named", "[read_job]") {
  const auto kernel = [](double ts, double dur, const char* bytes = "") {
    return fmt::format(
        R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":{},"dur":{},)"
        R"("args":{{"device":0,"stream":7{}}}}})",
        ts,
        dur,
        bytes);
  };
  const TestFolder folder;
  const auto contradictions = [&](const std::string& events) {
    return read({folder.write("one.json", R"({"traceEvents":[)" + events + "]}")}).contradictions;
  };
  CHECK(contradictions(kernel(1, 5) + "," + kernel(7, 5)).empty());
  const auto years = contradictions(kernel(1, 1e15) + "," + kernel(7, 5));
  const auto of_file = [&](FindingId id, int count) {
    return Finding(id, count, Finding(FindingId::stated, folder.file("one.json")));
  };
  CHECK(years == std::vector{of_file(FindingId::impossible_times, 1)});
  CHECK(read({folder.path()}).recordings.at(0).losses.at("events_with_impossible_times") == 1);
  CHECK(contradictions(kernel(1, 50) + "," + kernel(7, 50)).at(0) ==
        of_file(FindingId::kernels_at_once, 1));
  constexpr const char* petabytes =
      R"(,"Collective name":"allreduce","In msg nelems":1125899906842624,"dtype":"Float")";
  CHECK(contradictions(kernel(1, 5, petabytes) + "," + kernel(7, 5)).at(0) ==
        of_file(FindingId::impossible_sizes, 1));
  const std::string a = folder.write("rank0.json", kineto(0, 10, 1));
  const std::string b = folder.write("rank1.json", kineto(1, 10, 1));
  CHECK(read({a}).contradictions.empty());
  CHECK(read({a, b}).contradictions.at(0) == Finding(FindingId::more_recordings_than_ranks, 2, 1));
}
