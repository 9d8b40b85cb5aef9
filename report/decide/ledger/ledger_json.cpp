// SPDX-License-Identifier: Apache-2.0
#include "report/decide/ledger/ledger_json.h"

#include "report/decide/knee_json.h"

#include <chrono>

namespace scaleworth::report {
namespace {

double seconds(attribution::Nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

Json factors(const attribution::Efficiency& one) {
  return {{"parallel", json_value(one.parallel)},
          {"load_balance", json_value(one.load_balance)},
          {"host", json_value(one.host)},
          {"dependency", json_value(one.dependency)},
          {"transfer", json_value(one.transfer)},
          {"step_s", json_value(seconds(one.runtime))},
          {"useful_s_by_rank", json_array(one.useful, [](auto time) { return seconds(time); })},
          {"of", json_note(one.window)}};
}

Json ledger(const decide::LedgerFacts& one) {
  return {{"count", one.count},
          {"factors", one.factors ? factors(*one.factors) : Json(nullptr)},
          {"no_factors", json_note(one.no_factors)},
          {"culprit", json_note(one.culprit)}};
}

}  // namespace

Json ledgers_json(const decide::Decision& decision) {
  if (decision.ledgers.empty()) return nullptr;
  return {{"counts", json_array(decision.ledgers, ledger)},
          {"gaps_by_factors", json_array(decision.diagnosis.factor_gaps, gap_json)},
          {"cause_by_factors", decision.diagnosis.by_factors},
          {"note", json_note(decision.diagnosis.factor_note)}};
}

}  // namespace scaleworth::report
