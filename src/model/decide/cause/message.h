// SPDX-License-Identifier: Apache-2.0
/// What a collective's message and link say of communication: latency or bandwidth.
#pragma once

#include "src/core/units.h"

namespace scaleworth::decide {

/// alpha-beta terms of the collective that dominates, as measured by `scaleworth comm`.
struct MessageTerms {
  Seconds latency;           // alpha, of one hop
  BytesPerSecond bandwidth;  // 1/beta, of one link
  Bytes message;             // of one call, one rank's buffer
};

/// Share of a ring all-reduce that is latency, T = 2 (K-1) alpha + 2 (K-1)/K n beta:
///   alpha / (alpha + n beta/K),
/// which does not depend on the number of calls. Assumes that exposed communication divides as the
/// whole does. Throws UserError for a term that is not positive or `count` below 2.
/// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19 (2005).
double latency_share(const MessageTerms& terms, int count);

/// n = alpha K/beta: messages below it are mostly latency.
Bytes balanced_message(const MessageTerms& terms, int count);

}  // namespace scaleworth::decide
