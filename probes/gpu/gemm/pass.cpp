// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/pass.h"

#include "probes/gpu/gemm/shape_rules.h"
#include "src/core/error.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

std::unique_ptr<GemmSession> opened(Device& device, const GemmProblem& problem) {
  if (const auto objection = shape_objection(problem)) throw NothingToMeasure(*objection);
  const Bytes needed = gemm_memory(problem, device.description().l2_cache);
  const Bytes available = device.available_memory();
  if (needed > available) {
    throw NothingToMeasure(fmt::format("its operands need {:.0f} MiB, {:.0f} MiB are free",
                                       needed.value() / mebibyte,
                                       available.value() / mebibyte));
  }
  return device.open_gemm(problem);
}

}  // namespace

std::string require_gemm_library(Device& device) {
  Outcome<std::string> library = device.gemm_library();
  if (const auto* skipped = std::get_if<Skipped>(&library)) throw NothingToMeasure(skipped->reason);
  if (const auto* failed = std::get_if<Failed>(&library)) throw ProbeFailure(failed->reason);
  return std::get<std::string>(library);
}

GemmPace duty_cycled_pace(Seconds time) {
  GemmPace pace;
  pace.regime = GemmRegime::duty_cycled;
  pace.target = {
      .relative_half_width = 0.0, .minimum_samples = 7, .maximum_samples = 50, .time_budget = time};
  return pace;
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

Point ChosenGemm::timed(const std::string& pass, const GemmPace& pace, const std::string& remark) {
  DeviceMeasured measured = session_->time(choice_.best, pace);
  if (!remark.empty()) measured.stop_reason += "; " + remark;
  return gemm_point(subject_, pass, pace.regime, choice_.best, measured);
}

Point ChosenGemm::burst(Seconds pause) {
  GemmPace pace;
  pace.pause = pause;
  pace.target = {.relative_half_width = 0.0, .minimum_samples = 5, .time_budget = burst_time};
  return timed("burst", pace);
}

Point ChosenGemm::steady(const std::string& pass, const SettleRule& rule, Seconds time) {
  const SettleWatch watch = settle(*session_, choice_.best, rule);
  GemmPace pace;
  pace.target = {.relative_half_width = 0.0, .minimum_samples = 7, .time_budget = time};
  Point point = timed(pass, pace, watch.explanation());
  if (!watch.settled()) point.warnings.push_back(watch.explanation());
  return point;
}

Point ChosenGemm::duty_cycled() {
  return timed("duty-cycled", duty_cycled_pace(Seconds(0.2)));
}

}  // namespace scaleworth::probes
