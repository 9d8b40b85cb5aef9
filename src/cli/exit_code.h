// SPDX-License-Identifier: Apache-2.0
/// What the process tells its caller.
#pragma once

namespace scaleworth::cli {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;   // a probe or a check failed
inline constexpr int exit_usage = 2;    // wrong usage or unreadable input
inline constexpr int exit_nothing = 3;  // nothing measurable here
/// Ended by a signal after keeping what was measured: 128 + signal, as shells report it.
constexpr int exit_interrupted(int signal) {
  return 128 + signal;
}

}  // namespace scaleworth::cli
