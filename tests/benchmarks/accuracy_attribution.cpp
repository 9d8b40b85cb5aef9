// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/model/comparison.h"
#include "tests/benchmarks/accuracy.h"
#include "tests/sim/trace/faulty_job.h"
#include "tests/unit/model/public_tables.h"
#include "trace/analysis/efficiency/efficiency.h"
#include "trace/attribute.h"
#include "trace/classify.h"
#include "trace/formats/read_job.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleworth::accuracy {
namespace {
using testing::Fault;
using testing::JobPlan;
using testing::Repair;

/// What is at fault, at which level, and by which name.
struct Answer {
  Fault level = Fault::none;
  int place = -1;  // rank or stage; -1 for rotating lengths and none
  bool operator==(const Answer&) const = default;
};

Answer truth_of(const JobPlan& plan) {
  const bool placed = plan.fault != Fault::none && plan.fault != Fault::rotating_lengths;
  return {plan.fault, placed ? plan.place : -1};
}

Answer answer_of(const JobPlan& plan, const Attribution& result) {
  for (const SlowFabric& one : result.slow_fabric)
    if (!one.varies && one.ranks.size() == 1) return {Fault::slow_link, one.ranks.front().index};
  for (const Straggler& one : result.stragglers.stragglers) {
    if (!one.significant) continue;
    if (one.level == LateUnit::stage) return {Fault::slow_stage, one.rank.index / plan.replicas};
    if (one.level == LateUnit::rotating) return {Fault::rotating_lengths, -1};
    if (result.stragglers.recurrence == Recurrence::rotating) return {Fault::rotating_lengths, -1};
    if (one.cause == LateCause::communication) return {Fault::slow_link, one.rank.index};
    if (one.cause == LateCause::host) return {Fault::late_host, one.rank.index};
    return {Fault::slow_gpu, one.rank.index};
  }
  return {};
}

/// What a step would save without the fault, in ns; absent when that is not predicted.
std::optional<double> predicted_saving(const JobPlan& plan, const Attribution& result) {
  if (!result.efficiency) return std::nullopt;
  using enum ReplayChange;
  const ReplayChange change = plan.fault == Fault::slow_stage         ? even_stages
                              : plan.fault == Fault::rotating_lengths ? equal_micro_batches
                                                                      : on_time;
  const std::string unit = fmt::format("rank {}", plan.place);
  for (const auto& one : result.efficiency->what_if)
    if (one.change == change && (change != on_time || one.units == std::vector{unit}))
      return static_cast<double>(one.saved.count());
  return std::nullopt;
}

struct FaultScore {
  int jobs = 0;
  int level = 0;
  int name = 0;
  std::vector<double> errors;  // of predicted savings, of the step
  std::map<Fault, int> wrong;  // levels named instead

