// SPDX-License-Identifier: Apache-2.0
/// Whether reading and attributing a job takes time and memory in proportion to its events.
///   trace_scaling write FOLDER EVENTS RANKS [KERNELS]
///                                                writes a made-up job as our own recordings, in
///                                                steps of 500 kernels or of so many
///   trace_scaling attribute THREADS FILE...      reads files of any format, THREADS at once (0: as
///                                                many as processors), and attributes them
/// Prints what passed and CPU time of all threads, per event, for each stage, and the peak of
/// memory per event. Asserts nothing.
#include "src/core/error.h"
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/stragglers.h"
#include "trace/attribute.h"
#include "trace/classify.h"
#include "trace/formats/read_job.h"
#include "trace/formats/swtrace/bytes.h"
#include "trace/formats/swtrace/rows.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>

namespace {

using namespace scaleworth;
using namespace scaleworth::trace;
using recording::Batch;

constexpr std::int64_t kernels_per_collective = 50;
constexpr std::uint32_t main_thread = 4711;

/// One rank: steps of kernels, each with its launch, every fiftieth an all-reduce for which the
/// ranks wait for each other. All ranks have the same work, each its own pace.
class RankWriter {
 public:
  RankWriter(const std::string& path, int rank, int ranks, std::int64_t kernels_per_step)
      : file_(path, std::ios::binary),
        rank_(rank),
        kernels_per_step_(kernels_per_step),
        random_(static_cast<std::uint64_t>(rank)) {
    for (int i = 0; i < 300; ++i)
      batch_.names.push_back(
          fmt::format("_ZN2at6native29vectorized_elementwise_kernelILi{}EEEvv", i));
    batch_.names.insert(
        batch_.names.end(),
        {"cudaLaunchKernel",
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         "AllReduce",
         "step"});
    batch_.facts = {{"rank", std::to_string(rank)},
                    {"world_size", std::to_string(ranks)},
                    {"rank_from", "RANK of the environment"},
                    {"run", "made up"}};
    file_ << recording::file_header();
  }

  void all(std::int64_t kernels) {
    for (std::int64_t i = 0; i < kernels; ++i) {
      if (i % kernels_per_step_ == 0) begin_step(i / kernels_per_step_);
      if (i % kernels_per_collective == kernels_per_collective - 1) {
        all_reduce(i);
      } else {
        kernel(i);
      }
      if (batch_.kernels.size() == recording::rows_per_frame) write();
    }
    mark(recording::MarkPhase::closed);
    write();
    std::string end;
    recording::append_end(end);
    if (!(file_ << end).flush()) throw UserError("the file cannot be written: is the disk full?");
  }

 private:
  static constexpr std::uint32_t launch_name = 301;
  static constexpr std::uint64_t slot_ns = 20'000;  // from one kernel's launch to the next one's

  void mark(recording::MarkPhase phase) {
    recording::MarkRow row;
    row.time_ns = now_ns_ - slot_ns;
    row.id = mark_;
    row.name = phase == recording::MarkPhase::opened ? 304 : 0;
    row.thread = main_thread;
    row.phase = phase;
    batch_.marks.push_back(row);
  }

  void begin_step(std::int64_t step) {
    if (step > 0) mark(recording::MarkPhase::closed);
    ++mark_;
    mark(recording::MarkPhase::opened);
  }

  void add(std::int64_t index, std::uint32_t name, std::uint64_t start_ns, std::uint64_t end_ns) {
    const auto correlation = static_cast<std::uint32_t>(index + 1);
    batch_.calls.push_back({.start_ns = now_ns_ - slot_ns + 1000,
                            .duration_ns = 4000,
                            .correlation = correlation,
                            .name = launch_name,
                            .thread = main_thread});
    batch_.kernels.push_back({.start_ns = start_ns,
                              .duration_ns = end_ns - start_ns,
                              .correlation = correlation,
                              .name = name,
                              .stream = name == 302 ? 20U : 7U});
    now_ns_ += slot_ns;
  }

