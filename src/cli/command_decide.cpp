// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/run_directory.h"
#include "src/core/process.h"
#include "src/model/analysis.h"
#include "src/model/decision/scaling_row.h"
#include "src/model/transformer/utilisation.h"

#include <cmath>
#include <filesystem>

namespace scaleworth::cli {
int whole_instance(double gpus) {
  constexpr double most = 1024.0;
  if (gpus >= 1.0 && gpus <= most && gpus == std::floor(gpus)) return static_cast<int>(gpus);
  throw UserError("--gpus-per-instance is a whole number from 1 to {:g}, not {:g}", most, gpus);
}

namespace {
constexpr int default_counts = 64;
/// A law's curve beyond this would cost more memory than it is worth.
constexpr int most_law_counts = 4096;

/// `table` is null for coefficients. A price that is given goes before those of a table whose rows
/// all have one; returns whether it does.
bool add_prices(DecideOptions& options, ScalingTable* table) {
  auto& prices = options.request.metrics.prices;
  if (options.instance_price) {
    const bool instances = table && table->axis == Axis::nodes;
    const auto& several = options.selection.gpus_per_instance;
    if (options.price) throw UserError("--price and --instance-price exclude each other");
    if (!instances && !several)
      throw UserError(
          "--instance-price needs --gpus-per-instance, as 8: the table counts no instances");
    options.price = *options.instance_price * (instances ? 1.0 : 1.0 / *several);
    if (!instances) prices->ranks_of_instance = whole_instance(*several);
  }
  const bool replaced = table && options.price && options.price->value() > 0.0 &&
                        std::ranges::all_of(table->rows, [](const TableRow& row) {
                          return row.facts.price.has_value();
                        });
  if (replaced)
    for (TableRow& row : table->rows) row.facts.price.reset();
  if (const auto price = table ? rank_price(*table, options.price) : options.price) {
    prices->per_rank = *price;
    if (price->value() == 0.0 && prices->per_clock().value() == 0.0)
      throw UserError("--price 0: what costs nothing has no cheapest count; leave it out");
    return replaced;
  }
  if (prices->per_clock().value() > 0.0) {
    throw UserError("--fixed and --value-of-time come on top of a price; give --price in " +
                    options.render.currency + " per rank and hour");
  }
  prices.reset();
  return false;
}

Decision decide_coefficients(DecideOptions& options) {
  if (!options.serial)
    throw UserError(
        "nothing to decide on: give a table (- for standard input), a run directory, recordings of "
        "several counts, or --serial and --comm of T(K) = T1 (s + (1-s)/K + c (K-1))");
  const Coefficients coefficients{
      *options.serial, options.communication.value_or(0.0), options.single.value_or(Seconds(3600))};
  int most = options.max_count.value_or(default_counts);
  if (!options.max_count) {
    for (const int count : options.request.shown_counts) most = std::max(most, count);
  }
  add_prices(options, nullptr);
  return decide_curve(coefficients, most, options.request);
}

TableFile read_input(const DecideOptions& options) {
  const InputKind kind = input_kind(options.inputs.front());
  const bool recorded = kind == InputKind::recordings || kind == InputKind::attribution;
  if (options.inputs.size() == 1 && !recorded)
    return read_table(options.inputs.front(), options.selection, options.scaling);
  if (!options.selection.where.empty() || !options.selection.rename.empty()) {
    throw UserError("--where and --rename choose from a table; leave them out for recordings");
  }
  return {recordings_table(options.inputs, options.scaling), {}};
}

/// What the input holds beside the figures that were used.
void add_unused(const TableFile& file, bool prices_replaced, Decision& decision) {
  // More than the GPUs that were added gained more: what nobody reads may say why.
  const bool too_good = std::ranges::any_of(
      decision.rows, [](const DecisionRow& row) { return row.efficiency.value > 1.05; });
  if (const auto& names = file.unread; !names.empty())
    (too_good ? decision.warnings : decision.remarks)
        .emplace_back(FindingId::columns_may_say_work, first_names(names, 4), names.front());
  if (prices_replaced) decision.remarks.emplace_back(FindingId::table_prices_unused);
  if (const auto& prices = decision.request.metrics.prices) {
    std::vector<int> parts;
    for (const DecisionRow& row : decision.rows)
      if (prices->paid_ranks(row.count) != row.count) parts.push_back(row.count);
    if (!parts.empty())
      decision.remarks.emplace_back(FindingId::whole_instances_paid,
                                    fmt::format("{}", fmt::join(parts, ", ")),
                                    prices->ranks_of_instance);
  }
  if (!file.ignored.empty()) {
    decision.remarks.emplace_back(FindingId::columns_unused, listed(file.ignored));
  }
}

Decision decide_file(DecideOptions& options) {
  DecisionRequest& request = options.request;
  if (options.serial || options.communication || options.single || !request.shown_counts.empty()) {
    throw UserError(
        "a table and --serial, --comm, --t1-hours or --counts exclude each other: leave one out");
  }
  TableFile file = read_for("decide", options.inputs, [&] { return read_input(options); });
  const ScalingTable& read = file.table;
  if (read.read.table && read.rows.size() == 1)
    throw UserError("{}: one count, {}, decides nothing{}: add a row of a second count",
                    options.inputs.front(),
                    read.rows.front().count,
                    read.read.left_out.empty()
                        ? ""
                        : fmt::format(" (left out: {})", fmt::join(read.read.left_out, ", ")));
  const auto& rubric = request.rubric;
  if (read.relative && (rubric.deadline || rubric.budget))
    throw UserError("{}: ratios alone, no time: {} needs one, in the table or as a rate",
                    options.inputs.front(),
                    rubric.deadline ? "a deadline" : "a budget");
  const bool in_seconds = options.price || options.instance_price || rubric.deadline ||
                          rubric.budget || request.metrics.failures ||
                          request.metrics.power.watts_per_rank;
  if (in_seconds) file.with_unit();
  if (read.basis != TimeBasis::run && !request.metrics.work && (rubric.deadline || rubric.budget))
    throw UserError("a {} is of a whole run: add --work, the {} of the run",
                    rubric.deadline ? "deadline" : "budget",
                    !read.work_noun.empty() ? read.work_noun : "steps or work");
  if (request.metrics.work) {
    file.table = of_work(std::move(file.table), *request.metrics.work);
  }
  const bool prices_replaced = add_prices(options, &file.table);
  if (!prices_replaced) take_currency(file.table.read.currency, options.render.currency);
  request.rubric.currency = options.render.currency;
  const std::int64_t largest = file.table.rows.back().count;
  const std::int64_t wanted = options.max_count ? std::int64_t{*options.max_count}
                                                : std::max<std::int64_t>(default_counts, largest);
  request.law_counts = static_cast<int>(std::clamp<std::int64_t>(wanted, 1, most_law_counts));
  request.domain = options.domain;
  Decision decision = decide_table(file.table, request);
  add_unused(file, prices_replaced, decision);
  return decision;
}

/// FLOPs of a unit of the table's work: 1 of a rate in FLOP/s, those of a trained token by --model.
double flops_per_work(const DecideOptions& options, const Decision& decision) {
  if (decision.read.of_flops) {
    if (options.peak.model.empty()) return 1.0;
    throw UserError("--model changes nothing of rates in FLOP/s: leave it out");
  }
  if (decision.work_noun != "tokens" || !any_has(decision.rows, &DecisionRow::throughput))
    throw UserError(
        "--gpu and --peak need a rate in tokens/s or TFLOP/s in {} (--rename COLUMN=tokens_per_s)",
        options.inputs.empty() ? "a curve" : options.inputs.front());
  if (options.peak.model.empty())
    throw UserError("a rate in tokens/s needs --model, which says the FLOPs of a token");
  const TransformerModel model = model_of(options.peak);
  return model_flops(Convention::full, model, model.sequence);
}

/// What each count makes of the peak of its GPUs, where they are named.
void add_utilisation(const DecideOptions& options, Decision& decision) {
  const MfuOptions& asked = options.peak;
  if ((!asked.gpu.empty() || asked.peak) && decision.axis == Axis::nodes)
    throw UserError(
        "--gpu and --peak are of one GPU, rows count nodes: add a column gpus_per_node");
  if (asked.gpu.empty() && !asked.peak) {
    if (asked.model.empty()) return;
    throw UserError("--model needs --gpu or --peak, against which each count's rate is held");
  }
  const double flops = flops_per_work(options, decision);
  const auto gpu = datasheet_of(asked);
  const PeakChoice choice = choose_peaks({gpu ? &*gpu : nullptr, asked.number_format, asked.peak});
  const Denominator& peak = choice.peaks.front();
  for (auto* rows : {&decision.rows, &decision.fitted_rows, &decision.shown}) {
    for (DecisionRow& row : *rows) {
      if (!row.throughput) continue;
      row.trained.mfu_peak = model_flops_utilisation(
          Flops(*row.throughput / row.count * flops), Seconds(1.0), peak.rate);
      row.trained.mfu_basis = Finding(
          FindingId::peak_of_gpu, gpu_names(asked, gpu).gpu, peak.rate.value() / 1e12, peak.basis);
    }
  }
}

/// The input as a command names it.
std::string input_text(const DecideOptions& options) {
  std::vector<std::string> words = options.inputs;
  for (const std::string& condition : options.selection.where)
    words.insert(words.end(), {"--where", condition});
  for (const std::string& one : options.selection.rename)
    words.insert(words.end(), {"--rename", one});
  if (options.selection.comma != Comma::unstated)
    words.insert(words.end(),
                 {"--comma", options.selection.comma == Comma::decimal ? "decimal" : "thousands"});
  std::string text = report::shell_words(words);
  if (options.scaling) {
    text += *options.scaling == Scaling::weak ? " --scaling weak" : " --scaling strong";
  }
  return text;
}

/// Carbon that cannot be computed would be left out without a message.
void check_carbon(const Decision& decision) {
  if (decision.request.metrics.power.grid.empty()) return;
  if (std::ranges::any_of(decision.rows, [](const auto& row) { return row.energy.has_value(); })) {
    return;
  }
  throw UserError("--grid and --g-per-kwh need energy: --watts-per-rank, or energy_j in the table");
}

Decision complete_decision(DecideOptions& options) {
  Decision decision = options.inputs.empty() ? decide_coefficients(options) : decide_file(options);
  check_carbon(decision);
  if (!options.price_origin.empty())
    decision.remarks.emplace_back(FindingId::stated, options.price_origin);
  add_utilisation(options, decision);
  options.render.input = input_text(options);
  return decision;
}

/// Prints the answer of each curve where the question is of which, of each scaling where both take
/// one count, and by columns that can be but one thing where more machines then gain. False where
/// it has to be asked; programs read one decision.
bool decide_each(const DecideOptions& options, const Question& question) {
  const bool one_way = question.answers.size() == 1;
  // A pipe is read but once.
  if (!std::filesystem::is_regular_file(options.inputs.front())) return false;
  if (question.answers.empty() || (options.render.format == report::Format::json && !one_way))
    return false;
  const bool scalings = question.answers.front().flags.front() == "--scaling";
  std::vector<report::NamedDecision> all;
  std::vector<int> taken;
  bool guessed = false;  // which column is the time, the rate, or without a name the count
  bool gains = false;
  DecideOptions one;
  for (const auto& [flags, means] : question.answers) {
    one = options;
    std::string name;
    for (std::size_t i = 0; i + 1 < flags.size(); i += 2) {
      const std::string& value = flags[i + 1];
      const std::string to = value.substr(value.rfind('=') + 1);
      name += (i == 0 ? "" : ", ") + value;
      guessed = guessed || to == "time" || to == "throughput" || to == "p";
      if (flags[i] == "--where")
        one.selection.where.push_back(value);
      else if (flags[i] == "--rename" && (to != "p" || is_unnamed(value)) &&
               to.find(" per ") == to.npos)
        one.selection.rename.push_back(value);
      else if (flags[i] == "--scaling" && (scalings || question.alike))
        one.scaling = value == "weak" ? Scaling::weak : Scaling::strong;
      else
        return false;
    }
    all.push_back({name, report::shell_words(flags), complete_decision(one)});
    const Decision& decision = all.back().decision;
    if (!decision.warnings.empty() || !decision.rubric.chosen) continue;
    taken.push_back(*decision.rubric.chosen);
    for (const DecisionRow& row : decision.rows) gains = gains || row.speedup.value > 1.25;
  }
  if (taken.empty() || (guessed && !gains) ||
      !(question.alike ||
        (scalings && std::ranges::count(taken, taken.front()) == std::ssize(all))))
    return false;
  if (one_way) all.front().decision.remarks.emplace_back(FindingId::read_by, all.front().name);
  fmt::print("{}",
             one_way ? report::render_decision(all.front().decision, one.render)
                     : report::render_decisions(all, options.render));
  return true;
}
}  // namespace

void print_question(const Question& question, const std::string& command) {
  print_error("scaleworth: {}{}\n",
              printable(question.what()),
              question.answers.size() > 1 ? "; say which:" : "; say it by:");
  for (std::size_t i = 0; i < std::min(Question::most_shown, question.answers.size()); ++i) {
    const auto& [flags, means] = question.answers[i];
    const std::string answer = command + " " + report::shell_words(flags);
    print_error("  {}{}\n", printable(answer), means.empty() ? "" : "  # " + printable(means));
  }
}

int decide_count(DecideOptions& options) {
  const DecideOptions asked = options;
  try {
    const Decision decision = complete_decision(options);
    fmt::print("{}", report::render_decision(decision, options.render));
    return exit_done;
  } catch (const Question& question) {
    if (decide_each(asked, question)) return exit_done;
    print_question(question, options.render.command);
    return exit_usage;
  }
}
}  // namespace scaleworth::cli
