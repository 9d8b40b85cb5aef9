// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/search/settle.h"

#include "src/core/interrupt.h"
#include "src/core/statistics/quantile.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::probes {
namespace {

constexpr int pieces_per_window = 8;

/// Mean of the readings that were not refused.
std::optional<double> mean_power(const Telemetry& telemetry) {
  double sum = 0.0;
  int count = 0;
  for (const double power : telemetry.power_w) {
    if (!std::isfinite(power)) continue;
    sum += power;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

}  // namespace

void SettleWatch::add(Seconds duration, const SettlePiece& piece) {
  elapsed_ += duration;
  pieces_.push_back({elapsed_.value(), piece});
}

std::optional<double> SettleWatch::value(Series series, const SettlePiece& piece) {
  if (series == Series::clock) return piece.clock_hz;
  if (series == Series::power) return piece.power_w;
  if (piece.product_s <= 0.0) return std::nullopt;
  return 1.0 / piece.product_s;
}

bool SettleWatch::in_window(const Ended& ended) const {
  return ended.end_s > elapsed_.value() - rule_.window.value() - 1e-9;
}

SettleWatch::Series SettleWatch::speed() const {
  const bool counted = std::ranges::all_of(pieces_, [&](const Ended& ended) {
    return !in_window(ended) || ended.piece.clock_hz.has_value();
  });
  return counted ? Series::clock : Series::rate;
}

std::optional<double> SettleWatch::change(Series series) const {
  double count = 0.0;
  double sum_t = 0.0;
  double sum_y = 0.0;
  double sum_tt = 0.0;
  double sum_ty = 0.0;
  for (const Ended& ended : pieces_) {
    if (!in_window(ended)) continue;
    const std::optional<double> read = value(series, ended.piece);
    if (!read) return std::nullopt;
    const double t = ended.end_s - elapsed_.value();
    const double y = *read;
    count += 1.0;
    sum_t += t;
    sum_y += y;
    sum_tt += t * t;
    sum_ty += t * y;
  }
  const double determinant = count * sum_tt - sum_t * sum_t;
  if (elapsed_ < rule_.window || determinant <= 0.0 || sum_y == 0.0) return std::nullopt;
  const double slope = (count * sum_ty - sum_t * sum_y) / determinant;
  return std::abs(slope) * rule_.window.value() / (sum_y / count);
}

bool SettleWatch::settled() const {
  if (elapsed_ < rule_.minimum) return false;
  const std::optional<double> of_speed = change(speed());
  if (!of_speed || *of_speed >= rule_.change) return false;
  return change(Series::power).value_or(0.0) < rule_.change;
}

std::string SettleWatch::explanation() const {
  const auto percent = [](std::optional<double> value) {
    return value ? fmt::format("{:.2g} %", 100.0 * *value) : std::string("n/a");
  };
  const bool counted = speed() == Series::clock;
  return fmt::format("{} after {:.2g} s (over the last {:.2g} s: {} {}, power {}{})",
                     settled() ? "settled" : "not settled",
                     elapsed_.value(),
                     rule_.window.value(),
                     counted ? "clock" : "rate",
                     percent(change(speed())),
                     percent(change(Series::power)),
                     counted ? "" : "; the clock could not be counted");
}

SettleWatch settle(GemmSession& session, const GemmCandidate& candidate, const SettleRule& rule) {
  SettleWatch watch(rule);
  const Seconds piece = rule.window / static_cast<double>(pieces_per_window);
  GemmPace pace;
  pace.target = {.relative_half_width = 0.0, .minimum_samples = 1, .time_budget = piece};
  while (!watch.finished()) {
    check_interrupt();
    const DeviceMeasured measured = session.time(candidate, pace);
    watch.add(piece,
              {median(measured.clock_hz),
               median(measured.time_s).value_or(0.0),
               mean_power(measured.telemetry)});
  }
  return watch;
}

}  // namespace scaleworth::probes
