// SPDX-License-Identifier: Apache-2.0
/// How thorough a run is.
#pragma once

#include <string>

namespace scaleworth::probes {

/// quick: under a minute, coarse grids. standard: about four minutes, six on a GPU, the full grids.
enum class Suite { quick, standard };
const char* suite_name(Suite suite);
/// Throws UserError listing the known names.
Suite parse_suite(const std::string& name);

}  // namespace scaleworth::probes
