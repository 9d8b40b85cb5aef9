// SPDX-License-Identifier: Apache-2.0
/// Which probes a command will run and how long that takes; needs no measurement and no GPU.
#pragma once

#include "probes/registry.h"

#include <string>
#include <vector>

namespace scaleworth::cli {

struct PlannedProbe {
  std::string name;
  std::string question;
  Seconds estimate;
  bool on_ranks = false;
};

struct Plan {
  std::vector<PlannedProbe> probes;
  /// Starting processes, writing, telling: what no probe accounts for.
  Seconds overhead;
  Seconds total() const;
};

/// The probes of the registry whose name, or first word before the dot, is in `only`; all for an
/// empty `only`. Throws UserError naming the known probes for a word that matches none.
Plan make_plan(const probes::Setting& setting, const std::vector<std::string>& only);

/// The plan as --dry-run prints it.
std::string describe(const Plan& plan, const probes::Setting& setting);

}  // namespace scaleworth::cli
