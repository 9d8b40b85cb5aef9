// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "tests/sim/trace/job_generator.h"
#include "trace/analysis/ledger.h"
#include "trace/analysis/stragglers.h"

#include <cmath>
#include <functional>

namespace scaleworth::sim {
namespace {

struct Analysis {
  GeneratedJob generated;
  trace::Matching matching;
  trace::Alignment alignment;
  StragglerReport report;
};

Analysis analyse(const JobTruth& truth) {
  Analysis analysis;
  analysis.generated = generate_job(truth);
  const trace::Job& job = analysis.generated.job;
  analysis.matching = trace::match_collectives(job);
  analysis.alignment = trace::align_clocks(job, analysis.matching);
  const trace::StepPlan steps = trace::find_steps(job, analysis.alignment.map);
  const trace::Waits waits = trace::split_waits(job, analysis.matching, analysis.alignment);
  const auto ledger = trace::build_job_ledger(job, steps, waits, analysis.alignment.map);
  analysis.report =
      trace::find_stragglers(trace::JobReplay(job, steps, waits, analysis.alignment), ledger);
  return analysis;
}

/// Share of `count` seeds for which `holds`; the seeds that fail are told.
double share_of(int count, const std::function<bool(std::uint64_t)>& holds) {
  int held = 0;
  for (int seed = 1; seed <= count; ++seed) {
    if (holds(static_cast<std::uint64_t>(seed))) {
      ++held;
    } else {
      UNSCOPED_INFO("not for seed " << seed);
    }
  }
  return static_cast<double>(held) / count;
}

JobTruth truth_of(LateCause cause, std::uint64_t seed) {
  JobTruth truth;
  truth.cause = cause;
  truth.seed = seed;
  truth.straggler = static_cast<int>(seed % 8);
  truth.late_ns = 150e3 + 50e3 * static_cast<double>(seed % 5);
  truth.clock_offset_ns = 300e3;
  return truth;
}

bool blames(const StragglerReport& report, int rank, LateCause cause) {
  if (report.stragglers.empty()) return false;
  const Straggler& first = report.stragglers.front();
  const bool right = first.rank.index == rank && first.cause == cause && first.significant;
  if (!right) UNSCOPED_INFO(first.unit);
  return right;
}

TEST_CASE("Clocks of generated jobs are recovered within the stated error") {
  const double recovered = share_of(100, [](std::uint64_t seed) {
    JobTruth truth;
    truth.seed = seed;
    truth.ranks = 2 + static_cast<int>(seed % 7);
    truth.steps = 12;
    truth.clock_offset_ns = 1e6;
    truth.clock_drift = seed % 2 == 0 ? 20e-6 : 0.0;
    const Analysis analysis = analyse(truth);
    double worst = 0.0;
    for (const double time : {0.0, 0.5, 1.0})
      for (std::size_t rank = 1; rank < analysis.generated.clocks.size(); ++rank) {
        const double at = time * analysis.generated.length_ns;
        const auto& clocks = analysis.generated.clocks;
        const auto here = analysis.alignment.map.to_common(rank, clocks[rank].recorded(at));
        const auto there = analysis.alignment.map.to_common(0, clocks[0].recorded(at));
        worst = std::max(worst, std::abs(static_cast<double>((here - there).count())));
      }
    return worst <= static_cast<double>(analysis.alignment.report.error.count()) &&
           analysis.alignment.report.error < std::chrono::microseconds(30);
  });
  CHECK(recovered >= 0.95);
}

TEST_CASE("Jobs in which nobody is late name nobody", "[statistics]") {
  const double silent = share_of(500, [](std::uint64_t seed) {
    JobTruth truth;
    truth.seed = seed;
    truth.ranks = 2 + static_cast<int>(seed % 7);
    truth.steps = 3 + static_cast<int>(seed % 9);
    truth.kernel_noise = seed % 3 == 0 ? 0.03 : 0.01;
    truth.overlapped = seed % 2 == 0;
    truth.clock_offset_ns = 300e3;
    const StragglerReport report = analyse(truth).report;
    if (!report.stragglers.empty()) UNSCOPED_INFO(report.stragglers.front().unit);
    return report.stragglers.empty() && report.abstention.has_value();
  });
  CHECK(silent > 0.98);
}

TEST_CASE("The same kernels running slower on one rank are found", "[statistics]") {
  CHECK(share_of(100, [](std::uint64_t seed) {
          const JobTruth truth = truth_of(LateCause::slower_kernels, seed);
          const StragglerReport report = analyse(truth).report;
          return blames(report, truth.straggler, LateCause::slower_kernels) &&
                 report.recurrence == Recurrence::one_rank;
        }) >= 0.95);
}

TEST_CASE("More kernels on one rank are found", "[statistics]") {
  CHECK(share_of(100, [](std::uint64_t seed) {
          const JobTruth truth = truth_of(LateCause::more_work, seed);
          return blames(analyse(truth).report, truth.straggler, LateCause::more_work);
        }) >= 0.95);
}

TEST_CASE("A late host is found, with what it did") {
  CHECK(share_of(100, [](std::uint64_t seed) {
          const JobTruth truth = truth_of(LateCause::host, seed);
          const StragglerReport report = analyse(truth).report;
          return blames(report, truth.straggler, LateCause::host) &&
                 report.stragglers.front().shares.front().host ==
                     (seed % 2 == 0 ? HostCause::data_loading : HostCause::garbage_collection);
        }) >= 0.95);
}

TEST_CASE("Longer copies are found", "[statistics]") {
  CHECK(share_of(100, [](std::uint64_t seed) {
          const JobTruth truth = truth_of(LateCause::copies, seed);
          return blames(analyse(truth).report, truth.straggler, LateCause::copies);
        }) >= 0.95);
}

TEST_CASE("The profiler's own work is found", "[statistics]") {
  CHECK(share_of(100, [](std::uint64_t seed) {
          const JobTruth truth = truth_of(LateCause::profiler, seed);
          return blames(analyse(truth).report, truth.straggler, LateCause::profiler);
        }) >= 0.95);
}

TEST_CASE("A longer transfer within a pair is found at the pair", "[statistics]") {
  CHECK(share_of(100, [](std::uint64_t seed) {
          JobTruth truth = truth_of(LateCause::communication, seed);
          truth.pairs = true;
          // The even rank of a pair comes last.
          return blames(analyse(truth).report, truth.straggler / 2 * 2, LateCause::communication);
        }) >= 0.95);
}

TEST_CASE("A rank that waited itself passes the cost on to the one that it waited for",
          "[statistics]") {
  CHECK(share_of(100, [](std::uint64_t seed) {
          JobTruth truth = truth_of(LateCause::indirect, seed);
          truth.pairs = true;
          truth.straggler = truth.straggler / 2 * 2 + 1;
          truth.pair_extra_ns = 20e3;  // less than what the odd rank is late in a layer
          const Analysis analysis = analyse(truth);
          const auto total = [&](int rank, int late) {
            return pair_wait(analysis.report, Rank{rank}, Rank{late}).total;
          };
          // Other pairs wait for the even rank, which waited for the odd one.
          const int other = (truth.straggler + 2) % 8;
          const int late = truth.straggler;
          return blames(analysis.report, truth.straggler, LateCause::slower_kernels) &&
                 total(other, late - 1) > total(other, late);
        }) >= 0.95);
}

TEST_CASE("An uneven pipeline stage is told from a slow rank", "[statistics]") {
  CHECK(share_of(100, [](std::uint64_t seed) {
          JobTruth truth = truth_of(LateCause::pipeline_stage, seed);
          truth.kernel_noise = 0.03;
          const StragglerReport report = analyse(truth).report;
          return !report.stragglers.empty() && report.stragglers.front().rank.index >= 6 &&
                 report.stragglers.front().cause == LateCause::pipeline_stage;
        }) >= 0.95);
}

TEST_CASE("Late ranks are found where collectives run under kernels", "[statistics]") {
  for (const LateCause cause : {LateCause::slower_kernels,
                                LateCause::more_work,
                                LateCause::host,
                                LateCause::copies,
                                LateCause::profiler}) {
    CAPTURE(word_of(cause));
    CHECK(share_of(50, [&](std::uint64_t seed) {
            JobTruth truth = truth_of(cause, seed);
            truth.overlapped = true;
            return blames(analyse(truth).report, truth.straggler, cause);
          }) >= 0.95);
  }
}

TEST_CASE("A straggler that changes from step to step is rotating", "[statistics]") {
  CHECK(share_of(100, [](std::uint64_t seed) {
          JobTruth truth = truth_of(LateCause::host, seed);
          truth.rotating = true;
          truth.late_ns = 400e3;
          truth.steps = 18;
          const StragglerReport report = analyse(truth).report;
          return report.recurrence == Recurrence::rotating && report.stragglers.size() > 4 &&
                 report.stragglers.front().cause == LateCause::host;
        }) >= 0.95);
}

TEST_CASE("Sampled recordings give no cause") {
  JobTruth truth = truth_of(LateCause::slower_kernels, 3);
  truth.lost_share = 0.05;
  const Analysis analysis = analyse(truth);
  CHECK(analysis.matching.unmatched > 0);
  for (const Straggler& straggler : analysis.report.stragglers)
    CHECK(straggler.cause == LateCause::undecided);
}

TEST_CASE("Waiting is neither lost nor made: the matrix, the stragglers and the ledger agree") {
  JobTruth truth = truth_of(LateCause::slower_kernels, 5);
  truth.pairs = true;
  const Analysis analysis = analyse(truth);
  CHECK_FALSE(analysis.report.pairs.empty());
  for (const PairWait& pair : analysis.report.pairs) {
    CHECK(pair.exposed <= pair.total);
    if (pair.rank == pair.waited_for) CHECK(pair.total.count() == 0);
  }
  for (const Straggler& straggler : analysis.report.stragglers)
    CHECK(straggler.exposed <= straggler.waited);
}

}  // namespace
}  // namespace scaleworth::sim
