// SPDX-License-Identifier: Apache-2.0
#include "probes/collectives.h"
#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/core/lists.h"
#include "src/core/run.h"
#include "src/core/statistics/sample_statistics.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace scaleworth::probes {
namespace {
constexpr const char* timings_file = "collectives.csv";

std::vector<std::vector<std::string>> timing_rows(const CollectiveWork& work,
                                                  const CollectiveMeasured& measured) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(measured.timings.size());
  for (const RankTiming& timing : measured.timings) {
    rows.push_back({key_of(work.collective),
                    key_of(work.mode),
                    std::to_string(work.ranks),
                    fmt::format("{:.0f}", measured.message.value()),
                    std::to_string(measured.operations_per_timing),
                    std::to_string(timing.iteration),
                    std::to_string(timing.rank.index),
                    std::to_string(timing.start_ns),
                    std::to_string(timing.end_ns)});
  }
  return rows;
}

// Isolated messages up to this get the full number of samples: they cost little and scatter most.
// Presumed.
constexpr Bytes most_sampled_message{64.0 * kibibyte};

// Open MPI 4.1 over shared memory, two ranks on the two cores of a virtual machine (2026-11): the
// plan's estimate and the time budgets stand on these rates, no result does.
constexpr double operation_latency_s = 1e-6;
constexpr double copying_rate = 6e9;     // B/s of a message that is only moved
constexpr double all_reduce_rate = 2e9;  // B/s
constexpr double reduce_scatter_rate = 1.4e9;
constexpr double preparation_rate = 1e9;  // B/s of filling and checking both buffers
constexpr double setting_s = 1e-3;        // agreement, gathering, recording
constexpr double block_s = 200e-6;        // shortest back-to-back block
constexpr double large_block_operations = 2.0;
// In latencies of the network: agreeing on a start and waiting for it; what lies around the samples
// of a setting; comparing the clocks with one rank.
constexpr double start_latencies = 4.0;
constexpr double around_latencies = 30.0;
constexpr double clock_latencies = 20.0;

double message_rate(Collective collective) {
  if (collective == Collective::all_reduce) return all_reduce_rate;
  return collective == Collective::reduce_scatter ? reduce_scatter_rate : copying_rate;
}

/// What an operation takes between the ranks of this job: alpha + beta bytes.
struct PilotLine {
  double alpha_s = 0.0;
  double beta_s_per_byte = 0.0;
};
using Pilot = std::map<int, PilotLine>;  // by rank count; empty: not tried

/// Of an operation among so many ranks over a network; 0 within a node.
double latency_s(int ranks, const Pilot& pilot) {
  const PilotLine* line = value_at(pilot, ranks);
  return line ? line->alpha_s : 0.0;
}

/// The ranks of a node share its memory.
double operation_s(const CollectiveWork& work, const Pilot& pilot) {
  if (const PilotLine* line = value_at(pilot, work.ranks))
    return line->alpha_s + line->beta_s_per_byte * work.message.value();
  const double share = 2.0 / work.ranks;
  return operation_latency_s + work.message.value() / (share * message_rate(work.collective));
}

/// Duration of one sample: an operation with the agreement on its start, or a block of them back to
/// back.
double expected_sample_s(const CollectiveWork& work, const Pilot& pilot) {
  const double one_s = operation_s(work, pilot);
  if (work.mode != CollectiveMode::isolated)
    return std::max(block_s, large_block_operations * one_s);
  return one_s + start_latencies * latency_s(work.ranks, pilot);
}

/// How long one setting may take: 20 samples and more while the budget lasts; it lasts for 20 of
/// small messages and for the fewest that have an interval of large ones, or for one of messages
/// that take seconds.
StoppingTarget sweep_target(const CollectiveWork& work, Suite suite, const Pilot& pilot) {
  const bool isolated = work.mode == CollectiveMode::isolated;
  StoppingTarget target{.relative_half_width = 0.01,
                        // A block is a mean already, an isolated one scatters.
                        .maximum_samples = isolated ? 200U : 50U,
                        // Of some hundred settings: the sweep then takes seconds, or a minute.
                        .time_budget = Seconds(suite == Suite::quick ? 0.04 : 0.3)};
  const bool small = isolated && work.message <= most_sampled_message;
  std::size_t least = small ? target.minimum_samples : fewest_samples;
  const double sample_s = expected_sample_s(work, pilot);
  if (const double most_s = suite == Suite::quick ? 1.0 : 4.0; sample_s * fewest_samples > most_s) {
    least = std::max<std::size_t>(1, static_cast<std::size_t>(most_s / sample_s));
    target.maximum_samples = least;
  }
  target.time_budget = std::max(target.time_budget, Seconds(sample_s * static_cast<double>(least)));
  return target;
}

