// SPDX-License-Identifier: Apache-2.0
/// How a training ended, in a form that ranks can send each other.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace scaleworth::probes::host {

struct Verdict {
  enum class Kind : std::int32_t { done, failed, interrupted };
  Kind kind = Kind::done;
  std::int32_t signal = 0;
  std::array<char, 248> reason{};
};

/// Cut to what fits.
Verdict failed(const std::string& reason);
Verdict interrupted();
/// ProbeFailure or Interrupted; nothing when done.
void raise(const Verdict& verdict);

}  // namespace scaleworth::probes::host
