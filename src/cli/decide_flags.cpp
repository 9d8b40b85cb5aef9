// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide_flags.h"

#include "src/cli/application.h"
#include "src/cli/flags.h"
#include "src/cli/input/decision_input.h"
#include "src/cli/input/table_input.h"
#include "src/core/catalogue.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
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

namespace {
constexpr double seconds_per_hour = 3600.0;

std::optional<model::RingCost> ring_of(const DecideOptions& options) {
  if (!options.messages) return std::nullopt;
  if (!options.alpha_us || !options.beta_gbs || !options.message_mb) {
    throw UserError(
        "--messages counts collectives whose time is known: give --alpha-us, --beta-gbs and "
        "--message-mb with it");
  }
  return model::RingCost{Seconds(*options.alpha_us * 1e-6),
                         1.0 / (*options.beta_gbs * 1e9),
                         Bytes(*options.message_mb * 1e6),
                         *options.messages};
}

std::optional<model::WorkDepth> work_depth_of(const DecideOptions& options) {
  if (!options.work_rank_hours && !options.depth_hours) return std::nullopt;
  if (!options.work_rank_hours || !options.depth_hours) {
    throw UserError("the bounds of work and depth need both --work-rank-hours and --depth-hours");
  }
  return model::WorkDepth{Seconds(*options.work_rank_hours * seconds_per_hour),
                          Seconds(*options.depth_hours * seconds_per_hour)};
}
}  // namespace

decide::LawInputs law_inputs(const DecideOptions& options) {
  return {ring_of(options), work_depth_of(options)};
}

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

