// SPDX-License-Identifier: Apache-2.0
#include "report/decide/knee_json.h"

namespace scaleworth::report {
namespace {

const char* kind_name(decide::KneeKind kind) {
  switch (kind) {
    case decide::KneeKind::efficiency:
      return "efficiency threshold";
    case decide::KneeKind::slope:
      return "slope threshold";
    case decide::KneeKind::speed_per_rank:
      return "speed-up x efficiency";
    case decide::KneeKind::cost:
      return "cost";
    case decide::KneeKind::peak:
      break;
  }
  return "peak";
}

Json knee(const decide::Knee& one) {
  return {{"definition", kind_name(one.kind)},
          {"count", json_value(one.count)},
          {"position", json_value(one.position)},
          {"low", json_value(one.low)},
          {"high", json_value(one.high)},
          {"beyond_measured", one.beyond}};
}

Json reading(const decide::KneedleReading& one) {
  return {{"from", one.from}, {"to", one.to}, {"count", json_value(one.knee)}};
}

}  // namespace

Json knees_json(const decide::KneeSet& set) {
  return {{"basis", set.basis},
          {"threshold", json_value(set.request.threshold)},
          {"threshold_given", set.request.threshold_given},
          {"definitions", json_array(set.knees, knee)},
          {"kneedle_for_comparison", json_array(set.kneedle, reading)}};
}

}  // namespace scaleworth::report