  std::string text(Fault fault) const {
    std::string words = fmt::format("{}/{}/{}", level, name, jobs);
    for (const auto& [instead, count] : wrong)
      words +=
          fmt::format(" ({} {})", count, testing::fault_names[static_cast<std::size_t>(instead)]);
    if (fault == Fault::none) return words;
    if (errors.empty()) return words + " -";
    double sum = 0.0;
    double worst = 0.0;
    for (const double error : errors) {
      sum += error;
      if (std::abs(error) > std::abs(worst)) worst = error;
    }
    return fmt::format("{} {:+.1f}/{:+.1f} of {}",
                       words,
                       100.0 * sum / double(errors.size()),
                       100.0 * worst,
                       errors.size());
  }
};

struct Topology {
  const char* name;
  int replicas;
  int stages;
  bool timeline;
  int seeds;
};
constexpr Topology topologies[] = {{"8", 8, 1, false, 3},
                                   {"2x4", 2, 4, false, 3},
                                   {"2x4 timers", 2, 4, true, 3},
                                   {"8x4 timers", 8, 4, true, 3},
                                   {"16x8", 16, 8, false, 2}};

JobPlan plan_of(const Topology& topology, Fault fault, double strength, int seed) {
  JobPlan plan;
  plan.replicas = topology.replicas;
  plan.stages = topology.stages;
  plan.timeline = topology.timeline;
  plan.micro_batches = topology.stages == 1 ? 4 : 2 * topology.stages;
  plan.steps = plan.ranks() > 64 ? 6 : 10;
  plan.fault = fault;
  plan.strength = strength;
  plan.seed = static_cast<std::uint64_t>(seed);
  plan.noise = 0.01 * seed;
  plan.pause_ns = seed == 2 ? 20e6 : 0.0;
  plan.place = fault == Fault::slow_stage ? (topology.stages - seed + 3) % topology.stages
                                          : (5 * seed + 1) % plan.ranks();
  return plan;
}

void score_job(const JobPlan& plan, FaultScore& score) {
  const testing::GeneratedJob generated = testing::generate_job(plan);
  const Attribution result = trace::attribute(generated.job).result;
  const Repair repair = plan.fault == Fault::slow_stage ? Repair::evened : Repair::removed;
  const double saved = generated.step_ns - testing::repaired_step_ns(plan, repair);
  // A pipeline's bubble may hide a fault: one that costs nothing is none.
  const Answer truth = saved < 0.005 * generated.step_ns ? Answer{} : truth_of(plan);
  const Answer answer = answer_of(plan, result);
  ++score.jobs;
  score.level += answer.level == truth.level;
  score.name += answer == truth;
  if (answer.level != truth.level) ++score.wrong[answer.level];
  if (plan.fault == Fault::none) return;
  const auto saving = predicted_saving(plan, result);
  if (!saving) return;
  score.errors.push_back((*saving - saved) / generated.step_ns);
}

void add_generated(std::vector<Row>& rows) {
  for (const Fault fault : {Fault::none,
                            Fault::slow_gpu,
                            Fault::slow_stage,
                            Fault::slow_link,
                            Fault::rotating_lengths,
                            Fault::late_host}) {
    for (const double strength : {0.1, 0.3, 1.4}) {
      if (fault == Fault::none && strength > 0.1) break;
      const bool healthy = fault == Fault::none;
      Row row{healthy ? "Generated jobs without fault: jobs in which no fault is named"
                      : "Generated jobs with one fault: right level/right level and name/jobs, "
                        "error of the predicted saving in % of the step (mean/worst)",
              healthy ? "all" : "all; 3 % of the step",
              healthy ? "healthy"
                      : fmt::format("{}, +{:.0f} %",
                                    testing::fault_names[static_cast<std::size_t>(fault)],
                                    100.0 * strength),
              {}};
      for (const Topology& topology : topologies) {
        if (fault == Fault::slow_stage && topology.stages == 1) continue;
        FaultScore score;
        for (int seed = 1; seed <= topology.seeds; ++seed)
          score_job(plan_of(topology, fault, strength, seed), score);
        row.figures.emplace_back(topology.name, score.text(fault));
      }
      rows.push_back(std::move(row));
    }
  }
}

/// Slow-downs of a published analysis beside ours, the differences in % of the measured step.
class Comparison {
 public:
  /// Seconds: of an ideal step, which a slow-down multiplies, and measured.
  Comparison(double ideal_s, double step_s) : ideal_s_(ideal_s), step_s_(step_s) {}

  void add(const std::string& name, std::optional<double> ours, double theirs) {
    if (!ours) {
      ++missing_;
      return;
    }
    errors_.push_back((*ours - theirs) * ideal_s_ / step_s_);
    if (errors_.size() <= 6) text_ += fmt::format("{} {:.3f} ({:.3f}), ", name, *ours, theirs);
  }
  Row row(const std::string& what) const {
    Row result{"Slow-downs of a published analysis (straggler_ST): ours (published)",
               "3 % of the step",
               what,
               {{"predicted", fmt::format("{} of {}", errors_.size(), errors_.size() + missing_)}}};
    if (errors_.empty()) return result;
    double sum = 0.0;
    double worst = 0.0;
    for (const double error : errors_) {
      sum += std::abs(error) / double(errors_.size());
      worst = std::max(worst, std::abs(error));
    }
    result.figures.emplace_back("error, % of the step (mean/worst)",
                                fmt::format("{:.1f}/{:.1f}", 100.0 * sum, 100.0 * worst));
    result.figures.emplace_back("first of them", text_.substr(0, text_.size() - 2));
    return result;
  }

 private:
  double ideal_s_;
  double step_s_;
  std::vector<double> errors_;
  std::size_t missing_ = 0;
  std::string text_;
};

/// Replays of a job in which all ranks compute as long as the mean rank, but for some.
class EvenReplays {
 public:
  explicit EvenReplays(const trace::Job& job) : job_(job), all_(trace::attribute(job)) {
    for (std::size_t rank = 0; rank < job.recordings.size(); ++rank)
      useful_.push_back(double(all_.result.efficiency.value().useful[rank].count()));
    for (const double own : useful_) mean_ += own / double(useful_.size());
  }

  /// Time of the steps that count, or of `step`, against that of the ideal job. `keeps` says which
  /// ranks compute as long as they did.
  double slowdown(const std::function<bool(const trace::Origin&)>& keeps,
                  std::optional<std::int32_t> step = std::nullopt) {
    trace::Change ideal;
    trace::Change kept;
    for (std::size_t rank = 0; rank < useful_.size(); ++rank) {
      ideal.compute.push_back(mean_ / useful_[rank]);
      kept.compute.push_back(keeps(job_.recordings[rank].origin) ? 1.0 : ideal.compute.back());
    }
    double sums[2] = {0.0, 0.0};
    for (const trace::ReplayGraph& run : runs_of(step))
      for (const bool is_ideal : {false, true})
        if (const auto end = trace::last_end(run, {}, trace::replay(run, is_ideal ? ideal : kept)))
          sums[is_ideal] += double(*end - run.window.start.count());
    return sums[0] / sums[1];
  }