/// Of one setting with its preparation and verification.
Seconds expected_time(const CollectiveWork& work, Suite suite, const Pilot& pilot) {
  const StoppingTarget target = sweep_target(work, suite, pilot);
  const double sample_s = expected_sample_s(work, pilot);
  const double most_s = sample_s * static_cast<double>(target.maximum_samples);
  const double latencies =
      (around_latencies + clock_latencies * work.ranks) * latency_s(work.ranks, pilot);
  const double warm_s = target.maximum_samples == 1 ? 0.0 : 2.0 * sample_s;
  return Seconds(setting_s + latencies + warm_s + std::min(target.time_budget.value(), most_s) +
                 work.message.value() / preparation_rate);
}

Seconds expected_time(const std::vector<CollectiveWork>& works, Suite suite, const Pilot& pilot) {
  Seconds sum{0.0};
  for (const CollectiveWork& work : works) sum += expected_time(work, suite, pilot);
  return sum;
}

/// Of a sweep over a network.
Seconds network_budget(const PlanInputs& setting) {
  if (setting.collectives_budget > Seconds(0.0)) return setting.collectives_budget;
  // Presumed: as long as the other probes.
  return Seconds(setting.suite == Suite::quick ? 20.0 : 90.0);
}

/// An all-reduce of two sizes at each rank count, known to every rank.
Pilot measure_pilot(RankGroup& group) {
  constexpr std::array sizes{Bytes(8.0), Bytes(2.0 * mebibyte)};
  // For estimates: a median within some tens of per cent is enough.
  const StoppingTarget target{.maximum_samples = 11, .time_budget = Seconds(0.1)};
  Pilot pilot;
  for (const int ranks : rank_counts(group.size())) {
    std::array<double, 2> time_s{};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const CollectiveMeasured measured = group.time_collective(
          {Collective::all_reduce, CollectiveMode::isolated, sizes[i], ranks}, target);
      // Other programs only lengthen; presumed.
      time_s[i] = quantile(measured.time_s, 0.25).value_or(0.0);
    }
    std::istringstream words(group.exchange(fmt::format("{} {}", time_s[0], time_s[1])).front());
    words >> time_s[0] >> time_s[1];
    const double beta = (time_s[1] - time_s[0]) / (sizes[1] - sizes[0]).value();
    pilot[ranks] = {time_s[0], std::max(0.0, beta)};
  }
  return pilot;
}

/// Of a job on several nodes.
std::optional<int> nodes_of_first(const RankGroup& group, int ranks) {
  const std::vector<int> node = group.links().node;
  if (std::ranges::count(node, 0) == std::ssize(node)) return std::nullopt;
  return static_cast<int>(std::set<int>(node.begin(), node.begin() + ranks).size());
}

constexpr int least_operations = 2;  // fewer are no block: one does not follow another

int clamp_count(double count, int low, int high) {
  return static_cast<int>(
      std::clamp(std::ceil(count), static_cast<double>(low), static_cast<double>(high)));
}

// Knuth's multiplicative hash (2^32 / golden ratio), top 10 bits; compilers vectorise it.
float place_term(std::size_t index) {
  return static_cast<float>((static_cast<std::uint32_t>(index) * 2654435761U) >> 22U);
}

float sum_of_rank_terms(int ranks) {
  if (ranks > most_summed_ranks)
    throw ProbeFailure("sums of {} ranks cannot be checked; measure up to {} ranks, or another job",
                       ranks,
                       most_summed_ranks);
  float sum = 0.0F;
  for (int r = 0; r < ranks; ++r) sum += rank_term(r);
  return sum;
}

/// Asks for setting after setting, on every rank; rank 0 records.
class CollectiveSweep {
 public:
  CollectiveSweep(RankGroup& group, const PlanInputs& setting, Recorder& recorder)
      : group_(group),
        setting_(setting),
        recorder_(recorder),
        plan_(plan_sweep(
            setting.suite, group.size(), group.available_memory_per_rank(), setting.asked)),
        done_(plan_.settings.size()) {}

  void run() {
    if (plan_.left_out) warn(*plan_.left_out);
    if (setting_.nodes > 1) {
      run_within(network_budget(setting_));
    } else {
      measure(numbers_below(plan_.settings.size()));
    }
  }

