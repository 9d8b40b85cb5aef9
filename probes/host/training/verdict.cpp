// SPDX-License-Identifier: Apache-2.0
#include "probes/host/training/verdict.h"

#include "src/core/error.h"
#include "src/core/interrupt.h"

#include <csignal>

namespace scaleworth::probes::host {

Verdict failed(const std::string& reason) {
  Verdict verdict;
  verdict.kind = Verdict::Kind::failed;
  reason.copy(verdict.reason.data(), verdict.reason.size() - 1);
  return verdict;
}

Verdict interrupted() {
  Verdict verdict;
  verdict.kind = Verdict::Kind::interrupted;
  // Another rank may have got the signal that ends this one.
  verdict.signal = interrupt_signal() != 0 ? interrupt_signal() : SIGINT;
  return verdict;
}

void raise(const Verdict& verdict) {
  if (verdict.kind == Verdict::Kind::failed) throw ProbeFailure(verdict.reason.data());
  if (verdict.kind == Verdict::Kind::interrupted) throw Interrupted(verdict.signal);
}

}  // namespace scaleworth::probes::host
