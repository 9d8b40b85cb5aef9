// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/format_measurement.h"

#include "probes/gpu/gemm/search/peak_rate.h"
#include "probes/gpu/gemm/shape_rules.h"
#include "src/core/error.h"
#include "src/core/interrupt.h"
#include "src/core/statistics/quantile.h"

#include <chrono>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;
constexpr int trial_proposals = 6;
constexpr Seconds trial_pick{0.002};
constexpr Seconds trial_budget{0.05};
/// Then it is not the shapes.
constexpr int most_failed_trials = 3;

ProductShape cube(std::int64_t side) {
  return {side, side, side};
}

/// The fastest of a few proposals in one short sample each; absent when all break.
std::optional<GemmCandidate> fastest(GemmSession& session) {
  GemmPace pace;
  pace.warm_up = 0.5 * trial_pick;
  pace.target = {.relative_half_width = 0.0,
                 .minimum_samples = 1,
                 .maximum_samples = 1,
                 .time_budget = trial_pick};
  std::optional<GemmCandidate> best;
  double best_s = std::numeric_limits<double>::infinity();
  for (const GemmCandidate& candidate :
       session.candidates(trial_proposals, Bytes(32.0 * mebibyte))) {
    check_interrupt();
    const double time = median(session.time(candidate, pace).time_s).value_or(best_s);
    if (time >= best_s) continue;
    best = candidate;
    best_s = time;
  }
  return best;
}

}  // namespace

FormatMeasurement::FormatMeasurement(Device& device,
                                     const GemmFormat& format,
                                     Suite suite,
                                     Recorder& recorder)
    : device_(device),
      format_(format),
      effort_(gemm_effort(suite, is_leading(format))),
      suite_(suite),
      library_(require_gemm_library(device)),
      recorder_(recorder) {}

GemmSubject FormatMeasurement::subject(const std::string& family, const ProductShape& shape) const {
  GemmProblem problem;
  problem.input = format_.input;
  problem.fast_accumulation = format_.fast_accumulation;
  problem.m = shape.m;
  problem.n = shape.n;
  problem.k = shape.k;
  return {device_.description(), library_, family, {}, problem};
}

std::unique_ptr<ChosenGemm> FormatMeasurement::chosen(const std::string& family,
                                                      const ProductShape& shape,
                                                      const SearchEffort& effort) {
  auto gemm = std::make_unique<ChosenGemm>(device_, subject(family, shape), effort, recorder_);
  rate_ = gemm->best_rate().value();
  return gemm;
}

bool FormatMeasurement::attempt(const GemmProblem& problem, const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const NothingToMeasure& reason) {
    last_failure_ = fmt::format("n/a: {}: {}", gemm_problem_name(problem), reason.what());
  } catch (const GpuLost&) {
    throw;
  } catch (const ProbeFailure& failure) {
    last_failure_ = fmt::format("{} left out: {}", gemm_problem_name(problem), failure.what());
  }
  recorder_.warn(last_failure_);
  return false;
}

bool FormatMeasurement::fits(const ProductShape& shape) const {
  const GemmProblem problem = subject("search", shape).problem;
  return gemm_memory(problem, device_.description().l2_cache) <= device_.available_memory();
}

bool FormatMeasurement::takes_too_long(const ProductShape& shape) const {
  const GemmProblem problem = subject("cube", shape).problem;
  return rate_ > 0.0 && gemm_flops(problem).value() / rate_ > longest_product.value();
}

void FormatMeasurement::measure_reference(ChosenGemm& cube) {
  recorder_.add(cube.burst(effort_.pause));
  recorder_.add(cube.steady("steady", effort_.settle, effort_.steady));
  recorder_.add(cube.duty_cycled());
}

