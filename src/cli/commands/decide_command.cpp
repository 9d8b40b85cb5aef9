// SPDX-License-Identifier: Apache-2.0
#include "src/cli/commands/commands.h"
#include "src/cli/currency.h"
#include "src/cli/decide/decide.h"
#include "src/cli/decide/table/columns.h"
#include "src/cli/typed_command.h"
#include "src/core/error.h"

#include <array>
#include <initializer_list>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace scaleworth::cli {
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
      .add_option(
          "--alpha-us", options.alpha_us, "latency of one hop, us: tells latency from bandwidth")
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
                  "best by cost, time or energy (time under a threshold or budget, else cost)")
      ->check(CLI::IsMember({"cost", "time", "energy"}));
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
