// SPDX-License-Identifier: Apache-2.0
/// What the user says of money: the bill, the ways to pay, and the rates of machines that may go.
#pragma once

#include "src/model/cost/bill.h"
#include "src/model/decide/choice/regimes.h"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
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
