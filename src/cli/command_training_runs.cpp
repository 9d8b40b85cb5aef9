// SPDX-License-Identifier: Apache-2.0
/// `scaleworth mfu runs.csv`: a run per row, whose cells stand in place of the flags.
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"

#include <map>

namespace scaleworth::cli {
namespace {
constexpr const char* name_of_run = "name_of_run";
constexpr const char* stated_mfu = "mfu";
constexpr const char* batch_tokens = "--batch-tokens";
/// What makes up a batch of sequences, which the reader of scaling tables puts together.
constexpr const char* of_batch = "batch";

struct RunColumn {
  std::string flag;                    // that its cells stand for; empty: not used
  double factor = 0.0;                 // of its numbers; 0: texts
  int order = 0;                       // of several ways to say the flag the least is taken
  std::optional<TableColumn> known{};  // of a number
  bool bare_rate = false;              // whose name does not say whether it is of one GPU or of all
  bool in_sequences = false;           // a rate, not in tokens

  bool is(Meaning meaning) const { return known && known->meaning == meaning; }
  bool counts_nodes() const { return is(Meaning::count) && known->nodes; }
  bool of_instance() const { return counted_noun(known->rank) == "nodes"; }
  /// A price that does not say of what: "price", "usd_per_hour".
  bool of_anything() const { return known->rank.empty() || known->rank == "rank"; }
  /// Read with the others of its row.
  bool of_row() const {
    return known && !flag.empty() && !is(Meaning::price) && !is(Meaning::work);
  }
  /// Without which a row is no run.
  bool is_measurement() const {
    return flag.starts_with("--tokens") || flag.starts_with("--tflops") || flag == "--step-seconds";
  }
};

RunColumn rate_of_run(const TableColumn& rate) {
  const bool whole = rate.flops && rate.all_of_them;
  const bool sequences = rate.work_noun == "samples";
  const bool of_node = rate.per_rank && counted_noun(rate.rank) == "nodes";
  if (rate.relative && header_words(rate.name).key() == stated_mfu)
    return {stated_mfu, rate.factor};
  if (rate.relative || rate.inverse || whole || of_node ||
      (!rate.flops && !sequences && rate.work_noun != "tokens"))
    return {};
  const char* const tokens = rate.per_rank ? "--tokens-per-second-per-gpu" : "--tokens-per-second";
  return {rate.flops ? "--tflops-per-gpu" : tokens,
          rate.flops ? rate.factor * 1e-12 : rate.factor,
          sequences ? 1 : 0,
          {},
          !rate.per_rank && !rate.all_of_them,
          sequences};
}

RunColumn column_of_run(const RawTable& table, std::size_t column) {
  const WordList words = all_header_words(table.columns[column]);
  const auto has = [&](const char* word) { return std::ranges::count(words, word) > 0; };
  // "70 B" beside "7 billion and more" is refused with its line.
  const bool sizes = has("params") || has("parameters") || has("param");
  const auto numbers = numbers_of(table, column);
  const auto known_numbers =
      std::ranges::count_if(numbers, [](const auto& one) { return one.has_value(); });
  const auto missing = std::ranges::count_if(
      table.rows, [=](const RawRow& row) { return is_missing(row.cells[column]); });
  // Beside "CUDA OOM".
  const bool numeric = known_numbers > 0 && 2 * known_numbers >= std::ssize(numbers) - missing;
  if (numeric && words == WordList{"s"})
    throw UserError("{}: what is 'S'? Name it seq_len, or step_s", table.place);
  const auto known =
      sizes || numeric ? table_column(table.columns[column], table.place) : std::nullopt;
  if (sizes || numeric) {
    if (known && known->meaning == Meaning::throughput) return rate_of_run(*known);
    const bool length = known && known->meaning == Meaning::sequence_length;
    if (has_word("--parameters", words) && !has("trainable") && !length)
      return {"--parameters", header_scale(words), has("active") || has("activated") ? 0 : 1};
    if (has("tokens") && has_word("step", words)) return {batch_tokens, header_scale(words)};
  }
  if (known) {
    if (known->meaning >= Meaning::tensor && known->meaning <= Meaning::microbatches)
      return {of_batch, known->factor, known->meaning == Meaning::batch ? 1 : 2, known};
    const int least = known->choice >= choice_of_letters ? 1 : known->nodes ? 2 : 0;
    // All tokens of a run, in all its time, are a rate as those of a step are.
    const char* const work = known->work_noun == "tokens" ? batch_tokens : "";
    for (const auto& [meaning, flag, order] :
         {std::tuple{Meaning::count, "--gpus", least},
          {Meaning::per_node, "--gpus", 2},
          {Meaning::time, "--step-seconds", known->per == Per::step ? 0 : 1},
          {Meaning::work, work, 1},
          {Meaning::sequence_length, "--sequence", 0},
          {Meaning::price, "--price", 0}})
      if (known->meaning == meaning) return {flag, known->factor, order, known};
  }
  for (const char* flag : {"--model", "--gpu", "--dtype", "--recompute", name_of_run})
    if (has_word(flag, words) && (!numeric || std::string_view(flag) == name_of_run)) return {flag};
  return {};
}

report::RunUse use_of_row(const MfuOptions& flags,
                          const RawTable& table,
                          const RawRow& row,
                          const std::vector<RunColumn>& columns) {
  try {
    std::string name = toml_file::printable(row.place);
    MfuOptions options = flags;
    CLI::App cells("", "mfu");
    add_run_flags(Flags(cells), options);
    take_typed_numbers(cells);
    std::map<std::string, std::string> arguments;
    std::map<std::string, double> numbers;  // of several columns their product: nodes x GPUs of one
    double gpus_of_node = 0.0;
    std::optional<double> stated;
    const TableRow read = row_of_run(
        table,
        mapped(columns,
               [](const RunColumn& one) { return one.of_row() ? one.known : std::nullopt; }),
        row,
        saturated<int>(static_cast<double>(flags.gpus)));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const RunColumn& column = columns[i];
      const std::string text = without_marks(cell_text(row.cells[i]));
      if (column.is(Meaning::per_node)) gpus_of_node = value_in(table, row, i, 1.0).value_or(0.0);
      if (column.flag.empty() || column.of_row() || text.empty() || is_missing(row.cells[i]))
        continue;
      if (column.flag == name_of_run) name = toml_file::printable(text);
      if (column.flag == name_of_run || column.factor == 0.0) {
        const bool yes = text == "true" || text == "True" || text == "yes";
        const bool no = text == "false" || text == "False" || text == "no";
        arguments[column.flag] = yes ? "full" : no ? "none" : text;  // of recomputation
        continue;
      }
      const double number = *value_in(table, row, i, column.factor);
      if (column.flag == stated_mfu)
        stated = number > 1.0 ? number / 100.0 : number;
      else
        numbers.try_emplace(column.flag, 1.0).first->second *= number;
    }
    const double sequence =
        read.facts.sequence_length.value_or(static_cast<double>(flags.sequence.value_or(1)));
    for (const RunColumn& column : columns) {
      if (!numbers.contains(column.flag)) continue;
      if (column.is(Meaning::price) && column.of_instance())
        numbers["--price"] /= std::max(gpus_of_node, 1.0);
      if (column.in_sequences) numbers[column.flag] *= sequence;
    }
    if (read.count != flags.gpus) numbers["--gpus"] = read.count;
    if (read.time_s) numbers["--step-seconds"] = *read.time_s;
    if (read.facts.sequence_length) numbers["--sequence"] = sequence;
    if (read.facts.batch) numbers[batch_tokens] = *read.facts.batch * sequence;
    arguments.erase(name_of_run);
    for (const auto& [flag, number] : numbers) arguments[flag] = fmt::format("{:.17g}", number);
    std::vector<std::string> words;
    for (const auto& [flag, text] : arguments)
      words.insert(words.begin(), {text, flag});  // CLI11 takes them from the end
    cells.parse(words);
    if (options.parameters) options.model.clear();
    report::RunUse one = use_of_run(options);
    one.name = name;
    one.stated_mfu = stated;
    one.names.model = one.run.model.name;
    if (options.parameters)
      one.names.model = fmt::format("{:.4g} billion parameters", *options.parameters * 1e-9);
    if (one.mfu() > 1.0 || one.mfu() < 0.005)  // no training is as slow
      throw UserError("MFU {:.4g} %: check the GPUs and the rate", 100.0 * one.mfu());
    return one;
  } catch (const std::runtime_error& error) {  // CLI11's, and UserError
    const std::string what = error.what();
    throw UserError(what.starts_with(row.place) ? what : row.place + ": " + what);
  }
}

/// Columns that others make needless, or that need others, settled; throws UserError for those that
/// may be read in two ways.
void settle_columns(std::vector<RunColumn>& columns,
                    const RawTable& table,
                    const MfuOptions& flags) {
  const auto any = [&](auto is) { return std::ranges::any_of(columns, is); };
  const auto has = [&](Meaning meaning) {
    return any([=](const RunColumn& one) { return one.is(meaning); });
  };
  const bool nodes = any([](const RunColumn& one) { return one.counts_nodes(); });
  const bool whole =
      any([](const RunColumn& one) { return one.is(Meaning::count) && !one.counts_nodes(); });
  const bool sequence = flags.sequence || has(Meaning::sequence_length);
  const bool rate = any(
      [](const RunColumn& one) { return one.is_measurement() && !one.in_sequences && !one.known; });
  const bool of_step =
      any([](const RunColumn& one) { return one.known && one.known->per == Per::step; });
  const bool batches = flags.batch_tokens || (sequence && has(Meaning::batch)) ||
                       any([](const RunColumn& one) { return one.flag == batch_tokens; });
  for (RunColumn& one : columns) {
    const bool batch = sequence && has(Meaning::time) && (!rate || one.order == 1);
    if ((one.flag == of_batch && !batch) || (one.in_sequences && (!sequence || rate)) ||
        (one.is(Meaning::work) && (rate || of_step)) ||
        (one.is(Meaning::time) && rate && !batches))  // the hours of a run say nothing more
      one.flag.clear();
    // Without a number of micro-batches there is one.
    if (one.is(Meaning::micro_batch) && has(Meaning::data) && !has(Meaning::microbatches))
      one.known->meaning = Meaning::rank_batch;
  }
  for (RunColumn& one : columns)
    for (const RunColumn& other : columns) {
      const bool before = &other < &one && other.known.has_value() == one.known.has_value() &&
                          (!one.known || one.is(other.known->meaning));
      // Of "--tokens-per-second" and "--tokens-per-second-per-gpu" one suffices, too.
      const bool same = other.factor != 0.0 && !other.flag.empty() && one.factor != 0.0 &&
                        (one.flag.starts_with(other.flag) || other.flag.starts_with(one.flag) ||
                         (one.flag == of_batch && other.flag == batch_tokens));
      if (same && (other.order < one.order || (before && other.order == one.order)))
        one.flag.clear();
    }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    RunColumn& one = columns[i];
    const auto refuse = [&](std::string_view what) {
      throw UserError("{}: '{}' {}", table.place, toml_file::printable(table.columns[i]), what);
    };
    if (one.is(Meaning::per_node) && !nodes) one.flag.clear();
    if (one.counts_nodes() && !whole && !has(Meaning::per_node))
      refuse("counts nodes; add a column gpus, or gpus_per_node");
    if (!one.is(Meaning::price)) continue;
    if (one.of_instance() && !has(Meaning::per_node))
      refuse("is of an instance; add a column gpus_per_node, or name it usd_per_gpu_hour");
    constexpr double most_of_gpu = 12.0;  // above it none is rented
    const auto numbers = numbers_of(table, i);
    if (one.of_anything() && std::ranges::any_of(numbers, [](const auto& number) {
          return number.value_or(0.0) > most_of_gpu;
        }))
      refuse("may be of an instance; name it usd_per_gpu_hour, or usd_per_instance_hour");
  }
}

