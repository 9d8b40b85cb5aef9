// SPDX-License-Identifier: Apache-2.0
/// Flags bound directly to `DecisionRequest`.
#pragma once

#include "src/model/cost.h"
#include "src/model/decision/sensitivity.h"
#include "src/model/laws/classic_laws.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
// What the user says of money: the bill, the ways to pay, and the rates of machines that may go.

class App;
}  // namespace CLI

namespace scaleworth::cli {
/// An owned rank; what is absent takes the default of `model::OwnedTerms`.
struct OwnedOptions {
  std::optional<double> capex_usd;
  std::optional<double> residual_usd;
  std::optional<double> lifetime_years;
  std::optional<double> discount_rate;
  std::optional<double> power_kw;
  std::optional<double> electricity_usd_per_kwh;
  std::optional<double> opex_usd_per_year;
  std::optional<double> utilisation;
};

struct MoneyOptions {
  std::optional<double> price_usd_per_hour;
  double fixed_usd_per_hour = 0.0;
  double value_of_time_usd_per_hour = 0.0;
  std::optional<double> storage_gb;
  std::optional<double> storage_usd_per_gb_month;
  std::optional<double> egress_gb;
  std::optional<double> egress_usd_per_gb;
  std::vector<std::string> regimes;  // "spot:0.30"
  std::string regimes_file;
  std::optional<double> spot_usd_per_hour;
  std::optional<double> preemptions_per_hour;
  double checkpoint_s = 120.0;
  double restart_s = 600.0;
  double notice_s = 0.0;
  OwnedOptions owned;
  double pue = 1.0;  // of owned machines and of energy
};

/// Adds the flags of money to `command`, which `options` must outlive.
void add_money_flags(CLI::App& command, MoneyOptions& options);

/// The bill, its price per rank 0 where none is given. Throws UserError for an amount of data
/// without its price.
model::BillTerms bill_of(const MoneyOptions& options);

/// Throws UserError where only one of price and rate of reclaims is given.
std::optional<decide::SpotTerms> spot_of(const MoneyOptions& options);

/// Those of --regime, of the file, and "owned" where the flags describe it, in this order. Throws
/// UserError for what cannot be read.
std::vector<decide::Regime> regimes_of(const MoneyOptions& options);
}  // namespace scaleworth::cli

namespace CLI {
// What the user says of power and of the grid.
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

// The body of `scaleworth decide`: a table, recordings or coefficients in, an argument for a count
// out.

struct DecideOptions {
  std::vector<std::string> inputs;  // a table, a run, recordings; empty: coefficients
  std::vector<std::string> where;   // "params=16B"
  std::vector<std::string> rename;  // "load=p"
  std::string scaling;              // "strong", "weak"; empty: as the table shows
  std::optional<double> serial;
  std::optional<double> communication;
  std::optional<double> t1_hours;
  std::vector<int> counts;
  std::optional<int> max_count;
  std::optional<int> baseline;
  MoneyOptions money;
  EnergyOptions energy;
  std::optional<double> energy_budget_kwh;
  std::optional<double> max_latency_ms;
  std::string latency;
  std::optional<double> min_throughput;
  std::string currency = "USD";
  std::optional<double> alpha_us;
  std::optional<double> beta_gbs;
  std::optional<double> message_mb;
  std::optional<double> deadline_hours;
  double deadline_probability = 0.95;
  std::optional<double> budget_usd;
  std::optional<double> work;
  std::optional<double> efficiency_threshold;
  std::optional<double> quality_tolerance;
  std::string objective;  // empty: by the rubric
  std::optional<double> messages;
  std::optional<double> work_rank_hours;
  std::optional<double> depth_hours;
  std::optional<int> domain;  // ranks joined by fast links
  std::string command;        // as typed, for the next one
  std::string format = "text";
  bool details = false;
  bool no_intervals = false;
};

/// Prints the report to stdout; returns the exit code. Throws UserError.
int decide_count(const DecideOptions& options);

// What the user knows beside a scaling table, for laws that ask for it.

/// Throws UserError where a part of a law's inputs is missing.
decide::LawInputs law_inputs(const DecideOptions& options);
}  // namespace scaleworth::cli
