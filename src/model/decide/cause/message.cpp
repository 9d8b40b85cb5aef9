// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/cause/message.h"

#include "src/core/error.h"

#include <cmath>

namespace scaleworth::decide {
namespace {

void check(const MessageTerms& terms, int count) {
  const auto positive = [](double value) { return value > 0.0 && std::isfinite(value); };
  if (!positive(terms.latency.value()) || !positive(terms.bandwidth.value()) ||
      !positive(terms.message.value())) {
    throw UserError("--alpha-us, --beta-gbs and --message-mb must be above 0");
  }
  if (count < 2) throw UserError("one rank alone does not communicate");
}

}  // namespace

double latency_share(const MessageTerms& terms, int count) {
  check(terms, count);
  const double transfer = (terms.message / terms.bandwidth).value() / count;
  return terms.latency.value() / (terms.latency.value() + transfer);
}

Bytes balanced_message(const MessageTerms& terms, int count) {
  check(terms, count);
  return terms.latency * terms.bandwidth * static_cast<double>(count);
}

}  // namespace scaleworth::decide