 private:
  /// What a pilot says fits, and then, as often as it was too careful, what the time left allows.
  void run_within(Seconds budget) {
    const auto begin = std::chrono::steady_clock::now();
    pilot_ = measure_pilot(group_);
    double scale = 1.0;
    for (int pass = 0; pass < 3; ++pass) {
      const double took_s = shared_s(begin);
      const Seconds left = budget - Seconds(took_s);
      const auto cost = [&](const CollectiveWork& work) { return scale * expected(work); };
      const auto places = cut_to_budget(plan_.settings, done_, group_.size(), left, cost);
      if (places.empty()) break;
      const double expected_s = measure(places).value();
      scale = std::min(1.0, (shared_s(begin) - took_s) / expected_s);
    }
    const auto measured = std::ranges::count(done_, true);
    if (measured == std::ssize(done_)) return;
    warn({FindingId::settings_in_time, measured, done_.size(), budget.value()});
  }

  void warn(const Finding& finding) {
    group_.on_rank_0([&] { recorder_.warn(finding); });
  }

  /// Rank 0's time since then.
  double shared_s(std::chrono::steady_clock::time_point begin) {
    const std::chrono::duration<double> own = std::chrono::steady_clock::now() - begin;
    return parse_number<double>(group_.exchange(fmt::format("{:.3f}", own.count())).front())
        .value_or(own.count());
  }

  Seconds expected(const CollectiveWork& work) const {
    return expected_time(work, setting_.suite, pilot_);
  }

  /// Returns how long they were expected to take.
  Seconds measure(const std::vector<std::size_t>& places) {
    Seconds total{0.0};
    for (const std::size_t place : places) total += expected(plan_.settings[place]);
    Seconds done{0.0};
    for (const std::size_t place : places) {
      const CollectiveWork& work = plan_.settings[place];
      group_.on_rank_0([&] {
        progress_ = std::max(progress_, done / total);
        recorder_.progress(progress_,
                           fmt::format("{} of {:.0f} B on {} ranks",
                                       key_of(work.collective),
                                       work.message.value(),
                                       work.ranks));
      });
      measure_one(work);
      done_[place] = true;
      done += expected(work);
    }
    return total;
  }

  void measure_one(const CollectiveWork& work) {
    CollectiveMeasured measured =
        group_.time_collective(work, sweep_target(work, setting_.suite, pilot_));
    group_.on_rank_0([&] {
      recorder_.add_rows(timings_file,
                         {"collective",
                          "mode",
                          "ranks",
                          "message_bytes",
                          "operations",
                          "iteration",
                          "rank",
                          "start_ns",
                          "end_ns"},
                         timing_rows(work, measured));
      recorder_.add(
          collective_point(work, std::move(measured), nodes_of_first(group_, work.ranks)));
    });
  }

  RankGroup& group_;
  const PlanInputs& setting_;
  Recorder& recorder_;
  SweepPlan plan_;
  std::vector<bool> done_;  // by setting
  Pilot pilot_;
  double progress_ = 0.0;
};
}  // namespace

Point collective_point(const CollectiveWork& work,
                       CollectiveMeasured measured,
                       std::optional<int> nodes) {
  Point point;
  if (nodes) point.setting.set(Parameter::nodes, *nodes);
  point.setting.set({{Parameter::collective, work.collective},
                     {Parameter::mode, work.mode},
                     {Parameter::ranks, work.ranks},
                     {Parameter::message_bytes, whole_bytes(measured.message)}});
  point.samples = {{Metric::time_s, std::move(measured.time_s)}};
  point.stop_reason = std::move(measured.stop_reason);
  point.warnings = std::move(measured.warnings);
  return point;
}

Seconds estimate_collectives(const PlanInputs& setting) {
  if (setting.nodes > 1) return network_budget(setting);
  const Bytes memory = setting.available_memory / static_cast<double>(setting.max_ranks);
  return expected_time(plan_sweep(setting.suite, setting.max_ranks, memory, setting.asked).settings,
                       setting.suite,
                       {});
}

void measure_collectives(RankGroup& group, const PlanInputs& setting, Recorder& recorder) {
  if (group.size() < 2) throw NothingToMeasure(FindingId::collective_needs_ranks);
  CollectiveSweep(group, setting, recorder).run();
}

void look_again(RankGroup& group, const PlanInputs&, Recorder& recorder) {
  for (const CollectiveMode mode : {CollectiveMode::isolated, CollectiveMode::back_to_back}) {
    const CollectiveWork work{Collective::all_reduce, mode, Bytes(8.0), group.size()};
    Point point = collective_point(work,
                                   group.time_collective(work, target_of(second_look_pace)),
                                   nodes_of_first(group, group.size()));
    point.setting.set(Parameter::run, std::int64_t{0});
    group.on_rank_0([&] { recorder.add(std::move(point)); });
  }
}

std::string CollectiveBatch::text() const {
  return fmt::format("{} {}", repetitions, operations);
}

