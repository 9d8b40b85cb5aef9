// SPDX-License-Identifier: Apache-2.0
/// What this node is, before anything is measured.
#pragma once

#include "src/core/run/record.h"

#include <vector>

namespace scaleworth::probes::host {

/// Sections cpu, memory, limits, virtualisation and software, each fact with its source or the
/// reason for its absence. Never throws for a fact that cannot be had.
std::vector<FactSection> host_facts();

}  // namespace scaleworth::probes::host
