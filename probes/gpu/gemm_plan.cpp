// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm.h"
#include "probes/gpu/roofline.h"
#include "src/core/error.h"
#include "src/core/process.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace scaleworth::probes {
namespace {
/// Allocating, filling and describing the operands of one product, and asking for algorithms.
constexpr Seconds open_time{0.1};
/// Loading the kernel of a candidate at its first call.
constexpr Seconds load_time{0.01};
constexpr Seconds verify_time{0.05};  // for estimates, as below
/// Clocks fall within a few hundred milliseconds.
constexpr Seconds burst_time{0.1};
/// Between two windows the power limiter lets the clock rise; an H200 takes some 0.15 s to fall
/// back.
constexpr Seconds settle_time{0.3};
/// Samples of 3.5 ms: short enough to see the clock fall, and 7000 times an event's resolution.
constexpr std::size_t burst_samples = 20;
/// Proposals that libraries really give, of those asked for.
constexpr int usual_proposals = 32;
constexpr Seconds trial_time{0.22};       // of one shape: opening, proposals, `trial_budget`
constexpr std::size_t usual_trials = 15;  // on an H200 (docs/measurements/h200)

bool is_fp8(NumberFormat format) {
  return format == NumberFormat::fp8_e4m3 || format == NumberFormat::fp8_e5m2;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::unique_ptr<GemmSession> opened(Device& device, const GemmProblem& problem) {
  if (const auto objection = shape_objection(problem)) throw NothingToMeasure(*objection);
  const Bytes needed = gemm_memory(problem, device.description().l2_cache);
  const Bytes available = device.available_memory();
  if (needed > available) {
    throw NothingToMeasure(
        FindingId::operands_need_memory, needed.value() / mebibyte, available.value() / mebibyte);
  }
  return device.open_gemm(problem);
}
}  // namespace

std::vector<GemmFormat> gemm_formats(Suite suite, int compute_capability) {
  const NumberFormat half =
      has_format(NumberFormat::bf16, compute_capability) ? NumberFormat::bf16 : NumberFormat::fp16;
  const NumberFormat other_half =
      half == NumberFormat::bf16 ? NumberFormat::fp16 : NumberFormat::bf16;
  std::vector<NumberFormat> order{
      half, NumberFormat::fp8_e4m3, NumberFormat::tf32, NumberFormat::fp32};
  if (suite == Suite::standard) {
    order.insert(order.end(),
                 {other_half,
                  NumberFormat::fp8_e5m2,
                  NumberFormat::fp8_block,
                  NumberFormat::int8,
                  NumberFormat::fp64,
                  NumberFormat::mxfp8,
                  NumberFormat::nvfp4});
  }
  std::vector<GemmFormat> formats;
  for (const NumberFormat format : order) {
    if (!has_format(format, compute_capability)) continue;
    formats.push_back({format, true, format == half || format == NumberFormat::fp8_e4m3});
    // Where precise accumulation is slower, both are worth measuring.
    const bool both = compute_capability == 89 || compute_capability == 90;
    if (suite == Suite::standard && is_fp8(format) && both) formats.push_back({format, false});
  }
  return formats;
}

GemmEffort gemm_effort(Suite suite, bool leading) {
  GemmEffort effort;
  effort.brief = {.wanted = 16, .large_workspace = false, .coarse_limit = Seconds(0.5), .kept = 2};
  if (suite == Suite::quick) {
    effort.reference = {.wanted = 32, .coarse_limit = Seconds(1.0), .kept = 3};
    // Three windows: where clocks settle later the last one counts, with a warning.
    effort.sustained.maximum = Seconds(6.0);
    effort.shape_search = Seconds(8.0);
    effort.shape_trials = leading ? 24 : 0;  // the published shapes and one move in each direction
    return effort;
  }
  if (leading) {
    effort.sustained.minimum = Seconds(3.0);
    effort.other_cubes = true;
    effort.patterns = {OperandData::normal, OperandData::zero};
  }
  effort.shape_search = Seconds(30.0);     // so that the suite ends in minutes; presumed
  effort.shape_trials = leading ? 80 : 0;  // H200: 11 to 18, then three dull moves
  return effort;
}

std::vector<std::vector<std::size_t>> device_kinds(const std::vector<DeviceDescription>& devices) {
  std::vector<std::vector<std::size_t>> kinds;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto known = std::ranges::find_if(kinds, [&](const auto& equal) {
      return kind_of(devices[equal.front()]) == kind_of(devices[i]);
    });
    if (known == kinds.end()) {
      kinds.push_back({i});
    } else {
      known->push_back(i);
    }
  }
  return kinds;
}

Seconds search_time(const SearchEffort& effort) {
  const double proposals = std::min(effort.wanted, usual_proposals);
  const double finalists = static_cast<double>(effort.kept);
  const Seconds coarse =
      // Half again for the warm-up of each, as in gemm_search.cpp.
      std::min(proposals * (load_time + 1.5 * effort.coarse), effort.coarse_limit);
  const Seconds fine = static_cast<double>(effort.rounds) * (effort.fine_sample + effort.coarse);
  return open_time + effort.wake_up + coarse + finalists * (verify_time + fine);
}

Seconds format_time(const GemmEffort& effort) {
  const SustainedRule& rule = effort.sustained;
  const Seconds cold = 2.0 * (rule.window + settle_time);
  const double cubes = effort.other_cubes ? 2.0 : 0.0;
  const double trials = static_cast<double>(std::min(effort.shape_trials, usual_trials));
  const double patterns = static_cast<double>(effort.patterns.size());
  const double shapes = effort.shape_trials > 0 ? 2.0 : 1.0;
  return shapes * search_time(effort.reference) + (1.0 + 0.5 * cubes) * search_time(effort.brief) +
         (shapes + patterns) * (effort.pause + burst_time) + (shapes + cubes) * cold +
         2.0 * patterns * (rule.window + settle_time) +
         std::min(effort.shape_search, trials * trial_time);
}

