// SPDX-License-Identifier: Apache-2.0
/// Verdicts on late ranks in sentences.
#pragma once

#include "src/core/attribution/culprits.h"

#include <cstdint>
#include <string>

namespace scaleworth::trace {

/// What a sentence needs beside the culprit itself.
struct VerdictContext {
  Rank rank;                        // the culprit's number in the job
  std::int32_t steps = 0;           // that count
  attribution::Nanoseconds step{};  // their mean length
  std::int32_t ranks = 0;
  std::string place;   // ", pipeline stage 3" where known
  std::string caveat;  // appended: what else must be known to read the numbers
};

/// What the culprit costs, how often, and why.
std::string culprit_sentence(const attribution::Culprit& culprit, const VerdictContext& context);

/// "4.2 ms", "312 us", "1.8 s": three digits.
std::string time_in_words(attribution::Nanoseconds time);

}  // namespace scaleworth::trace
