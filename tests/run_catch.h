// SPDX-License-Identifier: Apache-2.0
/// Runs Catch2's cases; its runner is compiled once for all test programs.
#pragma once

namespace scaleworth::tests {

/// 0 when each case that the arguments choose has passed; 77, which ctest shows as skipped, when
/// none failed but one called skip(); 1 otherwise. (Catch2's own exit code is the number of
/// failures, which can be 77 too.)
int run_catch(int argc, char** argv);

}  // namespace scaleworth::tests
