// SPDX-License-Identifier: Apache-2.0
/// What the user says of power and of the grid.
#pragma once

#include "src/model/cost/energy.h"

#include <optional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace scaleworth::cli {

struct EnergyOptions {
  std::optional<double> watts_per_rank;
  double idle_watts_fraction = model::default_waiting_power;
  std::string grid;  // "USA", of data/grid.toml
  std::optional<double> grams_per_kwh;
};

/// Adds the flags of energy to `command`, which `options` must outlive.
void add_energy_flags(CLI::App& command, EnergyOptions& options);

/// Throws UserError for an unknown region, or a region beside an intensity of one's own.
model::PowerTerms power_of(const EnergyOptions& options, double power_usage_effectiveness);

/// "USA: 369.473 g CO2e per kWh, average of 2023 (source)"; empty without a grid.
std::string grid_text(const EnergyOptions& options);

}  // namespace scaleworth::cli
