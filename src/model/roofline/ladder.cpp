// SPDX-License-Identifier: Apache-2.0
#include "src/model/roofline/ladder.h"

#include "src/core/run/fields.h"
#include "src/model/roofline/samples.h"
#include "src/model/roofline/soft_roof.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

using LadderKey = std::pair<std::string, int>;  // precision, workers

/// Ladders by precision and workers, rungs by intensity; repeated rungs are pooled.
std::map<LadderKey, std::map<double, std::vector<double>>> ladders_of(const ProbeRecord& probe,
                                                                      std::size_t& contended) {
  std::map<LadderKey, std::map<double, std::vector<double>>> ladders;
  for (const Point& point : probe.points) {
    const int workers = static_cast<int>(integer_parameter(point, fields::workers));
    const Repetitions repetitions = undisturbed(point, workers);
    if (repetitions.times_s.empty()) continue;
    contended += repetitions.contended ? 1 : 0;
    const double flops = amount(point, fields::flops);
    const double intensity = flops / amount(point, fields::bytes);
    std::vector<double>& rung =
        ladders[{text_parameter(point, fields::precision), workers}][intensity];
    for (const double rate : rates(flops, repetitions.times_s)) rung.push_back(rate);
  }
  return ladders;
}

/// A peak that no rung came near is an extrapolation of the curve, not a measurement.
void warn_if_beyond_ladder(const std::string& name,
                           const SoftRoof& roof,
                           std::vector<std::string>& warnings) {
  constexpr double near_peak = 0.8;
  FlopPerSecond highest;
  for (const IntensityPoint& point : roof.points) highest = std::max(highest, point.rate.value);
  if (highest >= roof.peak.value * near_peak) return;
  warnings.push_back(
      fmt::format("{}: its peak is extrapolated, the highest rung reached {:.0f} % of it",
                  name,
                  100.0 * (highest / roof.peak.value)));
}

}  // namespace

void fit_ladders(const ProbeRecord& probe, RooflineResult& result) {
  std::size_t contended = 0;
  const auto ladders = ladders_of(probe, contended);
  warn_contended("intensity", contended, result.warnings);
  for (const auto& [key, rungs] : ladders) {
    std::vector<RoofSample> ladder;
    for (const auto& [intensity, values] : rungs) {
      ladder.push_back({FlopPerByte(intensity), values});
    }
    Outcome<SoftRoof> outcome = fit_soft_roof(ladder);
    const std::string name = fmt::format(
        "soft roof {} with {} worker{}", key.first, key.second, key.second == 1 ? "" : "s");
    if (const auto* skipped = std::get_if<Skipped>(&outcome)) {
      result.warnings.push_back(name + " not fitted: " + skipped->reason);
      continue;
    }
    auto& roof = std::get<SoftRoof>(outcome);
    roof.precision = key.first;
    roof.workers = key.second;
    if (!roof.sharpness_note.empty()) {
      result.warnings.push_back(name + ": sharpness " + roof.sharpness_note);
    }
    warn_if_beyond_ladder(name, roof, result.warnings);
    result.soft_roofs.push_back(std::move(roof));
  }
}

}  // namespace scaleworth::model