Seconds own_product_time(const GemmEffort& effort) {
  return search_time(effort.reference) + 2.0 * (effort.sustained.window + settle_time) +
         effort.pause + burst_time;
}

Flops gemm_flops(const GemmProblem& problem) {
  return Flops(2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.n) *
               static_cast<double>(problem.k) * static_cast<double>(problem.batch));
}

Bytes gemm_footprint(const GemmProblem& problem) {
  const auto m = static_cast<double>(problem.m);
  const auto n = static_cast<double>(problem.n);
  const auto k = static_cast<double>(problem.k);
  return Bytes(static_cast<double>(problem.batch) *
               (element_bytes(problem.input) * (m * k + k * n) +
                output_element_bytes(problem.input) * m * n));
}

int rotating_sets(Bytes footprint, Bytes l2_cache) {
  if (footprint.value() <= 0.0) return 2;
  const double sets = std::ceil(2.0 * l2_cache.value() / footprint.value());
  // Beyond 4,096 products are so small that launches decide; the number only bounds memory.
  return static_cast<int>(std::clamp(sets, 2.0, 4096.0));
}

Bytes gemm_memory(const GemmProblem& problem, Bytes l2_cache) {
  const Bytes footprint = gemm_footprint(problem);
  return static_cast<double>(rotating_sets(footprint, l2_cache)) * footprint +
         Bytes(256.0 * mebibyte);  // the largest workspace that is asked for
}

std::optional<Finding> shape_objection(const GemmProblem& problem) {
  if (problem.m < 1 || problem.n < 1 || problem.k < 1 || problem.batch < 1)
    return FindingId::sides_below_one;
  constexpr std::int64_t greatest = std::numeric_limits<std::int32_t>::max();
  if (std::max({problem.m, problem.n, problem.k, problem.batch}) > greatest)
    return Finding(FindingId::sides_beyond_library, greatest);
  const auto [outer, inner] = granularity(problem.input);
  const std::int64_t m = rounded_up(problem.m, outer);
  const std::int64_t n = rounded_up(problem.n, outer);
  const std::int64_t k = rounded_up(problem.k, inner);
  if (m == problem.m && n == problem.n && k == problem.k) return std::nullopt;
  return Finding(FindingId::sides_not_multiples, key_of(problem.input), outer, inner, m, n, k);
}

std::string gemm_problem_name(const GemmProblem& problem) {
  std::string name =
      fmt::format("{} {} x {} x {}", key_of(problem.input), problem.m, problem.n, problem.k);
  if (problem.batch > 1) name += fmt::format(", batch {}", problem.batch);
  if (is_fp8(problem.input) && !problem.fast_accumulation) name += ", precise accumulation";
  return name;
}

BatchOptions gemm_batch(const GemmPace& pace, double product_s, int launches, int most_at_once) {
  BatchOptions options;
  options.maximum_repetitions = std::max(1, options.maximum_repetitions / std::max(1, launches));
  if (most_at_once > 0) {
    options.maximum_repetitions = std::min(options.maximum_repetitions, most_at_once);
  }
  const auto samples = static_cast<double>(std::max<std::size_t>(1, pace.target.minimum_samples));
  options.batch = std::min(options.batch, pace.target.time_budget / samples);
  options.warm_up = pace.warm_up;
  if (product_s > 0.0) {
    const double needed = std::ceil(options.batch.value() / product_s);
    const auto most = static_cast<double>(options.maximum_repetitions);
    options.repetitions = static_cast<int>(std::clamp(needed, 1.0, most));
  }
  return options;
}

ChosenGemm::ChosenGemm(Device& device,
                       GemmSubject subject,
                       const SearchEffort& effort,
                       Recorder& recorder)
    : subject_(std::move(subject)),
      session_(opened(device, subject_.problem)),
      choice_(search_algorithm(*session_, subject_, effort, recorder)) {}

FlopPerSecond ChosenGemm::best_rate() const {
  return gemm_rate(subject_.problem, choice_.best_s);
}

void ChosenGemm::fill(OperandData data) {
  if (data != subject_.data) session_->fill(data);
  subject_.data = data;
}

Point ChosenGemm::burst(Seconds pause) {
  GemmPace pace = gap_free(burst_time, burst_samples);
  pace.pause = pause;
  DeviceMeasured measured = session_->time(choice_.best, pace);
  keep_highest_clock(measured);
  return gemm_point(subject_, Pass::burst, choice_.best, measured);
}

Point ChosenGemm::steady(Pass pass, const SustainedRule& rule) {
  for (Seconds elapsed = rule.window;; elapsed += rule.window) {
    check_interrupt();
    // Of products that outlast a window: enough for its slope and spread.
    GemmPace pace = gap_free(rule.window, 7);
    pace.warm_up = settle_time;
    DeviceMeasured measured = session_->time(choice_.best, pace);
    const auto [sustained, moved] = steadiness(measured, rule);
    if (elapsed < rule.maximum && (elapsed < rule.minimum || !sustained)) continue;
    const Finding ended(sustained ? FindingId::rate_sustained : FindingId::rate_not_sustained,
                        elapsed.value(),
                        moved);
    measured.stop_reason.push_back(ended);
    if (!sustained) measured.warnings.push_back(ended);
    return gemm_point(subject_, pass, choice_.best, measured);
  }
}
}  // namespace scaleworth::probes
