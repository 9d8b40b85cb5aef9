// SPDX-License-Identifier: Apache-2.0
#include "trace/analysis/efficiency/measure_efficiency.h"

#include "trace/analysis/efficiency/critical_path.h"
#include "trace/analysis/efficiency/predictor.h"
#include "trace/analysis/efficiency/replay.h"
#include "trace/analysis/efficiency/replay_graph.h"
#include "trace/analysis/efficiency/window.h"
#include "trace/analysis/for_each_index.h"
#include "trace/analysis/rank_numbers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::trace {
namespace {

using attribution::Efficiency;

/// A replay that misses the recording by more than this does not know what depended on what.
constexpr double largest_replay_error = 0.10;
/// Culprits whose lateness is taken away, one by one.
constexpr std::size_t most_culprits = 3;

/// A window without steps may hold a whole recording; so many pieces of GPU work
/// and their launches take about 10 GB.
constexpr std::int64_t most_nodes = 64'000'000;

double in_ns(nanoseconds time) {
  return static_cast<double>(time.count());
}

std::vector<nanoseconds> useful_by_rank(const Job& job,
                                        const ClockMap& clocks,
                                        const EfficiencyWindows& windows) {
  std::vector<nanoseconds> useful(job.recordings.size());
  for_each_index(useful.size(), [&](std::size_t rank) {
    const RankView view(job.recordings[rank], clocks, rank);
    for (const EfficiencyWindow& run : windows.runs)
      useful[rank] += useful_time(view, run.by_rank[rank]);
  });
  return useful;
}

/// Fills the factors from lengths in ns: T measured, T with transfers of no length, and that with
/// hosts that are never late. Ordered so that each factor lies in (0, 1].
void set_factors(Efficiency& result, double ideal, double without_host) {
  const double runtime = in_ns(result.runtime);
  const double largest = in_ns(*std::max_element(result.useful.begin(), result.useful.end()));
  const double mean =
      in_ns(std::accumulate(result.useful.begin(), result.useful.end(), nanoseconds{})) /
      static_cast<double>(result.useful.size());
  // Kernels that ran one after the other may overlap in a replay, never on a real GPU.
  ideal = std::clamp(ideal, largest, runtime);
  without_host = std::clamp(without_host, largest, ideal);
  result.parallel = mean / runtime;
  result.load_balance = mean / largest;
  result.dependency = largest / without_host;
  result.host = without_host / ideal;
  result.serialization = result.host * result.dependency;
  result.transfer = ideal / runtime;
}

/// A question to the replay; no step gets shorter than `least`, in proportion to the measured one.
struct Question {
  std::string change;  // for people
  Change replay;
  double least = 0.0;
};

void answer(Efficiency& result, const Question& question, const Predictor& predictor) {
  const double ratio =
      std::clamp(predictor.ratio(question.replay), std::min(question.least, 1.0), 1.0);
  const auto time = static_cast<std::int64_t>(std::llround(in_ns(result.step_time) * ratio));
  result.what_if.push_back(
      {question.change, nanoseconds(time), result.step_time - nanoseconds(time)});
}

/// Largest useful time of any rank but `without`, of the runtime.
double largest_useful(const Efficiency& result, std::optional<std::size_t> without = {}) {
  nanoseconds largest{};
  for (std::size_t rank = 0; rank < result.useful.size(); ++rank) {
    if (rank != without) largest = std::max(largest, result.useful[rank]);
  }
  return in_ns(largest) / in_ns(result.runtime);
}

/// Longest transfer time of any rank: it takes place even where compute hides all of it.
double largest_transfer(const Waits& waits, const EfficiencyWindows& windows) {
  double largest = 0.0;
  for (std::size_t rank = 0; rank < waits.by_rank.size(); ++rank) {
    double sum = 0.0;
    for (const EfficiencyWindow& run : windows.runs) {
      for (const CommunicationSplit& split : waits.by_rank[rank]) {
        const nanoseconds start = std::max(split.split, run.by_rank[rank].start);
        const nanoseconds end = std::min(split.end, run.by_rank[rank].end);
        if (start < end && split.known) sum += in_ns(end - start);
      }
    }
    largest = std::max(largest, sum);
  }
  return largest;
}

/// All work of the pipeline as it is, but every stage computing as long as their mean. One stage
/// alone, or one replica of it, saves little: the next one takes its place.
Question even_stages(const Efficiency& result, const Job& job) {
  struct Stage {
    double useful = 0.0;
    double ranks = 0.0;
  };
  std::map<std::int32_t, Stage> stages;
  const auto stage_of = [&](std::size_t rank) -> const std::optional<std::int32_t>& {
    return job.recordings[rank].origin.pipeline_stage;
  };
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    if (!stage_of(rank)) continue;
    stages[*stage_of(rank)].useful += in_ns(result.useful[rank]);
    stages[*stage_of(rank)].ranks += 1.0;
  }
  double mean = 0.0;
  for (const auto& [number, stage] : stages)
    mean += stage.useful / stage.ranks / static_cast<double>(stages.size());
  Change even;
  double longest = 0.0;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    double factor = 1.0;
    if (stage_of(rank)) {
      const Stage& stage = stages[*stage_of(rank)];
      if (stage.useful > 0.0) factor = mean * stage.ranks / stage.useful;
    }
    even.compute.push_back(factor);
    longest = std::max(longest, factor * in_ns(result.useful[rank]));
  }
  return {"with the work spread evenly over the pipeline's stages",
          std::move(even),
          longest / in_ns(result.runtime)};
}

