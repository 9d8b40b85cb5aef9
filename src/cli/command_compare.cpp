// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/run/compare_report.h"
#include "report/words.h"
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/run_directory.h"
#include "src/core/process.h"
#include "src/core/version.h"

#include <filesystem>
#include <memory>

namespace scaleworth::cli {
namespace {
namespace fs = std::filesystem;

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

/// Gives machines their prices; found: where those of named instances are from.
std::vector<Finding> add_prices(std::vector<NamedTable>& machines, const CompareOptions& options) {
  std::vector<Finding> origins;
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
    origins.emplace_back(FindingId::priced_as, machines[i].name, origin_text(found));
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
  const std::vector<Finding> origins = add_prices(machines, options);
  OfferComparison offers = compare_offers(machines);
  std::ranges::copy(origins, std::back_inserter(offers.remarks));
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

}  // namespace scaleworth::cli