CollectiveBatch CollectiveBatch::of(const std::string& text) {
  std::istringstream words(text);
  CollectiveBatch batch;
  const bool read = words >> batch.repetitions >> batch.operations && words.eof();
  if (read && batch.repetitions >= 0 && batch.repetitions <= PacerLimits{}.repetitions &&
      batch.operations >= 1 && batch.operations <= PacerLimits{}.operations) {
    return batch;
  }
  throw ProbeFailure("rank 0 asks for '{}', which is no batch", text);
}

CollectivePacer::CollectivePacer(CollectiveMode mode,
                                 const StoppingTarget& target,
                                 Seconds operation,
                                 const PacerLimits& limits)
    : target_(target), limits_(limits), rule_(target) {
  // An operation on one rank takes no time that a clock shows: this bounds the count.
  const double operation_s = std::max(1e-7, operation.value());
  if (mode != CollectiveMode::isolated) {
    operations_ = clamp_count(limits_.block_s / operation_s, least_operations, limits_.operations);
  }
  repetition_s_ = operation_s * operations_;
}

CollectiveBatch CollectivePacer::next() const {
  const std::size_t taken = rule_.samples().size();
  if (rule_.finished() || taken >= target_.maximum_samples) return {0, operations_};
  const auto left = std::min<std::size_t>(target_.maximum_samples - taken, limits_.repetitions);
  return {clamp_count(limits_.batch_s / repetition_s_, 1, static_cast<int>(left)), operations_};
}

void CollectivePacer::add(const std::vector<double>& slowest) {
  double sum_s = 0.0;
  for (const double time_s : slowest) {
    rule_.add(Seconds(time_s), Seconds(time_s * operations_));
    sum_s += time_s;
  }
  if (!slowest.empty()) {
    // As above.
    repetition_s_ = std::max(1e-7, sum_s / static_cast<double>(slowest.size()) * operations_);
  }
}

void CollectivePacer::add(const std::vector<double>& slowest, Seconds repetition) {
  for (const double time_s : slowest) rule_.add(Seconds(time_s), repetition);
  repetition_s_ = repetition.value();
}

float rank_term(int rank) {
  // Primes: neighbours differ, and none repeats before 1,021 ranks.
  return static_cast<float>((7 * rank) % 1021);
}

void fill_pattern(std::span<float> data, int rank) {
  const float term = rank_term(rank);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = place_term(i) + term;
}

std::vector<ExpectedStretch> expected_result(Collective collective,
                                             const MessageShape& shape,
                                             int rank,
                                             int ranks) {
  const std::size_t own_block = static_cast<std::size_t>(rank) * shape.block;
  const auto all = static_cast<float>(ranks);
  const bool at_root = collective == Collective::reduce || collective == Collective::gather;
  if (at_root && rank != 0) return {};
  std::vector<ExpectedStretch> stretches;
  switch (collective) {
    case Collective::all_reduce:
    case Collective::reduce:
      return {{0, shape.receive, 0, all, sum_of_rank_terms(ranks)}};
    case Collective::reduce_scatter:
      return {{0, shape.receive, own_block, all, sum_of_rank_terms(ranks)}};
    case Collective::broadcast:
      return {{0, shape.receive, 0, 1.0F, rank_term(0)}};
    case Collective::scatter:
      return {{0, shape.receive, own_block, 1.0F, rank_term(0)}};
    case Collective::send_receive:
      return {{0, shape.receive, 0, 1.0F, rank_term((rank + ranks - 1) % ranks)}};
    default:
      break;  // a block of each rank
  }
  const std::size_t first = collective == Collective::all_to_all ? own_block : 0;
  for (int source = 0; source < ranks; ++source) {
    stretches.push_back({static_cast<std::size_t>(source) * shape.block,
                         shape.block,
                         first,
                         1.0F,
                         rank_term(source)});
  }
  return stretches;
}

std::optional<std::string> find_error(std::span<const float> received,
                                      const std::vector<ExpectedStretch>& expected) {
  for (const ExpectedStretch& stretch : expected) {
    const auto wanted = [&](std::size_t j) {
      return stretch.scale * place_term(stretch.first + j) + stretch.offset;
    };
    const auto part = received.subspan(stretch.begin, stretch.count);
    // Counting first keeps the loop without branches; 256 MiB are checked for every setting.
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < part.size(); ++j) wrong += part[j] == wanted(j) ? 0 : 1;
    if (wrong == 0) continue;
    std::size_t j = 0;
    while (part[j] == wanted(j)) ++j;
    return fmt::format("{} of {} elements are wrong, first element {}: {} instead of {}",
                       wrong,
                       part.size(),
                       stretch.begin + j,
                       part[j],
                       wanted(j));
  }
  return std::nullopt;
}
}  // namespace scaleworth::probes
