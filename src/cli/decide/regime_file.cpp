// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/regime_file.h"

#include "src/core/toml/table.h"

namespace scaleworth::cli {
namespace {

using toml_file::Table;

model::OwnedTerms owned(Table& table, double capex_usd) {
  model::OwnedTerms terms;
  terms.capital = Dollars(capex_usd);
  terms.residual = Dollars(table.optional_positive("residual_usd").value_or(0.0));
  terms.lifetime_years = table.positive("lifetime_years");
  terms.discount_rate = table.optional_positive("discount_rate").value_or(0.0);
  terms.power_kw = table.optional_positive("power_kw").value_or(0.0);
  terms.power_usage_effectiveness = table.optional_positive("pue").value_or(1.0);
  terms.usd_per_kwh = table.optional_positive("electricity_usd_per_kwh").value_or(0.0);
  terms.operation_usd_per_year = table.optional_positive("opex_usd_per_year").value_or(0.0);
  terms.utilisation = table.optional_positive("utilisation").value_or(1.0);
  return terms;
}

decide::SpotTerms spot(Table& table, double usd_per_hour, double preemption_per_hour) {
  decide::SpotTerms terms{dollars_per_hour(usd_per_hour), {}};
  model::Preemption& preemption = terms.preemption;
  const auto seconds = [&](const char* key, Seconds otherwise) {
    return Seconds(table.optional_positive(key).value_or(otherwise.value()));
  };
  preemption.per_hour = preemption_per_hour;
  preemption.checkpoint = seconds("checkpoint_s", preemption.checkpoint);
  preemption.restart = seconds("restart_s", preemption.restart);
  preemption.notice = seconds("notice_s", preemption.notice);
  return terms;
}

decide::Regime regime(Table& table) {
  decide::Regime result{table.text("name"), decide::PricePart{}};
  const auto part = table.optional_positive("price_part");
  const auto price = table.optional_positive("price_usd_per_hour");
  const auto capex = table.optional_positive("capex_usd");
  if (part.has_value() + price.has_value() + capex.has_value() != 1) {
    table.refuse("a regime has one of price_part, price_usd_per_hour and capex_usd");
  }
  if (capex) {
    result.terms = owned(table, *capex);
  } else if (part) {
    result.terms = decide::PricePart{*part, table.optional_positive("utilisation")};
  } else if (const auto rate = table.optional_positive("preemption_per_hour")) {
    result.terms = spot(table, *price, *rate);
  } else {
    result.terms =
        decide::ListPrice{dollars_per_hour(*price), table.optional_positive("utilisation")};
  }
  table.finish();
  return result;
}

}  // namespace

std::vector<decide::Regime> parse_regimes(std::string_view text, const std::string& file) {
  Table root = Table::parse(text, file);
  std::vector<decide::Regime> regimes;
  for (Table& table : root.tables("regime")) regimes.push_back(regime(table));
  root.finish();
  if (regimes.empty()) root.refuse("no regime in the file: write each as [[regime]]");
  return regimes;
}

std::vector<decide::Regime> read_regimes(const std::string& path) {
  return parse_regimes(toml_file::read_small_file(path), path);
}

}  // namespace scaleworth::cli
