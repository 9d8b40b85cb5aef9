// SPDX-License-Identifier: Apache-2.0
#include "src/core/run/fields.h"
#include "src/core/statistics/interval.h"
#include "src/core/statistics/ratio.h"
#include "src/model/findings/sentences.h"

#include <optional>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

const Point* variant_point(const ProbeRecord& probe, const std::string& variant) {
  for (const Point& point : probe.points) {
    if (text_parameter(point, fields::variant) != variant) continue;
    return series(point, fields::step_s).empty() ? nullptr : &point;
  }
  return nullptr;
}

std::optional<std::string> ratio_text(const ProbeRecord& probe, const std::string& variant) {
  const Point* plain = variant_point(probe, "launched");
  const Point* other = variant_point(probe, variant);
  if (plain == nullptr || other == nullptr) return std::nullopt;
  const Estimate<double> times = ratio(median_estimate(series(*other, fields::step_s)),
                                       median_estimate(series(*plain, fields::step_s)));
  if (!times.interval) return fmt::format("{:.4f}", times.value);
  return fmt::format(
      "{:.4f} [{:.4f}, {:.4f}]", times.value, times.interval->low, times.interval->high);
}

}  // namespace

void add_step_variants(const Run& run, std::vector<Finding>& findings) {
  const ProbeRecord* probe = find_probe(run, fields::step_variants);
  if (probe == nullptr) return;
  if (const auto graphs = ratio_text(*probe, "graphs")) {
    findings.push_back({"A step replayed from CUDA graphs takes " + *graphs +
                        " times as long as one launched kernel by kernel."});
  }
  if (const auto traced = ratio_text(*probe, "traced")) {
    findings.push_back({"Tracing by CUPTI makes a step " + *traced + " times as long."});
  }
}

}  // namespace scaleworth::model
