// SPDX-License-Identifier: Apache-2.0
#include "report/json/parts.h"

namespace scaleworth::report {
namespace {

Json point(const model::CollectivePoint& value) {
  return {{"message_bytes", json_value(value.message)},
          {"time_s", json_value(value.time)},
          {"algbw_bytes_per_s", json_value(value.algorithm_bandwidth)},
          {"busbw_bytes_per_s", json_value(value.bus_bandwidth)}};
}

Json segment(const model::CommunicationSegment& value) {
  return {{"smallest_bytes", json_value(value.smallest)},
          {"largest_bytes", json_value(value.largest)},
          {"alpha_s", json_value(value.alpha)},
          {"beta_s_per_byte", json_value(value.beta)},
          {"sqrt_coefficient_s_per_sqrt_byte", json_value(value.sqrt_coefficient)}};
}

Json fit(const model::CommunicationFit& value) {
  return {{"form", value.form},
          {"segments", json_array(value.segments, segment)},
          {"held_out_error", json_value(value.held_out_error)},
          {"median_residual", json_value(value.median_residual)}};
}

}  // namespace

Json json_collective(const model::CollectiveResult& collective) {
  const bool any = collective.chosen < collective.fits.size();
  return {{"collective", collective.collective},
          {"mode", collective.mode},
          {"ranks", collective.ranks},
          {"chosen_form", any ? Json(collective.fits[collective.chosen].form) : Json(nullptr)},
          {"fits", json_array(collective.fits, fit)},
          {"points", json_array(collective.points, point)}};
}

}  // namespace scaleworth::report
