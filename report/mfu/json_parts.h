// SPDX-License-Identifier: Apache-2.0
/// What the JSON documents of `scaleworth mfu` share: the verdict, and what the tables' notes say.
#pragma once

#include "report/document.h"
#include "report/json/parts.h"

#include <initializer_list>
#include <string>

namespace scaleworth::report {

/// {"answer", "headline", "lines"}; the answer is "yes", "no" or "unknown".
inline Json json_verdict(const Verdict& verdict) {
  const char* answer = verdict.answer == Answer::yes  ? "yes"
                       : verdict.answer == Answer::no ? "no"
                                                      : "unknown";
  return {{"answer", answer}, {"headline", verdict.headline}, {"lines", verdict.lines}};
}

/// The notes of tables, in their order: what their columns mean and stand on.
inline Json json_notes(std::initializer_list<Table> tables) {
  Json notes = Json::array();
  for (const Table& table : tables) {
    for (const std::string& note : table.notes) notes.push_back(note);
  }
  return notes;
}

/// USD per hour; null without a price.
inline Json json_hourly(const std::optional<DollarsPerSecond>& rate) {
  return rate ? json_value(rate->value() * 3600.0) : Json(nullptr);
}

}  // namespace scaleworth::report
