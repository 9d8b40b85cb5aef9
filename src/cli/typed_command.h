// SPDX-License-Identifier: Apache-2.0
/// The command as a person typed it, to be typed again.
#pragma once

#include "src/cli/commands/commands.h"

#include <string>

namespace scaleworth::cli {

/// "scaleworth decide table.csv --price 2": without --format and --details, which the next command
/// chooses anew; words that a shell would take apart are quoted.
std::string typed_command(const Arguments& arguments);

}  // namespace scaleworth::cli
