// SPDX-License-Identifier: Apache-2.0
/// Which scaleworth this is: a library of its own, so that a commit relinks the program only.
#pragma once

#include <string>

namespace scaleworth {
/// The version of the project: "0.1.0".
std::string tool_version();

/// The commit that was built, 12 hexadecimal digits, with "-modified" where tracked files differed
/// from it; "unknown" when built outside a git checkout.
std::string git_revision();
}  // namespace scaleworth
