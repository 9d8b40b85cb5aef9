// SPDX-License-Identifier: Apache-2.0
#include "src/cli/colour.h"

#include <cstdlib>

#include <unistd.h>

namespace scaleworth::cli {

bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace scaleworth::cli