/// Rows without a measurement, "b (OOM)", are left out of `table`.
std::vector<std::string> left_out_of(RawTable& table, const std::vector<RunColumn>& columns) {
  std::vector<std::string> left_out;
  const RawTable all = table;
  std::erase_if(table.rows, [&](const RawRow& row) {
    std::string why = failure_of(all, row).value_or("");
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].is_measurement() || failure_of(all, row)) continue;
      const std::string text = without_marks(cell_text(row.cells[i]));
      if (cell_number(text, table.comma) && !is_missing(row.cells[i])) return false;
      why = text.empty() ? "empty" : text;
    }
    if (!why.empty()) left_out.push_back(fmt::format("{} ({})", row.place, why));
    return !why.empty();
  });
  if (table.rows.empty() && !left_out.empty())
    throw UserError("{}: no row has a measurement: {}", table.place, fmt::join(left_out, ", "));
  return left_out;
}

}  // namespace

int print_runs(const MfuOptions& flags) {
  RawTable table = parse_raw_table(toml_file::read_small_file(flags.runs), flags.runs);
  std::vector<RunColumn> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) columns.push_back(column_of_run(table, i));
  const auto has = [&](std::string_view flag) {
    return std::ranges::any_of(columns,
                               [=](const auto& one) { return one.flag.starts_with(flag); });
  };
  // Of tokens and TFLOP/s the tokens say more where the model is known, and else nothing.
  const bool modelled = has("--model") || has("--parameters") || !flags.model.empty();
  const bool both = has("--tflops") && (has("--tokens") || has("--step"));
  for (RunColumn& one : columns)
    if (both && one.flag.starts_with(modelled ? "--tflops" : "--tokens")) one.flag.clear();
  settle_columns(columns, table, flags);
  std::vector<Finding> remarks;
  report::RenderOptions render = flags.render;
  for (const std::string& row : left_out_of(table, columns))
    remarks.emplace_back(FindingId::run_left_out, toml_file::printable(row));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string name = toml_file::printable(table.columns[i]);
    if (columns[i].flag.empty()) {
      remarks.emplace_back(FindingId::column_unused, name);
      continue;
    }
    if (columns[i].is(Meaning::price))
      take_currency(currency_of(table, table.columns[i]), render.currency);
    if (columns[i].is(Meaning::price) && columns[i].of_anything())
      remarks.emplace_back(FindingId::price_of_gpu_hour, name);
    if (columns[i].is(Meaning::batch) && columns[i].known->unclear_batch)
      remarks.emplace_back(FindingId::batch_of_all_gpus, name);
    if (columns[i].bare_rate)
      remarks.emplace_back(
          has("--tflops") ? FindingId::rate_of_one_gpu : FindingId::rate_of_all_gpus, name);
  }
  const auto runs =
      mapped(table.rows, [&](const RawRow& row) { return use_of_row(flags, table, row, columns); });
  fmt::print("{}", report::render_runs({runs, remarks, {}, render}));
  return exit_done;
}
}  // namespace scaleworth::cli
