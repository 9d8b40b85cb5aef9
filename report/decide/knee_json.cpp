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

Json interval(const std::optional<Interval<double>>& one) {
  return one ? Json{json_value(one->low), json_value(one->high)} : Json(nullptr);
}

}  // namespace

Json gap_json(const decide::Gap& one) {
  const auto loss = [](const decide::CauseLoss& each) {
    return Json{{"cause", decide::cause_name(each.cause)},
                {"lost_s", json_value(each.lost_s)},
                {"share", json_value(each.share)},
                {"share_by_fits", interval(each.spread)}};
  };
  return {{"count", one.count},
          {"lost_s", json_value(one.lost_s)},
          {"causes", json_array(one.losses, loss)},
          {"latency_share_of_communication", json_value(one.latency_share)}};
}

namespace {

Json fit(const decide::LawReading& one) {
  return {{"fit", one.fit},
          {"serial", json_value(one.serial)},
          {"serial_folds", json_value(one.serial_folds)},
          {"overhead_folds", json_value(one.overhead_folds)},
          {"unexplained_folds", json_value(one.unexplained_folds)},
          {"serial_share_of_seconds", json_value(one.serial_share)},
          {"residual", json_value(one.residual)},
          {"holds", one.holds}};
}

Json spread(const decide::LawSpread& one) {
  return {{"count", one.count},
          {"missing_folds", json_value(one.missing)},
          {"serial_share_by_fits", interval(one.by_fits)},
          {"serial_share_with_noise", interval(one.serial_share)},
          {"fits", json_array(one.readings, fit)}};
}

Json remedy(const decide::Remedy& one, const std::optional<double>& latency_share) {
  return {{"cause", decide::cause_name(one.cause)},
          {"change", decide::remedy_change(one.cause)},
          {"means", decide::remedy_means(one.cause, latency_share)},
          {"before", knee(one.before)},
          {"after", knee(one.after)},
          {"saves", json_value(one.saved)},
          {"moves", one.moves ? Json(*one.moves) : Json(nullptr)}};
}

}  // namespace

Json knees_json(const decide::KneeSet& set) {
  return {{"basis", set.basis},
          {"threshold", json_value(set.request.threshold)},
          {"threshold_given", set.request.threshold_given},
          {"definitions", json_array(set.knees, knee)},
          {"kneedle_for_comparison", json_array(set.kneedle, reading)}};
}

Json diagnosis_json(const decide::Diagnosis& diagnosis) {
  const auto told = [&](const decide::Remedy& one) {
    return remedy(one, diagnosis.decisive ? diagnosis.decisive->latency_share : std::nullopt);
  };
  return {{"by_law_alone", diagnosis.by_law},
          {"gaps", json_array(diagnosis.gaps, gap_json)},
          {"fits", diagnosis.spread ? spread(*diagnosis.spread) : Json(nullptr)},
          {"remedies", json_array(diagnosis.remedies, told)}};
}

}  // namespace scaleworth::report