  void kernel(std::int64_t index) {
    const std::uint64_t draw = random_();
    const auto name = 1 + static_cast<std::uint32_t>(index % 300);
    add(index, name, now_ns_, now_ns_ + 12'000 + draw % 7000);
  }

  /// Starts when this rank comes, ends for all at once.
  void all_reduce(std::int64_t index) {
    recording::CollectiveRow row;
    row.time_ns = now_ns_ - slot_ns + 5500;  // after its launch, as NCCL reports
    row.communicator = 0xabcdU;
    row.bytes = 1U << 20U;
    row.sequence = static_cast<std::uint64_t>(index / kernels_per_collective);
    row.fields = recording::collective_has_bytes | recording::collective_has_sequence;
    row.function = 303;
    row.rank = static_cast<std::uint32_t>(rank_);
    row.thread = main_thread;
    row.source = recording::CollectiveSource::plugin;
    batch_.collectives.push_back(row);
    add(index, 302, now_ns_ + random_() % 8000, now_ns_ + 19'000);
  }

  void write() {
    bytes_.clear();
    recording::append_batch(batch_, bytes_);
    batch_.clear();
    file_ << bytes_;
  }

  std::ofstream file_;
  int rank_;
  std::int64_t kernels_per_step_;
  std::mt19937_64 random_;
  Batch batch_;
  std::string bytes_;
  std::uint64_t now_ns_ = 1'763'000'000'000'000'000U;
  std::uint32_t mark_ = 0;
};

void write(const std::string& folder, std::int64_t events, int ranks, std::int64_t step) {
  std::filesystem::create_directories(folder);
  for (int rank = 0; rank < ranks; ++rank)
    RankWriter(fmt::format("{}/rank{}.swtrace", folder, rank), rank, ranks, step)
        .all(events / 2 / ranks);  // a kernel and its launch are two events
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Stage {
  const char* name;
  double passed;
  double processor;
};

Stage timed(const char* name, const std::function<void()>& work) {
  const double processor = processor_seconds();
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  return {name, passed.count(), processor_seconds() - processor};
}

void attribute(unsigned threads, const std::vector<std::string>& files) {
  const RuleTable rules = RuleTable::built_in();
  Job job;
  Attributed attributed;
  std::vector<Stage> stages;
  stages.push_back(timed("read", [&] { job = read_job(files, rules, threads); }));
  stages.push_back(timed("classify", [&] { classify(job.recordings, rules); }));
  // The stages of trace::attribute, one by one.
  Attribution& result = attributed.result;
  stages.push_back(timed("match", [&] { attributed.matching = match_collectives(job); }));
  stages.push_back(
      timed("align", [&] { attributed.alignment = align_clocks(job, attributed.matching); }));
  const Alignment& alignment = attributed.alignment;
  stages.push_back(timed("steps", [&] { attributed.steps = find_steps(job, alignment.map); }));
  stages.push_back(
      timed("waits", [&] { attributed.waits = split_waits(job, attributed.matching, alignment); }));
  stages.push_back(timed("ledger", [&] {
    result.ledger = build_job_ledger(job, attributed.steps, attributed.waits, alignment.map);
  }));
  std::optional<JobReplay> replay;
  stages.push_back(
      timed("replay", [&] { replay.emplace(job, attributed.steps, attributed.waits, alignment); }));
  stages.push_back(
      timed("stragglers", [&] { result.stragglers = find_stragglers(*replay, result.ledger); }));
  stages.push_back(timed("efficiency", [&] { measure_efficiency(*replay, result.stragglers); }));
  double events = 0.0;
  for (const Recording& recording : job.recordings)
    events += static_cast<double>(recording.device_events.size() + recording.host_events.size());
  fmt::print("{:.0f} events of {} ranks, {} steps, {} collectives\n",
             events,
             job.recordings.size(),
             attributed.steps.choice.steps,
             attributed.waits.collectives.size());
  for (const Stage& stage : stages)
    fmt::print("{:10}  {:7.2f} s passed, {:4.0f} ns per event; {:7.2f} s of CPU time, {:4.0f} ns\n",
               stage.name,
               stage.passed,
               1e9 * stage.passed / events,
               stage.processor,
               1e9 * stage.processor / events);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double peak = 1024.0 * static_cast<double>(usage.ru_maxrss);
  fmt::print("peak memory {:.0f} MB, {:.0f} bytes per event\n", peak / 1e6, peak / events);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "write" && (argc == 5 || argc == 6)) {
    const std::int64_t kernels_per_step = argc == 6 ? std::atoll(argv[5]) : 500;
    if (kernels_per_step < 1) throw UserError("a step has at least one kernel");
    write(argv[2], std::atoll(argv[3]), std::atoi(argv[4]), kernels_per_step);
    return 0;
  }
  if (what == "attribute" && argc > 3) {
    attribute(static_cast<unsigned>(std::atoi(argv[2])), {argv + 3, argv + argc});
    return 0;
  }
  fmt::print(
      stderr,
      "usage: trace_scaling write FOLDER EVENTS RANKS [KERNELS] | attribute THREADS FILE...\n");
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