namespace {
void add_input(CLI::App& command, DecideOptions& options) {
  command.add_option("table",
                     options.inputs,
                     "CSV with units in the header, TOML with [[row]] tables, JSON, or a run "
                     "directory; or recordings of one job at several counts, for each count what "
                     "`attribute` takes (a folder) or its JSON; columns: " +
                         known_columns());
  command
      .add_option("--where", options.where, "only rows with this cell, COLUMN=VALUE; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--rename", options.rename, "a column under another header, OLD=NEW; repeatable")
      ->allow_extra_args(false);
  command
      .add_option(
          "--scaling,--mode",
          options.scaling,
          "strong or weak: how the work grows, where table or recordings do not say it; which "
          "steps of a run directory")
      ->check(CLI::IsMember({"strong", "weak"}));
  command.add_option("--serial", options.serial, "without a table: serial fraction s");
  command.add_option("--comm", options.communication, "without a table: coefficient c");
  command.add_option("--t1-hours", options.t1_hours, "without a table: hours at one rank (1)");
  command.add_option("--counts", options.counts, "without a table: counts to list, 1,2,4,8")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option(
      "--max-count", options.max_count, "largest count of a curve, given or fitted (64)");
  command.add_option(
      "--baseline", options.baseline, "count that speed-up is against (the smallest)");
  command.add_option(
      "--work", options.work, "items of the whole run, where the table does not say");
}

void add_message(CLI::App& command, DecideOptions& options) {
  command
      .add_option("--alpha-us",
                  options.alpha_us,
                  "latency of one hop, us: separates latency from bandwidth")
      ->check(CLI::PositiveNumber);
  command.add_option("--beta-gbs", options.beta_gbs, "bandwidth of one link, GB/s")
      ->check(CLI::PositiveNumber);
  command.add_option("--message-mb", options.message_mb, "MB of the collective that dominates")
      ->check(CLI::PositiveNumber);
}

void add_law_inputs(CLI::App& command, DecideOptions& options) {
  command
      .add_option("--messages",
                  options.messages,
                  "such collectives in the time of a row: a law with their time known")
      ->check(CLI::PositiveNumber);
  command.add_option(
      "--work-rank-hours", options.work_rank_hours, "hours of all operations at one rank");
  command.add_option(
      "--depth-hours", options.depth_hours, "hours of the longest chain of dependent operations");
  command.add_option("--domain",
                     options.domain,
                     "ranks joined by faster links (8 in most NVLink nodes): is its edge a cliff?");
}

void add_rubric(CLI::App& command, DecideOptions& options) {
  command.add_option("--deadline-hours",
                     options.deadline_hours,
                     "exclude what takes longer, by the upper end of its interval");
  command
      .add_option("--deadline-probability",
                  options.deadline_probability,
                  "with which one run meets the deadline: on spot, and by the law "
                  "at counts that were not measured")
      ->capture_default_str();
  command.add_option(
      "--budget", options.budget_usd, "exclude what is billed more, USD, by the upper end");
  command
      .add_option("--max-latency-ms",
                  options.max_latency_ms,
                  "exclude what answers later, or is unmeasured")
      ->check(CLI::PositiveNumber);
  command.add_option(
      "--latency", options.latency, "which latency of the table that is (p99, else the only one)");
  command
      .add_option(
          "--min-throughput", options.min_throughput, "exclude what does less work per second")
      ->check(CLI::PositiveNumber);
  command
      .add_option("--energy-budget-kwh",
                  options.energy_budget_kwh,
                  "exclude what takes more energy, kWh of the building")
      ->check(CLI::PositiveNumber);
  command.add_option(
      "--efficiency-threshold", options.efficiency_threshold, "exclude what is below, as 0.70");
  command.add_option("--quality-tolerance",
                     options.quality_tolerance,
                     "exclude rows whose quality differs more from the baseline's");
  command
      .add_option("--objective",
                  options.objective,
                  "best by cost, balanced (cost x time), time or energy (time under a threshold or "
                  "budget, cost where the wall clock has a price, else balanced)")
      ->check(CLI::IsMember({"cost", "balanced", "time", "energy"}));
}

/// Where the help lists a flag.
void put(CLI::App& command, const char* group, std::initializer_list<const char*> flags) {
  for (const char* flag : flags) command.get_option(flag)->group(group);
}

void group_flags(CLI::App& command) {
  put(command, "A curve in place of a table", {"--serial", "--comm", "--t1-hours", "--counts"});
  put(command,
      "What a count must keep, and the best of those that do",
      {"--deadline-hours",
       "--deadline-probability",
       "--budget",
       "--max-latency-ms",
       "--latency",
       "--min-throughput",
       "--energy-budget-kwh",
       "--efficiency-threshold",
       "--quality-tolerance",
       "--objective"});
  put(command,
      "What you know of communication and work",
      {"--alpha-us",
       "--beta-gbs",
       "--message-mb",
       "--messages",
       "--work-rank-hours",
       "--depth-hours",
       "--domain"});
}

/// A flag that says how another one is meant.
struct Companion {
  const char* flag;
  const char* needed;
};
constexpr std::array companions{Companion{"--deadline-probability", "--deadline-hours"},
                                Companion{"--latency", "--max-latency-ms"},
                                Companion{"--idle-watts-fraction", "--watts-per-rank"},
                                Companion{"--checkpoint-s", "--spot-price"},
                                Companion{"--restart-s", "--spot-price"},
                                Companion{"--notice-s", "--spot-price"}};

/// What changes nothing would be believed to have changed something.
void refuse_alone(const CLI::App& command) {
  for (const auto& [flag, needed] : companions) {
    if (command.count(flag) == 0 || command.count(needed) > 0) continue;
    throw UserError(
        fmt::format("{} changes nothing without {}: give both or neither", flag, needed));
  }
}

constexpr const char* examples =
    "A table: scaleworth decide breakdown.csv --price 3.20 --deadline-hours 2\n"
    "A curve: scaleworth decide --serial 0.03 --comm 0.0015 --t1-hours 1 --price 2.10 --fixed 9\n"
    "A run:   scaleworth decide RUN_DIRECTORY --price 2.10\n"
    "A job:   scaleworth decide traces-1gpu/ traces-8gpu/ --scaling weak --price 2.10\n";
}  // namespace

Command add_decide_command(CLI::App& app) {
  auto options = std::make_shared<DecideOptions>();
  CLI::App* command = app.add_subcommand(
      "decide",
      "speed-up, efficiency, cost, cause and the count to buy, from a scaling table or recordings");
  add_input(*command, *options);
  add_money_flags(*command, options->money);
  add_energy_flags(*command, options->energy);
  add_message(*command, *options);
  add_rubric(*command, *options);
  add_law_inputs(*command, *options);
  group_flags(*command);
  add_currency(*command, options->currency);
  command
      ->add_option("--format", options->format, "what goes to stdout: text, md, csv, json or html")
      ->check(CLI::IsMember({"text", "md", "csv", "json", "html"}))
      ->capture_default_str();
  command->add_flag(
      "--details", options->details, "every table, not only the summary (text and md)");
  command->add_flag(
      "--no-intervals", options->no_intervals, "leave out the law's intervals, the slow part");
  command->footer(examples + app.get_footer());
  return {command, [command, options](const Arguments& arguments) {
            refuse_alone(*command);
            options->command = typed_command(arguments);
            return in_currency(options->currency, [&] { return decide_count(*options); });
          }};
}
}  // namespace scaleworth::cli
