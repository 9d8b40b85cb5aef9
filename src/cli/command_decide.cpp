// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "src/cli/application.h"
#include "src/cli/decide_flags.h"
#include "src/cli/flags.h"
#include "src/cli/input/decision_input.h"
#include "src/cli/input/table_input.h"
#include "src/core/error.h"
#include "src/core/version.h"
#include "src/model/decision/decision.h"
#include "src/model/decision/scaling_row.h"
#include "src/model/laws/law_evidence.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {
constexpr double seconds_per_hour = 3600.0;
constexpr int default_counts = 64;
/// A law's curve beyond this would cost more memory than it tells.
constexpr int most_law_counts = 4096;

std::optional<decide::MessageTerms> message_of(const DecideOptions& options) {
  if (!options.alpha_us && !options.beta_gbs && !options.message_mb) return std::nullopt;
  if (!options.alpha_us || !options.beta_gbs || !options.message_mb) {
    throw UserError(
        "latency and bandwidth need --alpha-us (per hop), --beta-gbs (of a link) and --message-mb "
        "together; scaleworth comm measures the first two");
  }
  return decide::MessageTerms{Seconds(*options.alpha_us * 1e-6),
                              BytesPerSecond(*options.beta_gbs * 1e9),
                              Bytes(*options.message_mb * 1e6)};
}

decide::Rubric rubric_of(const DecideOptions& options) {
  decide::Rubric rubric;
  rubric.efficiency_threshold = options.efficiency_threshold;
  rubric.quality_tolerance = options.quality_tolerance;
  if (options.deadline_hours) rubric.deadline = Seconds(*options.deadline_hours * seconds_per_hour);
  rubric.deadline_probability = options.deadline_probability;
  rubric.value_of_time = dollars_per_hour(options.money.value_of_time_usd_per_hour);
  if (options.budget_usd) rubric.budget = Dollars(*options.budget_usd);
  rubric.energy_budget_kwh = options.energy_budget_kwh;
  if (options.max_latency_ms) rubric.max_latency = Seconds(*options.max_latency_ms * 1e-3);
  rubric.latency = options.latency;
  rubric.min_throughput = options.min_throughput;
  for (const auto objective : {decide::Objective::cost,
                               decide::Objective::balanced,
                               decide::Objective::time,
                               decide::Objective::energy}) {
    if (options.objective == decide::objective_name(objective)) rubric.objective = objective;
  }
  return rubric;
}

decide::DecisionRequest request_of(const DecideOptions& options) {
  if (options.work && !(*options.work > 0.0)) {
    throw UserError("the work must be above 0, as --work 1200000");
  }
  decide::DecisionRequest request;
  request.metrics.baseline = options.baseline;
  request.metrics.work = options.work;
  request.metrics.power = power_of(options.energy, options.money.pue);
  request.regimes = regimes_of(options.money);
  request.rubric = rubric_of(options);
  request.spot = spot_of(options.money);
  request.message = message_of(options);
  request.shown_counts = options.counts;
  request.intervals = !options.no_intervals;
  request.law_inputs = law_inputs(options);
  return request;
}

std::optional<decide::Scaling> scaling_of(const DecideOptions& options) {
  if (options.scaling.empty()) return std::nullopt;
  return options.scaling == "weak" ? decide::Scaling::weak : decide::Scaling::strong;
}

/// `table` is null for coefficients.
void add_prices(decide::DecisionRequest& request,
                const MoneyOptions& options,
                const decide::ScalingTable* table) {
  model::BillTerms bill = bill_of(options);
  std::optional<DollarsPerSecond> price;
  if (options.price_usd_per_hour) price = dollars_per_hour(*options.price_usd_per_hour);
  if (table) {
    const auto prices = decide::table_prices(*table, price, bill.fixed);
    price = prices ? std::optional(prices->per_rank) : std::nullopt;
  }
  if (!price) {
    if (!(model::prices_of(bill).fixed.value() > 0.0) && !(bill.egress.value() > 0.0)) return;
    throw UserError(
        "--fixed, --value-of-time, storage and egress come on top of a price; give --price in "
        "USD per rank and hour");
  }
  bill.per_rank = *price;
  request.bill = bill;
  request.metrics.prices = model::prices_of(bill);
}

