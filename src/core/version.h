// SPDX-License-Identifier: Apache-2.0
/// Which scaleworth this is. Library scaleworth_version, linked by the program only, so that a
/// commit relinks nothing else.
#pragma once

#include <string>

namespace scaleworth {
/// The version of the project: "0.1.0".
std::string tool_version();

/// The commit that was built, 12 hexadecimal digits, with "-modified" where tracked files differed
/// from it; "unknown" when built outside a git checkout.
std::string git_revision();
}  // namespace scaleworth
