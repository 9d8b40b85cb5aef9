// SPDX-License-Identifier: Apache-2.0
/// Which probes a command will run and how long that takes; needs no measurement and no GPU.
#pragma once

#include "probes/registry.h"

#include <span>
#include <stdexcept>
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

/// The registry's entry of a planned probe. Throws std::logic_error for a name that is not in it.
template <class Probe>
const Probe& find_probe(std::span<const Probe> probes, const std::string& name) {
  for (const Probe& probe : probes) {
    if (probe.name == name) return probe;
  }
  throw std::logic_error("no probe is named " + name);
}

/// The probes of the registry whose name, or first word before the dot, is in `only`; all for an
/// empty `only`. Throws UserError naming the known probes for a word that matches none.
Plan make_plan(const probes::Setting& setting,
               const std::vector<std::string>& only,
               const std::vector<probes::GemmWork>& own_gemms = {});

/// One line per probe with its estimate and question, then overhead and total.
std::string table_of(const Plan& plan);

/// The plan as --dry-run prints it.
std::string describe(const Plan& plan, const probes::Setting& setting);

}  // namespace scaleworth::cli