 private:
  std::vector<trace::ReplayGraph> runs_of(std::optional<std::int32_t> step) const {
    trace::StepPlan steps = all_.steps;
    for (auto& spans : steps.by_rank)
      if (step) std::erase_if(spans, [&](const auto& span) { return span.number != *step; });
    for (auto& spans : steps.by_rank)
      if (step) spans.front().excluded.reset();
    std::vector<trace::ReplayGraph> runs;
    const auto windows = trace::choose_windows(job_, steps, all_.alignment.map).value();
    for (const trace::EfficiencyWindow& run : windows.runs)
      runs.push_back(trace::build_replay_graph(job_, all_.waits, all_.alignment.map, run));
    return runs;
  }

  const trace::Job& job_;
  trace::Attributed all_;
  std::vector<double> useful_;  // ns, by rank
  double mean_ = 0.0;
};

void add_published(std::vector<Row>& rows) {
  const auto folder = tests::public_data / "traces" / "straggler_ST";
  std::ifstream file(folder / "result-ST.json");
  if (!file || !std::filesystem::exists(folder / "timeline-ST.json.gz")) {
    rows.push_back({"Slow-downs of a published analysis (straggler_ST)",
                    "",
                    "skipped: not on this machine",
                    {}});
    return;
  }
  const auto published = nlohmann::json::parse(file);
  const auto mean_of = [&](const char* name) {
    double sum = 0.0;
    for (const auto& [step, seconds] : published.at(name).items()) sum += seconds.get<double>();
    return sum / double(published.at(name).size());
  };
  const trace::RuleTable rules = trace::RuleTable::built_in();
  trace::Job job = trace::read_job({(folder / "timeline-ST.json.gz").string()}, rules, 1);
  for (trace::Recording& recording : job.recordings) trace::classify(recording, rules);
  EvenReplays replays(job);
  const Comparison empty(mean_of("step_t_noblk"), mean_of("step_t_base"));

  Comparison overall = empty;
  const auto all = [](const trace::Origin&) { return true; };
  overall.add("all", replays.slowdown(all), published.at("blocking_slowdown"));
  rows.push_back(overall.row("the job"));

  Comparison steps = empty;
  for (const auto& [number, theirs] : published.at("blocking_step_slowdown").items()) {
    steps.add(number, replays.slowdown(all, std::stoi(number)), theirs);
  }
  rows.push_back(steps.row("each step"));

  Comparison stages = empty;
  for (const auto& [number, theirs] : published.at("blocking_decompose_by_stage").items()) {
    const int stage = std::stoi(number);
    const auto keeps = [&](const trace::Origin& origin) { return origin.pipeline_stage == stage; };
    stages.add(number, replays.slowdown(keeps), theirs);
  }
  rows.push_back(stages.row("by one stage"));

  Comparison workers = empty;
  for (const auto& [number, theirs] : published.at("blocking_decompose_by_dp_rank").items()) {
    const int replica = std::stoi(number);
    const auto keeps = [&](const trace::Origin& origin) {
      return origin.data_parallel_rank == replica;
    };
    workers.add(number, replays.slowdown(keeps), theirs);
  }
  rows.push_back(workers.row("by one data-parallel rank"));

  Comparison operations = empty;
  for (const auto& [name, theirs] : published.at("blocking_decompose_by_optype").items())
    operations.add(name, std::nullopt, theirs);
  rows.push_back(operations.row("by one operation"));
}
/// Times of the simulator's collectives on a fabric that is `faster` than the job's transfers.
Run fabric_of(const JobPlan& plan, double faster) {
  Run run;
  ProbeRecord& probe = run.probes.emplace_back();
  probe.name = probe_name::comm_collectives;
  for (const Collective kind :
       {Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter})
    for (const int ranks : {plan.replicas, plan.ranks()})
      for (std::int64_t bytes = 1 << 13; bytes <= 1 << 30; bytes *= 2) {
        Point& point = probe.points.emplace_back();
        point.setting = {{Parameter::collective, kind},
                         {Parameter::mode, CollectiveMode::isolated},
                         {Parameter::ranks, std::int64_t{ranks}},
                         {Parameter::message_bytes, bytes}};
        const double seconds = 1e-9 * double(bytes) / 50.0 / faster;  // 50 bytes per ns
        point.samples = {{Metric::time_s, std::vector<double>(4, seconds)}};
      }
  return run;
}

/// What holds up the collectives of a kind and size, by the simulator's own clock: mean wait of a
/// rank and mean transfer beyond the fabric's time, ns.
struct HeldUp {
  double wait = 0.0;
  double excess = 0.0;
  double transfer = 0.0;

