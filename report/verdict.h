// SPDX-License-Identifier: Apache-2.0
/// The first lines of a report: is scaling worth it on this machine, by which rule, and how much.
#pragma once

#include "src/model/analysis.h"

#include <string>
#include <vector>

namespace scaleworth::report {

enum class Answer { yes, no, unknown };

struct Verdict {
  Answer answer = Answer::unknown;
  std::string headline;            // one sentence with its numbers
  std::vector<std::string> lines;  // rule, cause, prediction, cost
};

/// Judges the strong-scaling counts in order. Going from K1 to K2 ranks is worth it when it saves
/// more time than it adds cost: g > (K2/K1) / g, that is g > sqrt(K2/K1) with the gain g = T1/T2.
/// The gain's interval (ratio() of src/core/statistics) must lie wholly on one side, else that step
/// is undecided. The answer is unknown when there are not two counts, when the losses
/// disagree across counts, or when the first step is undecided.
Verdict judge(const model::Analysis& analysis, const model::AnalysisOptions& assumptions);

}  // namespace scaleworth::report
