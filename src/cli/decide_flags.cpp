// SPDX-License-Identifier: Apache-2.0
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"

#include <array>
#include <initializer_list>
#include <memory>

namespace scaleworth::cli {
namespace {
/// Whether the flags are given. Throws UserError with the message where only some of them are.
bool given(const CLI::App& command,
           std::initializer_list<const char*> flags,
           const std::string& message) {
  const auto there =
      std::ranges::count_if(flags, [&](const char* flag) { return command.count(flag) > 0; });
  if (there == 0) return false;
  if (there < std::ssize(flags)) throw UserError(message);
  return true;
}

double number_of(const std::string& regime, std::string_view text) {
  const auto number = cell_number(text, Comma::thousands);
  if (number && !number->unit && number->value <= 1e40)
    return number->value * (text.ends_with('%') ? 0.01 : 1.0);
  throw UserError("--regime " + regime +
                  ": write NAME:PART, as spot:0.30, or NAME:PART@USED, as reserved:0.60@0.80");
}

PricePart part_of(const std::string& regime, std::string_view text) {
  const std::size_t at = text.find('@');
  PricePart part{price_part(regime, number_of(regime, text.substr(0, at))), std::nullopt};
  if (at != std::string_view::npos) part.utilisation = number_of(regime, text.substr(at + 1));
  const WordList name = all_header_words(regime.substr(0, regime.find(':')));
  part.spot = std::ranges::find(name, "spot") != name.end();
  return part;
}

/// "NAME:PART", or a name alone for what other flags describe.
Regime regime_of(const std::string& text,
                 const std::optional<SpotTerms>& spot,
                 const std::optional<OwnedTerms>& owned) {
  const std::size_t colon = text.find(':');
  if (colon == 0) throw UserError("--regime " + text + ": write NAME:PART, as spot:0.30");
  if (colon != std::string::npos) {
    return {text.substr(0, colon), part_of(text, std::string_view(text).substr(colon + 1))};
  }
  if (text == "on-demand") return {text, PricePart{}};
  if (text == "spot" && spot) return {text, *spot};
  if (text == "owned" && owned) return {text, *owned};
  throw UserError("--regime {0}: give its part of the price, as {0}:0.30{1}",
                  text,
                  text == "spot"    ? ", or --spot-price and --preemption-per-hour"
                  : text == "owned" ? ", or --capex and what belongs to it"
                                    : "");
}

std::optional<OwnedTerms> owned_of(const CLI::App& command, const DecideOptions& options) {
  if (command.count("--capex") == 0) return std::nullopt;
  OwnedTerms owned = options.owned;
  owned.power_usage_effectiveness = options.request.metrics.power.power_usage_effectiveness;
  return owned;
}

/// Those of --regime, and "owned" and "spot" where flags describe them, in this order.
std::vector<Regime> regimes_of(const CLI::App& command, const DecideOptions& options) {
  const std::optional<OwnedTerms> owned = owned_of(command, options);
  auto regimes = mapped(options.regimes, [&](const std::string& text) {
    return regime_of(text, options.request.spot, owned);
  });
  const auto listed = [&]<class Terms>(const std::optional<Terms>&) {
    return std::ranges::any_of(
        regimes, [](const Regime& one) { return std::holds_alternative<Terms>(one.terms); });
  };
  if (owned && !listed(owned)) regimes.push_back({"owned", *owned});
  const std::optional<SpotTerms>& spot = options.request.spot;
  if (spot && !listed(spot)) regimes.push_back({"spot", *spot});
  return regimes;
}

/// The intensity of the region named by --grid, and in words where it comes from.
void complete_power(PowerTerms& power) {
  if (power.grid.empty()) {
    if (power.grams_per_kwh) {
      power.grid = fmt::format("{:g} g CO2e per kWh, given", *power.grams_per_kwh);
    }
    return;
  }
  const GridRegion& region = find_region(grid_catalogue(), power.grid);
  power.grams_per_kwh = region.grams_per_kwh;
  power.grid = fmt::format("{}: {:g} g CO2e per kWh, average of {} ({})",
                           region.name,
                           region.grams_per_kwh,
                           region.year,
                           region.source);
}

/// The known communication and work that laws ask for.
void complete_law_inputs(const CLI::App& command, DecisionRequest& request) {
  LawInputs& inputs = request.law_inputs;
  if (!given(command,
             {"--alpha-us", "--beta-gbs", "--message-mb"},
             "latency and bandwidth need --alpha-us (per hop), --beta-gbs (of a link) and "
             "--message-mb together; scaleworth comm measures the first two")) {
    request.message.reset();
  }
  if (command.count("--messages") > 0)
    inputs.ring->each = *request.message;
  else
    inputs.ring.reset();
  if (!given(command,
             {"--work-rank-hours", "--depth-hours"},
             "the bounds of work and depth need both --work-rank-hours and --depth-hours")) {
    inputs.work_depth.reset();
  }
}

/// The terms of spot with the failures, which other ways to pay have alone: on machines that stay,
/// the wait for a new one is paid.
Preemption complete_failures(DecisionRequest& request) {
  Preemption& terms = request.spot->preemption;
  auto& failures = request.metrics.failures;
  if (failures) {
    terms.failures_per_hour = failures->failures_per_hour;
    failures->checkpoint = terms.checkpoint;
    failures->restart = terms.restart + terms.reacquisition;
  }
  return terms;
}

double failures_per_hour(const std::string& mtbf_hours) {
  if (mtbf_hours == "published") return published_failures_per_hour;
  const auto hours = mtbf_hours == "none" ? 0.0 : parse_number<double>(mtbf_hours);
  if (!hours || !(*hours >= 0.0)) {
    throw UserError("--mtbf-hours: give hours per rank, as 50700, or published, or none");
  }
  return *hours > 0.0 ? 1.0 / *hours : 0.0;
}

/// Makes of the flags what several of them describe together, and drops what none describes.
void complete(const CLI::App& command, DecideOptions& options) {
  DecisionRequest& request = options.request;
  if (request.metrics.work && !(*request.metrics.work > 0.0)) {
    throw UserError("the work must be above 0, as --work 1200000");
  }
  if (!options.instance.empty()) {
    const InstancePrice found =
        priced_instance(options.instance, options.prices, options.render.currency);
    options.instance_price = dollars_per_hour(found.usd_per_hour);
    options.selection.gpus_per_instance = found.gpus;
    options.price_origin = origin_text(found);
  }
  complete_power(request.metrics.power);
  const Preemption terms = complete_failures(request);
  if (!given(command,
             {"--spot-price", "--preemption-per-hour"},
             fmt::format("spot needs both --spot-price ({} per hour) and --preemption-per-hour "
                         "(per instance)",
                         options.render.currency))) {
    request.spot.reset();
  }
  request.regimes = regimes_of(command, options);
  for (Regime& regime : request.regimes) {
    auto* const spot = std::get_if<SpotTerms>(&regime.terms);
    if (spot) spot->preemption.failures_per_hour = terms.failures_per_hour;
  }
  complete_law_inputs(command, request);
}

void add_input(CLI::App& command, DecideOptions& options) {
  DecisionRequest& request = options.request;
  const Flags flags(command);
  flags.add("table", options.inputs, help_texts("decide").at("table") + known_columns());
  flags.add("--where", options.selection.where)->allow_extra_args(false);
  flags.add("--rename", options.selection.rename)->allow_extra_args(false);
  const auto take_comma = [&options](const std::string& name) {
    options.selection.comma = name == "decimal" ? Comma::decimal : Comma::thousands;
  };
  flags.call<std::string>("--comma", take_comma)->check(CLI::IsMember({"decimal", "thousands"}));
  add_scaling(flags, "--scaling,--mode", options.scaling);
  const Flags curve(command, "A curve in place of a table");
  CLI::Option* serial = curve.add("--serial", options.serial);
  CLI::Option* comm = curve.add("--comm", options.communication);
  comm->needs(serial);
  curve.add("--t1-hours", options.single);
  curve.list("--counts", request.shown_counts);
  flags.add("--max-count", options.max_count);
  flags.list("--forecast", request.forecast_counts);
  flags.add("--baseline", request.metrics.baseline);
  flags.add("--work", request.metrics.work);
  const Flags peak(command, "Utilisation");
  peak.add("--gpu", options.peak.gpu);
  peak.add("--model", options.peak.model);
  peak.add("--dtype", options.peak.number_format);
  peak.call<double>(
      "--peak", [&options](double number) { options.peak.peak = FlopPerSecond(number * 1e12); });
}

void add_bill(CLI::App& command, DecideOptions& options) {
  Prices& prices = options.request.metrics.prices.emplace();
  const Flags flags(command, "Bill", nullptr, nonnegative_number);
  flags.add("--price,--rate-per-worker", options.price);
  flags.add("--instance-price", options.instance_price);
  flags.add("--gpus-per-instance", options.selection.gpus_per_instance)->check(positive_number);
  const Flags names(command, "Bill");
  CLI::Option* instance = names.add("--instance", options.instance);
  for (const char* other : {"--price", "--instance-price", "--gpus-per-instance"})
    instance->excludes(other);
  names.add("--prices", options.prices)->needs(instance);
  flags.add("--fixed", prices.fixed);
  flags.add("--value-of-time", prices.value_of_time);
}

void add_regimes(CLI::App& command, DecideOptions& options) {
  SpotTerms& spot = options.request.spot.emplace();
  Preemption& reclaims = spot.preemption;
  const Flags flags(command, "Ways to pay");
  flags.list("--regime", options.regimes);
  flags.add("--spot-price", spot.price_per_rank)->check(nonnegative_number);
  flags.add("--preemption-per-hour", reclaims.per_hour);
  flags.add("--ranks-per-instance", reclaims.ranks_per_instance)
      ->check(positive_number)
      ->default_str("1");
  const auto take_failures = [&options](const std::string& hours) {
    options.request.metrics.failures.emplace().failures_per_hour = failures_per_hour(hours);
  };
  flags.call<std::string>("--mtbf-hours", take_failures);
  flags.add("--checkpoint-s", reclaims.checkpoint)->default_str("120");
  flags.add("--restart-s", reclaims.restart)->default_str("600");
  flags.add("--reacquire-s", reclaims.reacquisition)->default_str("0");
  flags.add("--notice-s", reclaims.notice)->default_str("0");
}

void add_owned(CLI::App& command, DecideOptions& options) {
  OwnedTerms& owned = options.owned;
  constexpr const char* group = "An owned rank (--capex describes it; a regime \"owned\")";
  CLI::Option* capital =
      Flags(command, group, nullptr, nonnegative_number).add("--capex", owned.capital);
  const Flags flags(command, group, capital, nonnegative_number);
  flags.add("--residual", owned.residual);
  flags.add("--lifetime-years", owned.lifetime_years);
  flags.add("--discount-rate", owned.discount_rate)->check(CLI::Range(0.0, 1.0));
  flags.add("--power-kw", owned.power_kw);
  flags.add("--electricity-usd-per-kwh", owned.usd_per_kwh);
  flags.add("--opex-per-year", owned.operation_usd_per_year);
  flags.add("--utilisation", owned.utilisation);
  Flags(command, group)
      .add("--pue", options.request.metrics.power.power_usage_effectiveness)
      ->capture_default_str();
}

void add_energy(CLI::App& command, PowerTerms& power) {
  const Flags flags(command, "Energy and carbon");
  flags.add("--watts-per-rank", power.watts_per_rank)->check(positive_number);
  flags.add("--idle-watts-fraction", power.waiting_power)->check(CLI::Range(0.0, 1.0));
  flags.add("--grid", power.grid);
  flags.add("--g-per-kwh", power.grams_per_kwh)->excludes("--grid")->check(positive_number);
}

void add_law_inputs(CLI::App& command, DecideOptions& options) {
  constexpr const char* group = "What you know of communication and work";
  LawInputs& inputs = options.request.law_inputs;
  MessageTerms& message = options.request.message.emplace();
  const Flags positive(command, group, nullptr, positive_number);
  positive.add("--alpha-us", message.latency);
  positive.add("--beta-gbs", message.bandwidth);
  positive.add("--message-mb", message.message);
  positive.add("--messages", inputs.ring.emplace().messages)->needs("--message-mb");
  const Flags flags(command, group);
  WorkDepth& bounds = inputs.work_depth.emplace();
  flags.add("--work-rank-hours", bounds.work);
  flags.add("--depth-hours", bounds.depth);
  flags.add("--domain", options.domain);
}

void add_rubric(CLI::App& command, Rubric& rubric) {
  const Flags flags(command, "What a count must keep, and the best of those that do");
  flags.add("--deadline-hours", rubric.deadline);
  flags.add("--deadline-probability", rubric.deadline_probability)->capture_default_str();
  flags.add("--budget", rubric.budget);
  flags.add("--max-latency-ms", rubric.max_latency)->check(positive_number);
  flags.add("--latency", rubric.latency);
  flags.add("--min-throughput", rubric.min_throughput)->check(positive_number);
  flags.add("--energy-budget-kwh", rubric.energy_budget_kwh)->check(positive_number);
  flags.add("--efficiency-threshold", rubric.efficiency_threshold);
  flags.add("--quality-tolerance", rubric.quality_tolerance);
  const auto take_objective = [&rubric](const std::string& name) {
    rubric.objective = from_key<Objective>(name);
  };
  flags.call<std::string>("--objective", take_objective)
      ->check(CLI::IsMember({"cost", "balanced", "time", "energy"}));
}

/// Flags that say how another one is meant, and that one.
struct Companion {
  const char* flag;
  const char* needed;
  const char* otherwise = nullptr;
};
constexpr std::array companions{Companion{"--deadline-probability", "--deadline-hours"},
                                Companion{"--domain", "table"},
                                Companion{"--messages", "table"},
                                Companion{"--where", "table"},
                                Companion{"--rename", "table"},
                                Companion{"--comma", "table"},
                                Companion{"--scaling", "table"},
                                Companion{"--gpus-per-instance", "--instance-price", "table"},
                                Companion{"--latency", "--max-latency-ms"},
                                Companion{"--idle-watts-fraction", "--watts-per-rank"},
                                Companion{"--checkpoint-s", "--spot-price", "--mtbf-hours"},
                                Companion{"--restart-s", "--spot-price", "--mtbf-hours"},
                                Companion{"--reacquire-s", "--spot-price", "--mtbf-hours"},
                                Companion{"--ranks-per-instance", "--spot-price"},
                                Companion{"--notice-s", "--spot-price"}};

/// What changes nothing would be believed to have changed something.
void refuse_alone(const CLI::App& command) {
  for (const auto& [flag, needed, otherwise] : companions) {
    if (command.count(flag) == 0 || command.count(needed) > 0) continue;
    if (otherwise && command.count(otherwise) > 0) continue;
    throw UserError("{} changes nothing without {}{}: give both or neither",
                    flag,
                    needed,
                    otherwise ? fmt::format(" or {}", otherwise) : "");
  }
}
}  // namespace

void add_scaling(const Flags& flags, const char* name, std::optional<Scaling>& scaling) {
  const auto take = [&scaling](const std::string& text) {
    scaling = text == "weak" ? Scaling::weak : Scaling::strong;
  };
  flags.call<std::string>(name, take)->check(CLI::IsMember({"strong", "weak"}));
}

Command add_decide_command(CLI::App& app) {
  auto options = std::make_shared<DecideOptions>();
  CLI::App* command = add_command(app, "decide");
  add_input(*command, *options);
  add_bill(*command, *options);
  add_regimes(*command, *options);
  add_owned(*command, *options);
  add_energy(*command, options->request.metrics.power);
  add_law_inputs(*command, *options);
  add_rubric(*command, options->request.rubric);
  add_currency(*command, options->render.currency);
  add_render_flags(*command, options->render);
  take_typed_numbers(*command);
  // Before that, so that it is as it was typed.
  command->get_option("--deadline-hours")
      ->transform(CLI::Validator(
          [options](std::string& text) {
            std::string& typed = options->request.rubric.deadline_typed;
            typed = parse_number<double>(text) ? text + " h" : text;
            return std::string();
          },
          ""));
  command->get_option("--quality-tolerance")
      ->transform(CLI::Validator(
          [options](std::string& text) {
            options->request.rubric.quality_in_parts = trimmed(text).ends_with('%');
            return std::string();
          },
          ""));
  command->footer(command->get_footer() + app.get_footer());
  return {command, [command, options](const Arguments& arguments) {
            refuse_alone(*command);
            options->render.command = typed_command(arguments);
            options->request.rubric.currency = options->render.currency;
            complete(*command, *options);
            return decide_count(*options);
          }};
}
}  // namespace scaleworth::cli
