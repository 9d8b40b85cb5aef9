// SPDX-License-Identifier: Apache-2.0
/// The setting that plans and probes work from: this machine and what the user asked.
#pragma once

#include "probes/machine.h"
#include "probes/registry.h"
#include "src/cli/measure/measure_options.h"

#include <optional>
#include <string>

namespace scaleworth::cli {

/// `ranks` of a launcher's job; absent when we start ranks ourselves.
/// Throws UserError for more ranks than usable cores without --oversubscribe, and for a straggler
/// that is no rank.
probes::Setting make_setting(const probes::Machine& machine,
                             const MeasureOptions& options,
                             std::optional<int> ranks);

/// What a reader must know when `ranks` processes share `cores` of one node; absent when each has
/// its own.
std::optional<std::string> oversubscription(int ranks, int cores);

}  // namespace scaleworth::cli
