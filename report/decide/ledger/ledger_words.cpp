// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_view.h"

#include <cctype>

#include <fmt/format.h>

namespace scaleworth::report {

std::string culprit_line(const DecideView& view) {
  const std::string& culprit = view.decision.diagnosis.culprit;
  if (culprit.empty()) return "";
  return fmt::format("At {} the others wait for {}.", view.decision.rows.back().count, culprit);
}

std::string factor_line(const DecideView& view) {
  std::string text = view.decision.diagnosis.factor_note;
  if (text.empty()) return "";
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

}  // namespace scaleworth::report
