// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/money.h"

#include "src/cli/decide/regime_file.h"
#include "src/core/error.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

double number_of(const std::string& regime, std::string_view text) {
  double value = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) {
    throw UserError("--regime " + regime +
                    ": write NAME:PART, as spot:0.30, or NAME:PART@USED, as reserved:0.60@0.80");
  }
  return value;
}

decide::PricePart part_of(const std::string& regime, std::string_view text) {
  const std::size_t at = text.find('@');
  decide::PricePart part{number_of(regime, text.substr(0, at)), std::nullopt};
  if (at != std::string_view::npos) part.utilisation = number_of(regime, text.substr(at + 1));
  return part;
}

std::optional<model::OwnedTerms> owned_of(const MoneyOptions& options) {
  const OwnedOptions& from = options.owned;
  if (!from.capex_usd) {
    if (from.residual_usd || from.lifetime_years || from.discount_rate || from.power_kw ||
        from.electricity_usd_per_kwh || from.opex_usd_per_year || from.utilisation) {
      throw UserError(
          "--residual, --lifetime-years, --discount-rate, --power-kw, --electricity-usd-per-kwh, "
          "--opex-per-year and --utilisation describe an owned rank: give its --capex");
    }
    return std::nullopt;
  }
  model::OwnedTerms terms;
  terms.capital = Dollars(*from.capex_usd);
  terms.residual = Dollars(from.residual_usd.value_or(0.0));
  terms.lifetime_years = from.lifetime_years.value_or(terms.lifetime_years);
  terms.discount_rate = from.discount_rate.value_or(terms.discount_rate);
  terms.power_kw = from.power_kw.value_or(terms.power_kw);
  terms.power_usage_effectiveness = options.pue;
  terms.usd_per_kwh = from.electricity_usd_per_kwh.value_or(terms.usd_per_kwh);
  terms.operation_usd_per_year = from.opex_usd_per_year.value_or(terms.operation_usd_per_year);
  terms.utilisation = from.utilisation.value_or(terms.utilisation);
  return terms;
}

/// A name alone stands for what other flags describe.
decide::Regime named_regime(const std::string& name, const MoneyOptions& options) {
  if (name == "on-demand") return {name, decide::PricePart{}};
  if (name == "spot") {
    if (const auto spot = spot_of(options)) return {name, *spot};
  }
  if (name == "owned") {
    if (const auto owned = owned_of(options)) return {name, *owned};
  }
  throw UserError(fmt::format("--regime {0}: give its part of the price, as {0}:0.30{1}",
                              name,
                              name == "spot"    ? ", or --spot-price and --preemption-per-hour"
                              : name == "owned" ? ", or --capex and what belongs to it"
                                                : ""));
}

decide::Regime regime_of(const std::string& text, const MoneyOptions& options) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return named_regime(text, options);
  if (colon == 0) throw UserError("--regime " + text + ": write NAME:PART, as spot:0.30");
  return {text.substr(0, colon), part_of(text, std::string_view(text).substr(colon + 1))};
}

void require_both(const std::optional<double>& one,
                  const std::optional<double>& other,
                  const char* message) {
  if (one.has_value() != other.has_value()) throw UserError(message);
}

}  // namespace

model::BillTerms bill_of(const MoneyOptions& options) {
  require_both(options.storage_gb,
               options.storage_usd_per_gb_month,
               "storage needs both --storage-gb and --storage-usd-per-gb-month");
  require_both(options.egress_gb,
               options.egress_usd_per_gb,
               "egress needs both --egress-gb and --egress-usd-per-gb");
  model::BillTerms bill;
  bill.per_rank = dollars_per_hour(options.price_usd_per_hour.value_or(0.0));
  bill.fixed = dollars_per_hour(options.fixed_usd_per_hour);
  bill.value_of_time = dollars_per_hour(options.value_of_time_usd_per_hour);
  bill.storage = model::storage_rate(options.storage_gb.value_or(0.0),
                                     options.storage_usd_per_gb_month.value_or(0.0));
  bill.egress =
      model::egress_cost(options.egress_gb.value_or(0.0), options.egress_usd_per_gb.value_or(0.0));
  return bill;
}

std::optional<decide::SpotTerms> spot_of(const MoneyOptions& options) {
  if (!options.spot_usd_per_hour && !options.preemptions_per_hour) return std::nullopt;
  if (!options.spot_usd_per_hour || !options.preemptions_per_hour) {
    throw UserError(
        "spot needs both --spot-price (USD per hour) and --preemption-per-hour (per rank)");
  }
  return decide::SpotTerms{dollars_per_hour(*options.spot_usd_per_hour),
                           {*options.preemptions_per_hour,
                            Seconds(options.checkpoint_s),
                            Seconds(options.restart_s),
                            Seconds(options.notice_s)}};
}

std::vector<decide::Regime> regimes_of(const MoneyOptions& options) {
  std::vector<decide::Regime> regimes;
  for (const std::string& text : options.regimes) regimes.push_back(regime_of(text, options));
  if (!options.regimes_file.empty()) {
    auto read = read_regimes(options.regimes_file);
    std::move(read.begin(), read.end(), std::back_inserter(regimes));
  }
  const auto owned = owned_of(options);
  const bool listed = std::any_of(regimes.begin(), regimes.end(), [](const decide::Regime& at) {
    return at.name == "owned" && std::holds_alternative<model::OwnedTerms>(at.terms);
  });
  if (owned && !listed) regimes.push_back({"owned", *owned});
  return regimes;
}

}  // namespace scaleworth::cli