decide::Decision decide_coefficients(const DecideOptions& options) {
  if (options.serial || options.communication) {
    if (!options.serial) throw UserError("--comm needs --serial, as 0.03 (0: no serial work)");
    if (!options.communication) {
      throw UserError("--serial needs --comm, as 0.0015 (0: no communication)");
    }
  } else {
    throw UserError(
        "nothing to decide on: give a table (CSV, TOML or JSON), a run directory, recordings of "
        "several counts, or --serial and --comm as the coefficients of T(K) = T1 (s + (1-s)/K + c "
        "(K-1))");
  }
  if (options.domain) throw UserError("--domain looks into a table: give one");
  const decide::Coefficients coefficients{
      *options.serial,
      *options.communication,
      Seconds(options.t1_hours.value_or(1.0) * seconds_per_hour)};
  int most = options.max_count.value_or(default_counts);
  if (!options.max_count) {
    for (const int count : options.counts) most = std::max(most, count);
  }
  decide::DecisionRequest request = request_of(options);
  add_prices(request, options.money, nullptr);
  return decide::decide_curve(coefficients, most, request);
}

TableFile read_input(const DecideOptions& options) {
  const auto scaling = scaling_of(options);
  if (options.inputs.size() == 1 && !names_recordings(options.inputs.front())) {
    return read_table(options.inputs.front(), {options.where, options.rename}, scaling);
  }
  if (!options.where.empty() || !options.rename.empty()) {
    throw UserError("--where and --rename choose from a table; leave them out for recordings");
  }
  return {recordings_table(options.inputs, scaling), {}};
}

decide::Decision decide_file(const DecideOptions& options) {
  if (options.serial || options.communication || options.t1_hours || !options.counts.empty()) {
    throw UserError(
        "a table and --serial, --comm, --t1-hours or --counts exclude each other: leave one out");
  }
  TableFile file = read_input(options);
  decide::DecisionRequest request = request_of(options);
  if (options.work) file.table = decide::of_work(std::move(file.table), *options.work);
  add_prices(request, options.money, &file.table);
  const std::int64_t largest = file.table.rows.back().count;
  const std::int64_t wanted = options.max_count ? std::int64_t{*options.max_count}
                                                : std::max<std::int64_t>(default_counts, largest);
  request.law_counts = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most_law_counts));
  decide::Decision decision = decide::decide_table(file.table, request);
  if (options.domain) {
    const auto edge = decide::domain_remarks(decision.rows, *options.domain);
    decision.remarks.insert(decision.remarks.begin(), edge.begin(), edge.end());
  }
  if (!file.ignored.empty()) {
    decision.remarks.push_back(
        fmt::format("columns that are not used: {}", fmt::join(file.ignored, ", ")));
  }
  return decision;
}

/// The input as a command names it.
std::string input_text(const DecideOptions& options) {
  std::string text = fmt::format("{}", fmt::join(options.inputs, " "));
  for (const std::string& condition : options.where)
    text += fmt::format(" --where '{}'", condition);
  for (const std::string& one : options.rename) text += fmt::format(" --rename '{}'", one);
  if (!options.scaling.empty()) text += " --scaling " + options.scaling;
  return text;
}

report::DecideReportOptions report_options(const DecideOptions& options,
                                           const decide::Decision& decision) {
  report::DecideReportOptions report;
  report.colour = colour_wanted();
  report.details = options.details;
  report.input = input_text(options);
  report.command = options.command;
  report.has_price = decision.choice.has_value();
  report.spot_terms = spot_of(options.money);
  report.rubric = rubric_of(options);
  report.grid = grid_text(options.energy);
  report.currency = options.currency;
  report.tool_version = tool_version();
  report.git_revision = git_revision();
  return report;
}

/// Carbon that nobody can compute would be left out without a word.
void check_carbon(const DecideOptions& options, const decide::Decision& decision) {
  if (grid_text(options.energy).empty()) return;
  const bool powered = std::any_of(decision.rows.begin(), decision.rows.end(), [](const auto& row) {
    return row.energy.has_value();
  });
  if (!powered) {
    throw UserError(
        "--grid and --g-per-kwh make carbon of energy: give --watts-per-rank, or energy_j in the "
        "table");
  }
}
}  // namespace

int decide_count(const DecideOptions& options) {
  const report::Format format = report::parse_format(options.format);
  const decide::Decision decision =
      options.inputs.empty() ? decide_coefficients(options) : decide_file(options);
  check_carbon(options, decision);
  fmt::print("{}", report::render_decision(decision, format, report_options(options, decision)));
  return exit_done;
}
}  // namespace scaleworth::cli
