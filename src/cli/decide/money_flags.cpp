// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/money.h"

#include <CLI/CLI.hpp>

namespace scaleworth::cli {
namespace {

constexpr const char* bill_group = "Bill";
constexpr const char* regime_group = "Ways to pay";
constexpr const char* owned_group = "An owned rank (--capex describes it; a regime \"owned\")";

/// A flag that takes a number of 0 or more.
template <class Value>
void number_flag(
    CLI::App& command, const char* group, const char* name, Value& value, const char* help) {
  command.add_option(name, value, help)->check(CLI::NonNegativeNumber)->group(group);
}

void add_bill(CLI::App& command, MoneyOptions& options) {
  number_flag(command,
              bill_group,
              "--price,--rate-per-worker",
              options.price_usd_per_hour,
              "USD for one rank for one hour");
  number_flag(command,
              bill_group,
              "--fixed",
              options.fixed_usd_per_hour,
              "USD for each hour of wall clock");
  number_flag(command,
              bill_group,
              "--value-of-time",
              options.value_of_time_usd_per_hour,
              "USD that an hour of waiting is worth: acts exactly like --fixed, but is no bill, so "
              "that --budget leaves it out");
  number_flag(command, bill_group, "--storage-gb", options.storage_gb, "GB kept while it runs");
  number_flag(command,
              bill_group,
              "--storage-usd-per-gb-month",
              options.storage_usd_per_gb_month,
              "their price; a month has 730 h");
  number_flag(command, bill_group, "--egress-gb", options.egress_gb, "GB that leave, once per run");
  number_flag(command, bill_group, "--egress-usd-per-gb", options.egress_usd_per_gb, "their price");
}

void add_regimes(CLI::App& command, MoneyOptions& options) {
  command
      .add_option("--regime",
                  options.regimes,
                  "ways to pay side by side, as NAME:PART of the price: on-demand,spot:0.30; a "
                  "commitment as NAME:PART@USED, reserved:0.60@0.80 being paid for all hours and "
                  "used 80 % of them; \"spot\" alone takes --spot-price, \"owned\" alone --capex")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(regime_group);
  command
      .add_option("--regimes",
                  options.regimes_file,
                  "TOML with [[regime]] tables: name, and price_part or price_usd_per_hour (each "
                  "with utilisation), or capex_usd (with residual_usd, lifetime_years, "
                  "discount_rate, power_kw, pue, electricity_usd_per_kwh, opex_usd_per_year, "
                  "utilisation), or price_usd_per_hour with preemption_per_hour (and checkpoint_s, "
                  "restart_s, notice_s)")
      ->group(regime_group);
  number_flag(command,
              regime_group,
              "--spot-price",
              options.spot_usd_per_hour,
              "USD for one rank-hour on spot");
  command
      .add_option("--preemption-per-hour",
                  options.preemptions_per_hour,
                  "reclaims of one rank per hour on spot")
      ->group(regime_group);
  command.add_option("--checkpoint-s", options.checkpoint_s, "spot: seconds to write the state")
      ->capture_default_str()
      ->group(regime_group);
  command.add_option("--restart-s", options.restart_s, "spot: seconds from a reclaim to work")
      ->capture_default_str()
      ->group(regime_group);
  command.add_option("--notice-s", options.notice_s, "spot: seconds of warning before a reclaim")
      ->capture_default_str()
      ->group(regime_group);
}

void add_owned(CLI::App& command, MoneyOptions& options) {
  OwnedOptions& owned = options.owned;
  const auto flag = [&](const char* name, auto& value, const char* help) {
    number_flag(command, owned_group, name, value, help);
  };
  flag("--capex", owned.capex_usd, "USD per rank, with its share of host, network and storage");
  flag("--residual", owned.residual_usd, "USD that it sells for at the end (0)");
  flag("--lifetime-years", owned.lifetime_years, "years until then (4)");
  flag("--discount-rate", owned.discount_rate, "per year, as 0.08 (0: a straight line)");
  flag("--power-kw", owned.power_kw, "kW per rank, drawn all year (0)");
  flag("--electricity-usd-per-kwh", owned.electricity_usd_per_kwh, "price of energy (0)");
  flag("--opex-per-year", owned.opex_usd_per_year, "USD per rank: staff, space, service (0)");
  flag("--utilisation", owned.utilisation, "part of all hours that do useful work (1)");
  command.add_option("--pue", options.pue, "power of the building over that of the machines")
      ->capture_default_str()
      ->group(owned_group);
}

}  // namespace

void add_money_flags(CLI::App& command, MoneyOptions& options) {
  add_bill(command, options);
  add_regimes(command, options);
  add_owned(command, options);
}

}  // namespace scaleworth::cli
