// SPDX-License-Identifier: Apache-2.0
/// Room that resource limits leave this process for new mappings.
#pragma once

#include "src/core/units.h"

#include <optional>

namespace scaleworth::probes::host {

/// The smaller of RLIMIT_AS less the mapped size and RLIMIT_DATA less the private writable size
/// (getrlimit(2); sizes from /proc/self/statm). Absent when neither is limited or the sizes cannot
/// be read; 0 when a limit is already exceeded.
std::optional<Bytes> limited_address_space();

}  // namespace scaleworth::probes::host
