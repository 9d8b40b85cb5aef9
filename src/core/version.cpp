// SPDX-License-Identifier: Apache-2.0
#include "src/core/version.h"

#include "src/core/version_generated.h"

namespace scaleworth {
std::string tool_version() {
  return generated::tool_version;
}

std::string git_revision() {
  return generated::git_revision;
}
}  // namespace scaleworth
