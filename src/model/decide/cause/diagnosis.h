// SPDX-License-Identifier: Apache-2.0
/// Why a curve bends where it does, and what would move the bend.
#pragma once

#include "src/model/decide/cause/gap.h"
#include "src/model/decide/cause/law_gap.h"
#include "src/model/decide/cause/remedy.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

struct Diagnosis {
  std::vector<Gap> gaps;        // by parts or coefficients; empty where the table has only totals
  std::optional<Gap> decisive;  // at the count whose cause is asked for
  std::optional<LawSpread> spread;           // of measured rows
  std::optional<model::ScalingCause> cause;  // at the count asked for
  bool by_law = false;                       // the cause stands on fits alone, not on parts
  std::string no_cause;                      // why there is none
  std::vector<Remedy> remedies;              // the most effective first
  std::optional<MessageTerms> message;
  // Of recordings alone.
  std::vector<Gap> factor_gaps;  // by POP factors, relative to the baseline's
  bool by_factors = false;       // `decisive` and `cause` are theirs
  std::string factor_note;       // where they and the parts tell different causes, or why they lack
  std::string culprit;           // for whom the others wait at the count asked for, and why
};

/// Of measured rows. With parts the cause is theirs, at the largest count. With totals alone it is
/// named only where every fit that holds, and 95 % of its draws, give one owner at least
/// `model::owner_threshold`; `predictable` is false beyond a cliff, where no law says anything.
Diagnosis diagnose_table(const std::vector<DecisionRow>& rows,
                         const std::vector<RowLoss>& losses,
                         const KneeSet& knees,
                         bool predictable,
                         const std::optional<MessageTerms>& message);

/// Brings in what recordings tell: the gaps by POP factors, which then decide on the cause where
/// both the baseline and the largest count have them, and the culprit there. Shares of a cause that
/// differ from the additive parts' by more than 10 points are noted: factors follow waiting back to
/// what it waited for, parts do not.
void add_ledgers(Diagnosis& diagnosis,
                 const std::vector<DecisionRow>& rows,
                 const std::vector<LedgerFacts>& ledgers);

/// Of coefficients, at `count`; gaps at `shown`.
Diagnosis diagnose_curve(const Coefficients& coefficients,
                         int count,
                         const std::vector<int>& shown,
                         const KneeSet& knees,
                         const std::optional<MessageTerms>& message);

}  // namespace scaleworth::decide