  FabricVerdict verdict() const {
    const double lost = wait + excess;
    if (lost < 0.1 * (wait + transfer)) return FabricVerdict::as_measured;
    if (excess >= 0.8 * lost) return FabricVerdict::transfer_bound;
    return wait >= 0.8 * lost ? FabricVerdict::skew_bound : FabricVerdict::mixed;
  }
};

std::map<std::pair<CollectiveKind, std::int64_t>, HeldUp> truth_of(
    const testing::GeneratedJob& generated, double faster) {
  using Call = std::tuple<CollectiveKind, std::int64_t, std::string, std::int64_t>;
  std::map<Call, std::vector<std::pair<double, double>>> calls;  // begin and end of each rank
  for (std::size_t rank = 0; rank < generated.job.recordings.size(); ++rank) {
    const trace::Recording& one = generated.job.recordings[rank];
    for (const trace::DeviceEvent& event : one.device_events) {
      if (event.work_class != WorkClass::communication) continue;
      const trace::Communication& known = one.communications[event.communication];
      if (known.kind == CollectiveKind::send || known.kind == CollectiveKind::receive) continue;
      calls[{known.kind,
             known.input_bytes.value_or(0),
             std::string(one.names.at(known.group)),
             known.sequence.value_or(0)}]
          .emplace_back(double(event.start.count()) - generated.offset_ns[rank],
                        double(event.end.count()) - generated.offset_ns[rank]);
    }
  }
  std::map<std::pair<CollectiveKind, std::int64_t>, HeldUp> truths;
  std::map<std::pair<CollectiveKind, std::int64_t>, double> counts;
  for (const auto& [call, ranks] : calls) {
    const std::pair key(std::get<0>(call), std::get<1>(call));
    double last = 0.0;
    double end = 0.0;
    for (const auto& [start, stop] : ranks)
      std::tie(last, end) = std::pair(std::max(last, start), std::max(end, stop));
    HeldUp& one = truths[key];
    for (const auto& [start, stop] : ranks) one.wait += (last - start) / double(ranks.size());
    one.transfer += end - last;
    one.excess += std::max(0.0, end - last - double(std::get<1>(call)) / 50.0 / faster);
    counts[key] += 1.0;
  }
  for (auto& [key, one] : truths)
    for (double* sum : {&one.wait, &one.excess, &one.transfer}) *sum /= counts[key];
  return truths;
}

/// Verdicts of recorded collectives against a fabric's curve.
void add_fabrics(std::vector<Row>& rows) {
  const std::tuple<const char*, Fault, double> skews[] = {
      {"even ranks", Fault::none, 0.0},
      {"slow GPU, +3 %", Fault::slow_gpu, 0.03},
      {"slow GPU, +10 %", Fault::slow_gpu, 0.1},
      {"slow GPU, +100 %", Fault::slow_gpu, 1.0},
      {"late host, +10 %", Fault::late_host, 0.1},
      {"rotating lengths, +30 %", Fault::rotating_lengths, 0.3}};
  for (const auto& [name, fault, strength] : skews) {
    Row row{
        "Recorded collectives against a fabric's curve: right verdicts, by what the job's "
        "transfers take longer",
        "95 %",
        name,
        {}};
    for (const double faster : {1.0, 1.25, 1.6, 3.0}) {
      int right = 0;
      int all = 0;
      for (const Topology& topology : {topologies[0], topologies[1]}) {
        for (int seed = 1; seed <= 5; ++seed) {
          JobPlan plan = plan_of(topology, fault, strength, seed);
          plan.noise = 0.02;
          const testing::GeneratedJob generated = testing::generate_job(plan);
          const auto truths = truth_of(generated, faster);
          const Attribution result = trace::attribute(generated.job).result;
          for (const FabricRow& one : model::against_fabric(result, fabric_of(plan, faster))) {
            const auto truth = truths.find({one.work.collective, one.work.bytes.value_or(0)});
            if (truth == truths.end()) continue;
            ++all;
            right += one.verdict == truth->second.verdict();
          }
        }
      }
      row.figures.emplace_back(fmt::format("+{:.0f} %", 100.0 * (faster - 1.0)),
                               fmt::format("{} of {}", right, all));
    }
    rows.push_back(std::move(row));
  }
}
}  // namespace

std::vector<Row> attribution_rows() {
  std::vector<Row> rows;
  add_generated(rows);
  add_fabrics(rows);
  add_published(rows);
  return rows;
}
}  // namespace scaleworth::accuracy
