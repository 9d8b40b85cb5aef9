// SPDX-License-Identifier: Apache-2.0
/// `scaleworth compare A B` and `scaleworth check RUN`, against a baseline, links or rules.
#include "report/attribution/attribution_report.h"
#include "report/names.h"
#include "report/run/compare_report.h"
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/run_directory.h"
#include "src/core/files/toml_table.h"
#include "src/core/process.h"
#include "src/core/version.h"

#include <array>
#include <filesystem>
#include <memory>

namespace scaleworth::cli {
namespace {
namespace fs = std::filesystem;

/// The runs, or results of tests, directly inside of a folder that is no run itself: repeats of one
/// measurement, or what the processes of one job wrote.
std::vector<std::string> repeats_in(const fs::path& folder) {
  std::vector<std::string> found;
  std::error_code error;
  if (!fs::is_directory(folder, error) || fs::exists(folder / run_file_name, error)) return found;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (fs::exists(entry.path() / run_file_name, error) ||
        (fs::is_regular_file(entry.path(), error) &&
         input_kind(entry.path().string()) == InputKind::results))
      found.push_back(entry.path().string());
  std::ranges::sort(found);
  return found;
}

/// All repeats as one run. Throws UserError for a measurement that is given twice.
Run read_repeats(const std::vector<std::string>& paths, std::string_view command) {
  std::vector<Run> runs;
  std::vector<std::string> read;
  for (const std::vector<std::string>& files : measurements_of(paths)) {
    std::vector<std::string> inside = files.size() == 1 ? repeats_in(files.front()) : files;
    if (inside.empty()) inside = files;
    for (const std::string& one : inside)
      read.push_back(fs::is_directory(one) ? (fs::path(one) / run_file_name).string() : one);
    for (const std::vector<std::string>& one : measurements_of(inside))
      runs.push_back(read_for(command, files, [&] { return read_any_run(one); }));
  }
  refuse_copies(read);
  return runs.size() == 1 ? std::move(runs.front()) : pool_runs(std::move(runs));
}

bool is_recorded_job(const std::string& path) {
  const InputKind kind = input_kind(path);
  return kind == InputKind::attribution ||
         (kind == InputKind::recordings && repeats_in(path).empty());
}

struct CompareOptions {
  std::vector<std::string> runs;
  std::string by;
  std::vector<std::string> prices;
  std::vector<std::string> instance_prices;
  std::vector<std::string> gpus_per_instance;
  std::vector<std::string> instances;
  std::string price_file;
  TableSelection selection;
  std::optional<Scaling> scaling;
  std::string fail_above;
  report::RenderOptions render;
};

/// 0.05 of "5%" and of "5"; absent for none.
std::optional<double> allowed_loss(const char* flag, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::string_view digits =
      text.ends_with('%') ? std::string_view(text).substr(0, text.size() - 1) : text;
  const auto percent = parse_number<double>(digits);
  if (!percent || !(*percent > 0.0) || !(*percent < 100.0))
    throw UserError("{} {}: give a loss in per cent, as 5%", flag, printable(text));
  return *percent / 100.0;
}

int worse_by(const std::optional<double>& loss, std::size_t figures, const std::string& first) {
  if (!loss || figures == 0) return exit_done;
  print_error("scaleworth: B is worse by more than {:g} %, beyond the noise, in {}; first {}\n",
              100.0 * *loss,
              counted(figures, "figure"),
              first);
  return exit_failed;
}

int compare_jobs(const CompareOptions& options) {
  const std::string& a = options.runs[0];
  const std::string& b = options.runs[1];
  const Attribution job_a = attributed_job(a);
  const Attribution job_b = attributed_job(b);
  const auto comparison = model::compare_recordings(job_a, job_b, {a, b});
  fmt::print(
      "{}",
      report::render_recording_comparison({a, job_a}, {b, job_b}, comparison, options.render));
  const auto loss = allowed_loss("--fail-above", options.fail_above);
  const model::ComparedTime& step = comparison.step;
  const bool worse = step.differs() && step.b.value > step.a.value * (1.0 + loss.value_or(0.0));
  return worse_by(loss, worse ? 1 : 0, "the step");
}

/// Calls `take` with each machine that a text is of ("2.50" of all, "H100=2.50" of one) and what it
/// says. Machines have their names, and letters in their order.
template <class Take>
void each_stated(const char* flag,
                 const std::vector<std::string>& texts,
                 std::vector<NamedTable>& machines,
                 Take take) {
  for (const std::string& text : texts) {
    const std::size_t at = text.rfind('=');
    const std::string name = at == std::string::npos ? "" : text.substr(0, at);
    bool found = false;
    for (std::size_t i = 0; i < machines.size(); ++i) {
      const std::string letter(1, static_cast<char>('A' + i));
      if (!name.empty() && name != machines[i].name && name != letter) continue;
      take(i, text.substr(at + 1));  // npos + 1 is 0
      found = true;
    }
    if (!found)
      throw UserError("{} {}: there is no {}; there are {}",
                      flag,
                      printable(text),
                      printable(name),
                      printable(listed(machines, &NamedTable::name)));
  }
}

/// Gives machines their prices; in words where those of named instances are from.
std::vector<std::string> add_prices(std::vector<NamedTable>& machines,
                                    const CompareOptions& options) {
  std::vector<std::string> origins;
  std::vector<double> gpus(machines.size(), 0.0);
  const auto set_price = [&](std::size_t i, double usd_of_instance) {
    const double each = machines[i].table.axis == Axis::nodes ? 1.0 : gpus[i];
    if (!(each > 0.0))
      throw UserError("--instance-price of {} needs --gpus-per-instance, as 8", machines[i].name);
    machines[i].price = dollars_per_hour(usd_of_instance / each);
    if (machines[i].table.axis != Axis::nodes) machines[i].ranks_of_instance = whole_instance(each);
  };
  const auto number_flag = [&](const char* flag, const auto& texts, const auto& take) {
    each_stated(flag, texts, machines, [&](std::size_t i, const std::string& text) {
      take(i,
           stated_amount(flag,
                         text,
                         Dimension::none,
                         "a number above 0, as 2.50, or one for each machine, as H100=2.50"));
    });
  };
  number_flag("--gpus-per-instance", options.gpus_per_instance, [&](std::size_t i, double count) {
    gpus[i] = count;
  });
  number_flag("--price", options.prices, [&](std::size_t i, double usd) {
    machines[i].price = dollars_per_hour(usd);
  });
  number_flag("--instance-price", options.instance_prices, set_price);
  each_stated("--instance", options.instances, machines, [&](std::size_t i, const std::string& id) {
    const InstancePrice found = priced_instance(id, options.price_file, options.render.currency);
    gpus[i] = found.gpus;
    set_price(i, found.usd_per_hour);
    origins.push_back(fmt::format("{} at the price of {}", machines[i].name, origin_text(found)));
  });
  return origins;
}

/// What is told apart: the name without folder and ending, or the whole where names are equal.
std::vector<std::string> names_of(const std::vector<std::string>& inputs) {
  std::vector<std::string> names =
      mapped(inputs, [](const std::string& input) { return fs::path(input).stem().string(); });
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  const bool same = std::ranges::adjacent_find(sorted) != sorted.end();
  return same ? inputs : names;
}

/// One of several: a flag that settles a question of it would be asked of the others, too.
ScalingTable table_of(const std::string& input, const CompareOptions& options) {
  if (input_kind(input) == InputKind::results)
    throw UserError("{}: results of tests have no job to price: compare without prices",
                    printable(input));
  if (is_recorded_job(input)) return recordings_table({input}, options.scaling);
  try {
    return read_table(input, options.selection, options.scaling).with_unit();
  } catch (const Question& question) {
    throw UserError("{}; keep the rows of one machine in this table, or compare it alone with --by",
                    question.what());
  }
}

/// One job on several machines: tables, groups of rows of one, or jobs with a price.
int compare_machines(const CompareOptions& options) {
  std::vector<NamedTable> machines;
  if (!options.by.empty()) {
    if (options.runs.size() != 1) throw UserError("--by takes one table, not several");
    machines = read_for("compare", options.runs, [&] {
      return read_groups(options.runs.front(), options.by, options.selection, options.scaling);
    });
    for (NamedTable& one : machines)
      one.input = report::shell_words(
          {options.runs.front(), "--where", fmt::format("{}={}", options.by, one.name)});
  } else if (options.runs.size() < 2) {
    throw UserError("compare takes two tables, or one with --by COLUMN, which names the machines");
  } else {
    const std::vector<std::string> names = names_of(options.runs);
    for (std::size_t i = 0; i < names.size(); ++i)
      machines.push_back({names[i],
                          table_of(options.runs[i], options),
                          {},
                          report::shell_words({options.runs[i]})});
  }
  const std::vector<std::string> origins = add_prices(machines, options);
  OfferComparison offers = compare_offers(machines);
  for (const std::string& origin : origins) offers.doubts.emplace_back(origin + ".");
  report::RenderOptions render = options.render;
  if (!machines.front().price) take_currency(machines.front().table.read.currency, render.currency);
  fmt::print("{}", report::render_offers(offers, render));
  return exit_done;
}

int compare_runs(CompareOptions options) {
  if (options.gpus_per_instance.size() == 1 && options.instance_prices.empty())
    options.selection.gpus_per_instance = parse_number<double>(options.gpus_per_instance.front());
  const bool tables = std::ranges::all_of(
      options.runs, [](const std::string& input) { return input_kind(input) == InputKind::table; });
  const bool priced = !options.prices.empty() || !options.instance_prices.empty() ||
                      !options.gpus_per_instance.empty() || !options.instances.empty();
  const auto loss = allowed_loss("--fail-above", options.fail_above);
  if (tables || priced || !options.by.empty()) {
    if (loss)
      throw UserError("--fail-above takes two runs or two recordings, not tables or prices");
    return compare_machines(options);
  }
  if (options.runs.size() != 2) {
    throw UserError(
        "compare takes two runs, A and B, not {}; repeats of one go into a folder of their own",
        options.runs.size());
  }
  const bool recorded = is_recorded_job(options.runs[0]);
  if (recorded != is_recorded_job(options.runs[1]))
    throw UserError("{} is {} and {} is {}: compare two of a kind",
                    options.runs[0],
                    recorded ? "a recording" : "a run",
                    options.runs[1],
                    recorded ? "a run" : "a recording");
  if (recorded) return compare_jobs(options);
  const Run a = read_repeats({options.runs[0]}, "compare");
  const Run b = read_repeats({options.runs[1]}, "compare");
  const model::Comparison comparison = model::compare(model::figures_of(a), model::figures_of(b));
  fmt::print("{}",
             report::render_comparison(
                 {options.runs[0], &a}, {options.runs[1], &b}, comparison, options.render));
  if (loss && model::wrong_results(b).settings > model::wrong_results(a).settings) {
    print_error("scaleworth: B has wrong results: repair that before its speed is compared\n");
    return exit_failed;
  }
  if (comparison.empty()) return exit_nothing;
  std::vector<model::ComparedFigure> worse = model::judged(comparison);
  std::erase_if(worse, [&](const model::ComparedFigure& one) {
    return !one.differs() || one.gain.value >= 1.0 - loss.value_or(0.0);
  });
  std::ranges::sort(worse, {}, [](const auto& one) { return one.gain.value; });
  return worse_by(loss, worse.size(), worse.empty() ? "" : report::figure_text(worse.front()));
}

struct CheckOptions {
  std::vector<std::string> runs;
  std::vector<std::string> baseline;
  std::vector<std::string> links;
  std::string rules;
  std::string tolerance = "5";
  bool across_versions = false;
  std::optional<report::CheckFormat> format;  // absent: a report
  report::RenderOptions render;
};

int exit_code_of(model::CheckStatus status) {
  if (status == model::CheckStatus::fail) return exit_failed;
  return status == model::CheckStatus::cannot_tell ? exit_nothing : exit_done;
}

/// "nvlink4x18": generation and links of a GPU; "pcie5x16": and lanes; "network400x8": Gbit/s of a
/// card, and cards of a node.
model::LinkRate stated_link(const std::string& text) {
  const auto digit = std::min(text.find_first_of("0123456789"), text.size());
  const auto wire = from_key<model::Wire>(text.substr(0, digit));
  const auto numbers = split(std::string_view(text).substr(digit), 'x');
  const auto each = parse_number<double>(numbers.front());
  const auto count = parse_number<double>(numbers.back());
  const bool known = numbers.size() == 2 && wire && each && count;
  const BytesPerSecond rate = known ? model::link_rate(*wire, *each) : BytesPerSecond(0.0);
  if (!(rate > BytesPerSecond(0.0)) || !(*count > 0.0))
    throw UserError(
        "--link {}: give nvlink4x18 (generation, links), pcie5x16 or network400x8 (Gbit/s, cards)",
        printable(text));
  return {*wire, *count, rate};
}

SettingValue value_of(toml_file::Table& row, const ParameterInfo& about) {
  if (about.type == ParameterType::count) return row.positive_integer(about.key);
  if (about.type == ParameterType::flag) return row.flag(about.key, false);
  return row.text(about.key);
}

/// [[rule]]: a metric, parameters of its setting, at_least or at_most.
std::vector<model::Allowed> read_rules(const std::string& file) {
  toml_file::Table root = toml_file::Table::parse(toml_file::read_small_file(file), file);
  std::vector<model::Allowed> rules;
  for (toml_file::Table& row : root.tables("rule")) {
    model::Allowed& rule = rules.emplace_back();
    const auto metric = metric_of_key(row.text("metric"));
    if (!metric) row.refuse("no such metric; docs/run.schema.json lists them", "metric");
    rule.metric = *metric;
    for (const ParameterInfo& about : all_parameters()) {
      if (!row.has(about.key)) continue;
      try {
        rule.where.set(about.id, value_of(row, about));
      } catch (const std::invalid_argument& error) {
        row.refuse(error.what(), about.key);
      }
    }
    rule.at_least = row.optional_positive("at_least");
    rule.at_most = row.optional_positive("at_most");
    if (!rule.at_least && !rule.at_most) row.refuse("at_least or at_most is missing");
    row.finish();
  }
  root.finish();
  return rules;
}

/// In place of a baseline.
std::vector<model::Allowed> bounds_of(const CheckOptions& options,
                                      const Run& run,
                                      const model::Comparison& itself) {
  if (!options.rules.empty()) return read_rules(options.rules);
  std::vector<model::LinkRate> links = mapped(options.links, stated_link);
  std::ranges::move(model::detected_links(run), std::back_inserter(links));
  return model::envelope(itself, links);
}

int check_runs(const CheckOptions& options) {
  const bool alone = options.baseline.empty();
  const double tolerance = alone ? 0.0 : *allowed_loss("--tolerance", options.tolerance);
  const Run run = read_repeats(options.runs, "check");
  const Run baseline = alone ? run : read_repeats(options.baseline, "check");
  const std::string libraries = report::different_libraries(baseline, run);
  if (!libraries.empty() && !options.across_versions) {
    throw NothingMeasurable(
        "not comparable: {}; measure the baseline again, or say --across-versions", libraries);
  }
  const model::Comparison comparison =
      model::compare(model::figures_of(baseline), model::figures_of(run));
  const std::size_t wrong = model::wrong_results(run).settings;
  const model::CheckResult result =
      alone ? model::check(comparison, bounds_of(options, run, comparison), wrong)
            : model::check(comparison, tolerance, wrong);
  const report::ComparedRun checked{listed(options.runs, {}, " "), &run};
  report::ComparedRun against{listed(options.baseline, {}, " "), &baseline};
  if (alone)
    against = {options.rules.empty() ? "what the links allow" : "the rules of " + options.rules};
  fmt::print(
      "{}",
      options.format
          ? report::render_check_as(*options.format, checked, against, result, tolerance)
          : report::render_check(checked, against, comparison, result, tolerance, options.render));
  return exit_code_of(result.status);
}
}  // namespace

Command add_compare_command(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = add_command(app, "compare");
  const Flags flags(*command);
  flags.add("run", options->runs)->required();
  flags.add("--by", options->by);
  for (auto* flag : {flags.add("--price", options->prices),
                     flags.add("--instance-price", options->instance_prices),
                     flags.add("--gpus-per-instance", options->gpus_per_instance),
                     flags.add("--instance", options->instances),
                     flags.add("--where", options->selection.where),
                     flags.add("--rename", options->selection.rename)})
    flag->allow_extra_args(false);
  flags.add("--prices", options->price_file)->needs("--instance");
  add_scaling(flags, "--scaling", options->scaling);
  flags.add("--fail-above", options->fail_above);
  add_currency(*command, options->render.currency);
  add_render_flags(*command, options->render);
  return {command, [options](const Arguments& arguments) {
            options->render.command = typed_command(arguments);
            try {
              return compare_runs(*options);
            } catch (const Question& question) {
              print_question(question, options->render.command);
              return exit_usage;
            }
          }};
}

Command add_check_command(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = add_command(app, "check");
  const Flags flags(*command);
  flags.add("run", options->runs)->required();
  CLI::Option* against = flags.add("--against", options->baseline);
  flags.add("--link", options->links)->allow_extra_args(false)->excludes(against);
  flags.add("--rules", options->rules)->excludes(against);
  flags.add("--tolerance", options->tolerance)->capture_default_str();
  flags.add("--across-versions", options->across_versions);
  const std::vector<std::string> formats{"junit", "github", "prometheus"};
  add_render_flags(*command, options->render, formats, [options, formats](const std::string& name) {
    options->format =
        static_cast<report::CheckFormat>(std::ranges::find(formats, name) - formats.begin());
  });
  command->footer(command->get_footer() + app.get_footer());
  return {command, [options](const Arguments& arguments) {
            options->render.command = typed_command(arguments);
            return check_runs(*options);
          }};
}
}  // namespace scaleworth::cli
