// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/energy.h"

#include "src/core/catalogue/grid_catalogue.h"
#include "src/core/error.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace scaleworth::cli {

void add_energy_flags(CLI::App& command, EnergyOptions& options) {
  constexpr const char* group = "Energy and carbon";
  command
      .add_option("--watts-per-rank",
                  options.watts_per_rank,
                  "W of a rank that computes, where the table has no energy")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command
      .add_option("--idle-watts-fraction",
                  options.idle_watts_fraction,
                  "part of these W that a rank draws while it waits (0.7: MLPerf Training v4.0 "
                  "power logs, H100 nodes at 22 % efficiency)")
      ->check(CLI::Range(0.0, 1.0))
      ->group(group);
  command
      .add_option("--grid",
                  options.grid,
                  "country whose yearly average of g CO2e per kWh counts: USA, DEU, WORLD ... "
                  "(data/grid.toml, with sources)")
      ->group(group);
  command
      .add_option("--g-per-kwh", options.grams_per_kwh, "g CO2e per kWh, where you know your own")
      ->check(CLI::PositiveNumber)
      ->group(group);
}

model::PowerTerms power_of(const EnergyOptions& options, double power_usage_effectiveness) {
  model::PowerTerms terms;
  terms.watts_per_rank = options.watts_per_rank;
  terms.waiting_power = options.idle_watts_fraction;
  terms.power_usage_effectiveness = power_usage_effectiveness;
  terms.grams_per_kwh = options.grams_per_kwh;
  if (options.grid.empty()) return terms;
  if (options.grams_per_kwh) {
    throw UserError("--grid and --g-per-kwh exclude each other: leave one out");
  }
  terms.grams_per_kwh = find_region(grid_catalogue(), options.grid).grams_per_kwh;
  return terms;
}

std::string grid_text(const EnergyOptions& options) {
  if (options.grams_per_kwh)
    return fmt::format("{:g} g CO2e per kWh, given", *options.grams_per_kwh);
  if (options.grid.empty()) return "";
  const GridRegion& region = find_region(grid_catalogue(), options.grid);
  return fmt::format("{}: {:g} g CO2e per kWh, average of {} ({})",
                     region.name,
                     region.grams_per_kwh,
                     region.year,
                     region.source);
}

}  // namespace scaleworth::cli
