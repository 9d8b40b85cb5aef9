// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/gemm/search/settle.h"

#include "src/core/interrupt.h"
#include "src/core/statistics/quantile.h"

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

double clock_of(const DeviceMeasured& measured) {
  if (const auto clock = median(measured.clock_hz)) return *clock;
  return 1.0 / median(measured.time_s).value_or(1.0);
}

}  // namespace

void SettleWatch::add(Seconds piece, double clock, std::optional<double> power_w) {
  elapsed_ += piece;
  pieces_.push_back({elapsed_.value(), clock, power_w});
}

std::optional<double> SettleWatch::change(bool of_power) const {
  const double from = elapsed_.value() - rule_.window.value() - 1e-9;
  double count = 0.0;
  double sum_t = 0.0;
  double sum_y = 0.0;
  double sum_tt = 0.0;
  double sum_ty = 0.0;
  for (const Piece& piece : pieces_) {
    if (piece.end_s <= from) continue;
    if (of_power && !piece.power_w) return std::nullopt;
    const double t = piece.end_s - elapsed_.value();
    const double y = of_power ? *piece.power_w : piece.clock;
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
  const std::optional<double> clock = change(false);
  if (!clock || *clock >= rule_.change) return false;
  return change(true).value_or(0.0) < rule_.change;
}

std::string SettleWatch::explanation() const {
  const auto percent = [](std::optional<double> value) {
    return value ? fmt::format("{:.2g} %", 100.0 * *value) : std::string("n/a");
  };
  return fmt::format("{} after {:.2g} s (over the last {:.2g} s: clock {}, power {})",
                     settled() ? "settled" : "not settled",
                     elapsed_.value(),
                     rule_.window.value(),
                     percent(change(false)),
                     percent(change(true)));
}

SettleWatch settle(GemmSession& session, const GemmCandidate& candidate, const SettleRule& rule) {
  SettleWatch watch(rule);
  const Seconds piece = rule.window / static_cast<double>(pieces_per_window);
  GemmPace pace;
  pace.target = {.relative_half_width = 0.0, .minimum_samples = 1, .time_budget = piece};
  while (!watch.finished()) {
    check_interrupt();
    const DeviceMeasured measured = session.time(candidate, pace);
    watch.add(piece, clock_of(measured), mean_power(measured.telemetry));
  }
  return watch;
}

}  // namespace scaleworth::probes