void FormatMeasurement::measure_brief(const ProductShape& shape) {
  if (takes_too_long(shape)) {
    recorder_.warn(fmt::format("{} left out: one product would last {:.2g} s",
                               gemm_problem_name(subject("cube", shape).problem),
                               gemm_flops(subject("cube", shape).problem).value() / rate_));
    return;
  }
  attempt(subject("cube", shape).problem, [&] {
    // The chip is warm from the reference: half a second shows whether it still is.
    SettleRule rule = effort_.settle;
    rule.minimum = rule.window = 0.5 * effort_.brief_steady;
    rule.maximum = effort_.brief_steady;
    recorder_.add(
        chosen("cube", shape, effort_.brief)->steady("steady", rule, effort_.brief_steady));
  });
}

void FormatMeasurement::measure_cubes() {
  // The small cube tells how long the large ones would last.
  std::unique_ptr<ChosenGemm> small;
  attempt(subject("cube", cube(4096)).problem,
          [&] { small = chosen("cube", cube(4096), effort_.brief); });
  if (!small) return;
  if (takes_too_long(cube(8192))) {
    measure_brief(cube(8192));
    measure_reference(*small);
    return;
  }
  const bool reached = attempt(subject("cube", cube(8192)).problem, [&] {
    measure_reference(*chosen("cube", cube(8192), effort_.reference));
  });
  if (!reached) {
    measure_reference(*small);
    return;
  }
  SettleRule rule = effort_.settle;
  rule.minimum = rule.window = 0.5 * effort_.brief_steady;
  rule.maximum = effort_.brief_steady;
  recorder_.add(small->steady("steady", rule, effort_.brief_steady));
  small.reset();
  if (suite_ == Suite::standard) measure_brief(cube(16384));
}

std::optional<FlopPerSecond> FormatMeasurement::trial(const ProductShape& shape) {
  const GemmSubject tried = subject("search", shape);
  std::optional<FlopPerSecond> rate;
  const bool tried_it = attempt(tried.problem, [&] {
    const std::unique_ptr<GemmSession> session = device_.open_gemm(tried.problem);
    const std::optional<GemmCandidate> candidate = fastest(*session);
    if (!candidate) throw NothingToMeasure("the library proposes no algorithm");
    const GemmPace pace = duty_cycled_pace(trial_budget);
    const DeviceMeasured measured = session->time(*candidate, pace);
    recorder_.add(gemm_point(tried, "coarse", pace.regime, *candidate, measured));
    const std::optional<double> time = median(measured.time_s);
    if (!time) return;
    const FlopPerSecond reached = gemm_rate(tried.problem, *time);
    if (!impossible_rate(tried.device, format_.input, reached)) rate = reached;
  });
  failed_trials_ = tried_it ? 0 : failed_trials_ + 1;
  return rate;
}

void FormatMeasurement::measure_best_shape() {
  const auto start = std::chrono::steady_clock::now();
  const ShapeLimits limits{
      .multiprocessors = device_.description().multiprocessors,
      .trials = effort_.shape_trials,
      .out_of_time =
          [&] {
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            return failed_trials_ >= most_failed_trials ||
                   spent.count() > effort_.shape_search.value();
          },
      .fits = [&](const ProductShape& shape) { return fits(shape) && !takes_too_long(shape); }};
  const ShapeFound found =
      search_shape(limits, [&](const ProductShape& shape) { return trial(shape); });
  if (!found.best) return;
  attempt(subject("search", *found.best).problem, [&] {
    Point point = chosen("search", *found.best, effort_.best_shape)->duty_cycled();
    point.stop_reason +=
        fmt::format("; shape search: {} tried, {}", found.trials, found.stop_reason);
    recorder_.add(std::move(point));
  });
}

void FormatMeasurement::run(const std::function<void(const std::string&)>& progress) {
  const std::string name = number_format_name(format_.input);
  if (!greatest_rate(device_.description(), format_.input)) {
    recorder_.warn(
        fmt::format("{}: results are not checked against the greatest possible rate, which is "
                    "unknown for compute capability {}.{}",
                    name,
                    device_.description().compute_capability / 10,
                    device_.description().compute_capability % 10));
  }
  progress(name + ": cubes");
  measure_cubes();
  if (rate_ <= 0.0) return;
  progress(name + ": best shape");
  measure_best_shape();
}

}  // namespace scaleworth::probes
