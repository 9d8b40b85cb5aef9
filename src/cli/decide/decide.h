// SPDX-License-Identifier: Apache-2.0
/// The body of `scaleworth decide`: a table, recordings or coefficients in, an argument for a count
/// out.
#pragma once

#include "src/cli/decide/energy.h"
#include "src/cli/decide/money.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::cli {

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

}  // namespace scaleworth::cli