Change without_transfer() {
  Change change;
  change.no_transfer = true;
  return change;
}

Change without_transfer_and_host() {
  Change change = without_transfer();
  change.no_host_delay = true;
  return change;
}

void ask_about_culprits(const Efficiency& result,
                        const Job& job,
                        const attribution::CulpritReport& culprits,
                        std::vector<Question>& questions) {
  std::size_t asked = 0;
  bool evened = false;
  for (const attribution::Culprit& culprit : culprits.culprits) {
    if (!culprit.significant || asked++ >= most_culprits) continue;
    const auto rank = static_cast<std::size_t>(culprit.rank.index);
    const auto& stage = job.recordings[rank].origin.pipeline_stage;
    if (culprit.cause == attribution::LateCause::pipeline_stage && stage) {
      if (!std::exchange(evened, true)) questions.push_back(even_stages(result, job));
      continue;
    }
    Change on_time;
    on_time.on_time = static_cast<std::uint32_t>(rank);
    questions.push_back({fmt::format("without rank {}'s lateness", RankNumbers(job).at(rank).index),
                         std::move(on_time),
                         largest_useful(result, rank)});
  }
}

/// `transfer_floor`: see largest_transfer.
std::vector<Question> questions_of(const Efficiency& result,
                                   const Job& job,
                                   const attribution::CulpritReport& culprits,
                                   double transfer_floor) {
  std::vector<Question> questions;
  ask_about_culprits(result, job, culprits, questions);
  const double least = largest_useful(result);
  questions.push_back({"with transfers that take no time", without_transfer(), least});
  Change hidden;
  hidden.no_communication = true;
  questions.push_back({"with communication hidden under compute",
                       std::move(hidden),
                       std::max(least, transfer_floor / in_ns(result.runtime))});
  Change prompt;
  prompt.no_host_delay = true;
  questions.push_back({"with hosts that launch in time", std::move(prompt), least});
  return questions;
}

void predict(Efficiency& result,
             const std::vector<Question>& questions,
             const Predictor& predictor) {
  const double runtime = in_ns(result.runtime);
  set_factors(result,
              runtime * predictor.ratio(without_transfer()),
              runtime * predictor.ratio(without_transfer_and_host()));
  for (const Question& question : questions) answer(result, question, predictor);
  std::stable_sort(result.what_if.begin(), result.what_if.end(), [](const auto& a, const auto& b) {
    return a.saved > b.saved;
  });
}

std::int64_t events_of(const Job& job, const ClockMap& clocks, const EfficiencyWindows& windows) {
  std::int64_t events = 0;
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
    for (const EfficiencyWindow& run : windows.runs)
      events += events_within(RankView(job.recordings[rank], clocks, rank), run.by_rank[rank]);
  return events;
}

std::string why_not(const Job& job, const Alignment& alignment) {
  if (job.recordings.size() < 2) return "one rank alone has no parallel efficiency.";
  if (!alignment.report.comparable)
    return "the ranks' clocks do not compare: " + alignment.report.reason;
  return "";
}

}  // namespace

EfficiencyResult measure_efficiency(const Job& job,
                                    const StepPlan& steps,
                                    const Waits& waits,
                                    const Alignment& alignment,
                                    const attribution::CulpritReport& culprits) {
  const std::string reason = why_not(job, alignment);
  if (!reason.empty()) return {std::nullopt, reason};
  const auto windows = choose_windows(job, steps, alignment.map);
  if (!windows) return {std::nullopt, "the recordings hold no work of a GPU."};
  Efficiency result;
  result.window = windows->description;
  result.runtime = windows->length();
  result.step_time = windows->step_time;
  result.useful = useful_by_rank(job, alignment.map, *windows);
  if (!(largest_useful(result) > 0.0))
    return {std::nullopt, "no kernel ran that is not communication."};
  const std::int64_t events = events_of(job, alignment.map, *windows);
  if (events > most_nodes)
    return {std::nullopt, fmt::format("{} events without steps are too many to replay.", events)};
  std::vector<ReplayedRun> runs;
  bool any_work = false;
  for (const EfficiencyWindow& run : windows->runs) {
    runs.push_back({&run, build_replay_graph(job, waits, alignment.map, run)});
    any_work = any_work || !runs.back().graph.devices.empty();
  }
  if (!any_work) return {std::nullopt, "no GPU work begins in the steps that count."};
  const std::vector<Question> questions =
      questions_of(result, job, culprits, largest_transfer(waits, *windows));
  std::vector<Change> changes = {without_transfer(), without_transfer_and_host()};
  for (const Question& question : questions) changes.push_back(question.replay);
  const Predictor predictor(runs, std::move(changes));
  result.replay_error = predictor.error();
  if (!(std::abs(result.replay_error) <= largest_replay_error)) {
    return {
        std::nullopt,
        fmt::format("a replay of the recorded dependencies misses the measured time by {:.0f} %, "
                    "so that they are not understood.",
                    100.0 * result.replay_error)};
  }
  predict(result, questions, predictor);
  result.critical_path = critical_path(job, alignment.map, runs);
  return {std::move(result), ""};
}

}  // namespace scaleworth::trace
