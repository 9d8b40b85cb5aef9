// SPDX-License-Identifier: Apache-2.0
/// Runs Catch2's cases from a main of one's own; Catch2's runner is compiled once for all of them.
#pragma once

namespace scaleworth::tests {

/// Catch2's exit code: 0 when each case that the arguments choose has passed.
int run_catch(int argc, char** argv);

}  // namespace scaleworth::tests
