// SPDX-License-Identifier: Apache-2.0
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/files/run_directory.h"
#include "src/core/files/toml_table.h"
#include "src/model/analysis.h"
#include "src/model/transformer/transformer.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>

namespace scaleworth::cli {
namespace {
/// Of a trained token: a multiplication and an addition, forward and twice backward.
constexpr double flops_per_parameter = 6.0;
constexpr auto teraflops = [](double number) { return FlopPerSecond(number * 1e12); };

double tokens_per_second(const MfuOptions& options) {
  const bool by_step = options.step_seconds || options.batch_tokens;
  if (options.tokens_per_second && !by_step) return *options.tokens_per_second;
  if (options.tokens_per_second && options.step_seconds && options.batch_tokens) {
    constexpr double rounded = 0.03;
    const double of_step = *options.batch_tokens / *options.step_seconds;
    if (std::abs(of_step / *options.tokens_per_second - 1.0) <= rounded) return of_step;
    throw UserError(
        "{:g} tokens/s are stated, and a step's tokens over its time are {:g}: correct one, or "
        "leave it out",
        *options.tokens_per_second,
        of_step);
  }
  if (options.tokens_per_second || !options.step_seconds || !options.batch_tokens) {
    throw UserError(
        "give the throughput of all GPUs, either as --tokens-per-second (or "
        "--tokens-per-second-per-gpu) or as --step-seconds with --batch-tokens");
  }
  if (!(*options.step_seconds > 0.0)) throw UserError("--step-seconds must be positive");
  return *options.batch_tokens / *options.step_seconds;
}

/// A rate of one GPU becomes that of all.
void settle(MfuOptions& options) {
  if (options.tokens_per_gpu_second)
    options.tokens_per_second = *options.tokens_per_gpu_second * static_cast<double>(options.gpus);
}

Recomputation recomputation_of(const std::string& name) {
  for (const auto recomputation : {Recomputation::none, Recomputation::selective}) {
    if (name == recomputation_name(recomputation)) return recomputation;
  }
  return Recomputation::full;
}

PeakChoice stated_peaks(const MfuOptions& options, const std::optional<GpuDatasheet>& gpu) {
  return choose_peaks({gpu ? &*gpu : nullptr, options.number_format, options.peak});
}

TrainingRun run_of(const MfuOptions& options, const PeakChoice& peaks) {
  TrainingRun run;
  run.peaks = peaks.peaks;
  run.gpus = options.gpus;
  if (options.price_usd_per_hour) run.price = dollars_per_hour(*options.price_usd_per_hour);
  run.tokens = options.tokens;
  if (options.tflops_per_gpu) run.stated_rate = teraflops(*options.tflops_per_gpu);
  if (options.parameters) {
    run.tokens_per_second = tokens_per_second(options);
    run.stated_rate = FlopPerSecond(flops_per_parameter * *options.parameters *
                                    run.tokens_per_second / static_cast<double>(run.gpus));
  }
  if (run.stated_rate && options.model.empty()) return run;
  const Denominator& peak = run.peaks.front();
  if (run.stated_rate && *run.stated_rate > peak.rate)
    throw UserError(
        "--tflops-per-gpu {:g} is above the peak of one GPU, {:.4g} TFLOP/s ({}): check whether it "
        "counts sparsity, another number format, or several GPUs",
        *options.tflops_per_gpu,
        peak.rate.value() / 1e12,
        peak.basis);
  run.model = model_of(options);
  if (options.sequence && *options.sequence < 1) throw UserError("--sequence must be positive");
  run.sequence = options.sequence.value_or(0);
  run.model.mtp_layers = options.mtp_layers.value_or(run.model.mtp_layers);
  run.convention = parse_convention(options.convention);
  run.recomputation = recomputation_of(options.recomputation);
  if (run.stated_rate) {
    const std::int64_t sequence = run.sequence == 0 ? run.model.sequence : run.sequence;
    run.tokens_per_second = run.stated_rate->value() * static_cast<double>(run.gpus) /
                            quoted_flops(run.convention, run.model, sequence);
    run.stated_rate.reset();
    run.stated_as = StatedAs::flops_of_one_gpu;
  } else {
    run.tokens_per_second = tokens_per_second(options);
    if (options.tokens_per_gpu_second) run.stated_as = StatedAs::tokens_of_one_gpu;
  }
  return run;
}

/// Whether the training of a model fits: what is asked where no rate is given.
int print_memory(const MfuOptions& options) {
  const std::optional<GpuDatasheet> gpu = datasheet_of(options);
  if (!gpu || !gpu->memory)
    throw UserError(
        "give the rate of all GPUs for the MFU (--tokens-per-second); or a --gpu whose "
        "memory is known, for what training needs of it");
  const report::MfuNames names = gpu_names(options, gpu);
  const MemoryQuestion question{
      model_of(options), options.sequence.value_or(0), options.gpus, *gpu->memory};
  const MemoryAnswer answer = training_memory(question);
  fmt::print("{}", report::render_memory({question, answer, names, options.render}));
  return exit_done;
}

/// An architecture and a throughput in, utilisation and cost out.
int print_utilisation(const MfuOptions& options) {
  if (options.model.empty() && options.gpu.empty() && !options.peak) {
    throw UserError(
        "nothing to compute: give --model, --gpu and --tokens-per-second of a run, or --inference "
        "with a model and a GPU, or --budget; examples: scaleworth mfu --help");
  }
  const std::optional<GpuDatasheet> gpu = datasheet_of(options);
  PeakChoice peaks = stated_peaks(options, gpu);
  if (const auto measured = measured_peak(options.measured_peak, peaks.number_format)) {
    peaks.peaks.push_back(*measured);
  }
  const TrainingRun run = run_of(options, peaks);
  TrainingUse use = use_of_training(run);
  use.remarks.insert(use.remarks.end(), peaks.remarks.begin(), peaks.remarks.end());
  report::MfuNames names = gpu_names(options, gpu);
  names.number_format = peaks.number_format;
  fmt::print("{}", report::render_mfu({run, use, names, options.render}));
  return exit_done;
}

// `scaleworth mfu --budget`: dollars or FLOPs in, the size to train and its tokens out.

struct BudgetOptions {
  std::optional<double> usd;
  std::optional<double> flops;
  std::optional<double> mfu;

  bool asked() const { return usd || flops; }
  /// --budget and its companions, in a group of the help.
  void add_to(CLI::App& command) {
    const Flags flags(command, "Compute-optimal training");
    flags.add("--budget", usd);
    flags.add("--budget-flops", flops);
    flags.add("--mfu", mfu);
  }
};

/// With the names of the GPU; no means where neither money nor a GPU is asked for.
void add_means(TrainingQuestion& question,
               report::MfuNames& names,
               const MfuOptions& options,
               const BudgetOptions& budget) {
  const bool dollars = budget.usd.has_value();
  if (!dollars && options.gpu.empty() && !options.peak) return;
  if (dollars && !options.price_usd_per_hour) {
    throw UserError("a budget in money needs --price, in {} for one GPU for one hour",
                    options.render.currency);
  }
  if (!budget.mfu) {
    throw UserError("what a GPU makes of its peak is yours to say: give --mfu, as 0.4");
  }
  if (options.gpus > std::numeric_limits<int>::max()) throw UserError("--gpus: too many");
  const auto gpu = datasheet_of(options);
  const PeakChoice stated = stated_peaks(options, gpu);
  const Denominator peak =
      measured_peak(options.measured_peak, stated.number_format).value_or(stated.peaks.front());
  question.means = TrainingMeans{
      dollars_per_hour(options.price_usd_per_hour.value_or(0.0)), peak.rate, *budget.mfu, {}};
  if (options.gpus > 1) question.means->gpus = static_cast<int>(options.gpus);
  names = gpu_names(options, gpu);
  names.peak_basis = peak.basis;
}

int print_budget(const MfuOptions& options, const BudgetOptions& budget) {
  TrainingQuestion question;
  report::MfuNames names;
  if (budget.usd) question.dollars = Dollars(*budget.usd);
  if (budget.flops) question.flops = Flops(*budget.flops);
  add_means(question, names, options, budget);
  if (!options.model.empty()) {
    const TransformerModel model = model_of(options);
    names.model = model.name;
    question.parameters = active_parameter_count(model);
  }
  const TrainingPlan plan = plan_training(question);
  fmt::print("{}", report::render_budget({question, plan, names, options.render}));
  return exit_done;
}

void add_flags(const Flags& flags, MfuOptions& options) {
  flags.add("runs", options.runs);
  flags.add("--model", options.model);
  flags.add("--parameters", options.parameters);
  flags.add("--model-file", options.model_file);
  flags.add("--gpu", options.gpu);
  flags.add("--datasheets", options.datasheets)->needs("--gpu");
  flags.add("--gpus", options.gpus)->capture_default_str();
  flags.add("--tokens-per-second", options.tokens_per_second);
  flags.add("--tokens-per-second-per-gpu", options.tokens_per_gpu_second)
      ->excludes("--tokens-per-second");
  flags.add("--tflops-per-gpu", options.tflops_per_gpu)
      ->excludes("--tokens-per-second")
      ->excludes("--tokens-per-second-per-gpu");
  flags.add("--step-seconds", options.step_seconds);
  flags.add("--batch-tokens", options.batch_tokens);
  flags.add("--sequence", options.sequence);
  flags.add("--mtp-layers", options.mtp_layers)->check(CLI::Range(0, 1024));
  flags.add("--dtype", options.number_format);
  flags.add("--convention", options.convention)->capture_default_str();
  flags.add("--recompute", options.recomputation)
      ->check(CLI::IsMember({"none", "selective", "full"}))
      ->capture_default_str();
  flags.call<double>("--peak", [&](double number) { options.peak = teraflops(number); });
  flags.add("--measured-peak", options.measured_peak);
  flags.add("--price", options.price_usd_per_hour);
  flags.add("--tokens", options.tokens);
}

// `scaleworth mfu runs.csv`: a run per row, whose cells stand in place of the flags.

constexpr const char* name_of_run = "name_of_run";

struct RunColumn {
  std::string flag;                    // that its cells stand for; empty: not used
  double factor = 0.0;                 // of its numbers; 0: texts
  bool bare_rate = false;              // whose name does not say whether it is of one GPU or of all
  std::optional<TableColumn> known{};  // of a number

  bool is(Meaning meaning) const { return known && known->meaning == meaning; }
  bool counts_nodes() const { return is(Meaning::count) && known->nodes; }
  bool of_instance() const { return counted_noun(known->rank) == "nodes"; }
  /// Without which a row is no run.
  bool is_measurement() const {
    return flag.starts_with("--tokens") || flag.starts_with("--tflops") || flag == "--step-seconds";
  }
};

RunColumn rate_of_run(const TableColumn& rate) {
  const bool whole = rate.flops && rate.all_of_them;
  if (rate.relative || rate.inverse || whole || (!rate.flops && rate.work_noun != "tokens"))
    return {};
  const char* const tokens = rate.per_rank ? "--tokens-per-second-per-gpu" : "--tokens-per-second";
  return {rate.flops ? "--tflops-per-gpu" : tokens,
          rate.flops ? rate.factor * 1e-12 : rate.factor,
          !rate.per_rank && !rate.all_of_them};
}

RunColumn column_of_run(const RawTable& table, std::size_t column) {
  const WordList words = all_header_words(table.columns[column]);
  const auto has = [&](const char* word) { return std::ranges::count(words, word) > 0; };
  // "70 B" beside "7 billion and more" is refused with its line.
  const bool sizes = has("params") || has("parameters") || has("param");
  if (sizes || says_numbers(table, column)) {
    const auto known = table_column(table.columns[column], table.place);
    if (known && known->meaning == Meaning::throughput) return rate_of_run(*known);
    if (has_word("--parameters", words))
      return {"--parameters", has("b") || has("billion") ? 1e9 : 1.0};
    if (has("tokens") && has_word("step", words)) return {"--batch-tokens", 1.0};
    for (const auto& [meaning, flag] : {std::pair{Meaning::count, "--gpus"},
                                        {Meaning::per_node, "--gpus"},
                                        {Meaning::time, "--step-seconds"},
                                        {Meaning::batch, "--batch-tokens"},
                                        {Meaning::sequence_length, "--sequence"},
                                        {Meaning::price, "--price"}})
      if (known && known->meaning == meaning) return {flag, known->factor, false, known};
  }
  for (const char* flag : {"--model", "--gpu", "--dtype", "--recompute", name_of_run})
    if (has_word(flag, words)) return {flag};
  return {};
}

report::RunUse use_of_row(const MfuOptions& flags,
                          const RawTable& table,
                          const RawRow& row,
                          const std::vector<RunColumn>& columns) {
  try {
    report::RunUse one{toml_file::printable(row.place), {}, {}, {}};
    MfuOptions options = flags;
    CLI::App cells("", "mfu");
    add_flags(Flags(cells), options);
    take_typed_numbers(cells);
    std::map<std::string, std::string> arguments;
    std::map<std::string, double> numbers;  // of several columns their product: nodes x GPUs of one
    double gpus_of_node = 0.0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const RunColumn& column = columns[i];
      const std::string text = without_marks(cell_text(row.cells[i]));
      if (column.is(Meaning::per_node)) gpus_of_node = value_in(table, row, i, 1.0).value_or(0.0);
      if (column.flag.empty() || text.empty() || is_missing(row.cells[i])) continue;
      if (column.flag == name_of_run) one.name = toml_file::printable(text);
      if (column.flag == name_of_run || column.factor == 0.0) {
        arguments[column.flag] = text;
        continue;
      }
      const double number = *value_in(table, row, i, column.factor);
      numbers.try_emplace(column.flag, 1.0).first->second *= number;
      const bool batch = std::ranges::any_of(
          columns, [](const RunColumn& other) { return other.is(Meaning::batch); });
      if (column.is(Meaning::sequence_length) && batch)
        numbers.try_emplace("--batch-tokens", 1.0).first->second *= number;
    }
    for (const RunColumn& column : columns)
      if (column.is(Meaning::price) && column.of_instance() && numbers.contains("--price"))
        numbers["--price"] /= std::max(gpus_of_node, 1.0);
    arguments.erase(name_of_run);
    for (const auto& [flag, number] : numbers) arguments[flag] = fmt::format("{:.17g}", number);
    std::vector<std::string> words;
    for (const auto& [flag, text] : arguments)
      words.insert(words.begin(), {text, flag});  // CLI11 takes them from the end
    cells.parse(words);
    if (options.parameters) options.model.clear();
    settle(options);
    const auto gpu = datasheet_of(options);
    const PeakChoice peaks = stated_peaks(options, gpu);
    one.run = run_of(options, peaks);
    one.use = use_of_training(one.run);
    one.names = gpu_names(options, gpu);
    one.names.model = one.run.model.name;
    if (options.parameters)
      one.names.model = fmt::format("{:.4g} billion parameters", *options.parameters * 1e-9);
    if (one.mfu() > 1.0)
      throw UserError("MFU {:.0f} %: check the GPUs and the rate", 100.0 * one.mfu());
    return one;
  } catch (const std::runtime_error& error) {  // CLI11's, and UserError
    const std::string what = error.what();
    throw UserError(what.starts_with(row.place) ? what : row.place + ": " + what);
  }
}

/// Columns that others make needless, or that need others, settled; throws UserError for those that
/// may be read in two ways.
void settle_columns(std::vector<RunColumn>& columns, const RawTable& table) {
  const auto any = [&](auto is) { return std::ranges::any_of(columns, is); };
  const bool per_node = any([](const RunColumn& one) { return one.is(Meaning::per_node); });
  const bool nodes = any([](const RunColumn& one) { return one.counts_nodes(); });
  const bool whole =
      any([](const RunColumn& one) { return one.is(Meaning::count) && !one.counts_nodes(); });
  const bool sequence = any([](const RunColumn& one) { return one.is(Meaning::sequence_length); });
  const bool tokens =
      any([](const RunColumn& one) { return one.flag == "--batch-tokens" && !one.known; });
  for (std::size_t i = 0; i < columns.size(); ++i) {
    RunColumn& one = columns[i];
    const auto refuse = [&](std::string_view what) {
      throw UserError("{}: '{}' {}", table.place, toml_file::printable(table.columns[i]), what);
    };
    if ((one.counts_nodes() || one.is(Meaning::per_node)) && (whole || !nodes)) one.flag.clear();
    if (one.counts_nodes() && !whole && !per_node)
      refuse("counts nodes; add a column gpus, or gpus_per_node");
    if (one.is(Meaning::batch) && (tokens || !sequence)) one = {};
    if (!one.is(Meaning::price)) continue;
    if (one.of_instance() && !per_node)
      refuse("is of an instance; add a column gpus_per_node, or name it usd_per_gpu_hour");
    constexpr double most_of_gpu = 12.0;  // above it none is rented
    const auto numbers = numbers_of(table, i);
    if (one.known->rank.empty() && std::ranges::any_of(numbers, [](const auto& number) {
          return number.value_or(0.0) > most_of_gpu;
        }))
      refuse(
          "may be of one GPU or of an instance; name it usd_per_gpu_hour, or usd_per_instance_hour "
          "beside gpus_per_node");
  }
}

/// Rows without a measurement, "b (OOM)", are left out of `table`.
std::vector<std::string> left_out_of(RawTable& table, const std::vector<RunColumn>& columns) {
  std::vector<std::string> left_out;
  std::erase_if(table.rows, [&](const RawRow& row) {
    std::string why;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].is_measurement()) continue;
      const std::string text = without_marks(cell_text(row.cells[i]));
      if (!text.empty() && !is_missing(row.cells[i])) return false;
      why = text.empty() ? "empty" : text;
    }
    if (!why.empty()) left_out.push_back(fmt::format("{} ({})", row.place, why));
    return !why.empty();
  });
  if (table.rows.empty() && !left_out.empty())
    throw UserError("{}: no row has a measurement: {}", table.place, fmt::join(left_out, ", "));
  return left_out;
}

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
  settle_columns(columns, table);
  std::vector<std::string> remarks;
  for (const std::string& row : left_out_of(table, columns))
    remarks.push_back("left out: " + toml_file::printable(row));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string name = toml_file::printable(table.columns[i]);
    if (columns[i].flag.empty()) remarks.push_back(name + " is not used");
    if (columns[i].is(Meaning::price) && columns[i].known->rank.empty())
      remarks.push_back(name + " is read as of one GPU and hour");
    if (columns[i].is(Meaning::batch) && columns[i].known->unclear_batch)
      remarks.push_back(name + " is read as the batch of all GPUs, in sequences");
    if (columns[i].bare_rate)
      remarks.push_back(name + " is read as of " + (has("--tflops") ? "one GPU" : "all GPUs"));
  }
  const auto runs =
      mapped(table.rows, [&](const RawRow& row) { return use_of_row(flags, table, row, columns); });
  fmt::print("{}", report::render_runs({runs, remarks, {}, flags.render}));
  return exit_done;
}

Analysis analysis_of(const std::string& run) {
  return analyse(read_for("report", {run}, [&] { return read_run(run); }), {});
}

int run_mfu(const CLI::App& command,
            MfuOptions& options,
            const ServingOptions& serving,
            const BudgetOptions& budget) {
  settle(options);
  if (!options.runs.empty()) {
    if (budget.asked()) throw UserError("a table of runs has no --budget: leave one of them out");
    return print_runs(options);
  }
  if (serving.asked) {
    refuse_unused(command, "what --inference costs", "--convention --recompute --mfu --mtp-layers");
    return print_serving(options, serving);
  }
  if (budget.asked()) {
    refuse_unused(command,
                  "what a --budget is best spent on",
                  "--tokens-per-second --tokens-per-second-per-gpu --step-seconds --batch-tokens "
                  "--sequence --mtp-layers --tokens --convention --recompute --parameters");
    return print_budget(options, budget);
  }
  if (options.tflops_per_gpu && options.model.empty())
    refuse_unused(command,
                  "TFLOP/s without a --model",
                  "--step-seconds --batch-tokens --sequence --mtp-layers --convention --recompute "
                  "--price --tokens");
  const bool rate = options.tokens_per_second || options.step_seconds || options.batch_tokens ||
                    options.tflops_per_gpu;
  if (!rate && !options.model.empty()) {
    refuse_unused(command,
                  "the memory of a training, which is asked about without a rate",
                  "--price --tokens --convention --recompute --mtp-layers --measured-peak --mfu");
    return print_memory(options);
  }
  if (options.parameters)
    refuse_unused(command,
                  "6 FLOPs for each of --parameters",
                  "--sequence --mtp-layers --convention --recompute");
  refuse_unused(command, "a run, whose MFU follows from its throughput", "--mfu");
  return print_utilisation(options);
}
}  // namespace

TransformerModel model_of(const MfuOptions& options) {
  if (options.model.empty()) {
    throw UserError("no model: give --model ID; those known here: scaleworth list --known");
  }
  const std::string& own = options.model_file;
  if (own.empty()) return find_model(model_catalogue(), options.model);
  return find_model(parse_model_catalogue(toml_file::read_small_file(own), own), options.model);
}

std::optional<GpuDatasheet> datasheet_of(const MfuOptions& options) {
  if (options.gpu.empty()) return std::nullopt;
  const std::string& own = options.datasheets;
  const std::vector<GpuDatasheet> known =
      own.empty() ? gpu_catalogue() : parse_gpu_catalogue(toml_file::read_small_file(own), own);
  try {
    return find_gpu(known, options.gpu);
  } catch (const UserError& error) {
    if (options.peak) return std::nullopt;
    throw UserError("{}; or give its dense --peak in TFLOP/s", error.what());
  }
}

report::MfuNames gpu_names(const MfuOptions& options, const std::optional<GpuDatasheet>& gpu) {
  report::MfuNames names;
  names.gpu = gpu ? gpu->name : options.gpu.empty() ? "GPU" : options.gpu;
  if (gpu) names.gpu_source = gpu->source + "; " + gpu->date;
  return names;
}

std::optional<Denominator> measured_peak(const std::string& text,
                                         const std::string& number_format) {
  if (text.empty()) return std::nullopt;
  if (const auto number = parse_number<double>(text)) {
    return Denominator{teraflops(*number), "measured, as given"};
  }
  const Analysis analysis = analysis_of(text);
  const auto precision = from_key<NumberFormat>(number_format);
  const GpuGemm* slowest = precision ? slowest_steady(analysis.gpus, *precision).product : nullptr;
  if (slowest == nullptr) {
    throw UserError(
        "--measured-peak {}: no steady {} products of a GPU in this run", text, number_format);
  }
  return Denominator{slowest->rate.value,
                     fmt::format("measured: steady {} products in {}", number_format, text)};
}

std::optional<MeasuredBandwidth> measured_bandwidth(const std::string& text) {
  if (text.empty() || parse_number<double>(text)) return std::nullopt;
  const Analysis analysis = analysis_of(text);
  std::optional<BytesPerSecond> slowest;
  for (const GpuResult& gpu : analysis.gpus) {
    const auto& levels = gpu.roofline.memory_levels;
    const auto memory = std::ranges::find_if(levels, [](const MemoryLevel& level) {
      return level.name.known == MemoryLevelName::memory;
    });
    if (memory == levels.end()) continue;
    slowest = std::min(slowest.value_or(memory->value.value), memory->value.value);
  }
  if (!slowest) {
    throw UserError(
        "--measured-peak {}: no memory bandwidth of a GPU in this run; give "
        "--memory-gb-per-s",
        text);
  }
  return MeasuredBandwidth{*slowest, fmt::format("measured: streams in {}", text)};
}

Command add_mfu_command(CLI::App& app) {
  auto options = std::make_shared<MfuOptions>();
  auto serving = std::make_shared<ServingOptions>();
  auto budget = std::make_shared<BudgetOptions>();
  CLI::App* command = add_command(app, "mfu");
  add_flags(Flags(*command), *options);
  command->get_option("--parameters")->excludes("--model");
  budget->add_to(*command);
  serving->add_to(*command);
  add_currency(*command, options->render.currency);
  add_render_flags(*command, options->render);
  take_typed_numbers(*command);
  command->footer(command->get_footer() + app.get_footer());
  return {command, [=](const Arguments& arguments) {
            options->render.command = typed_command(arguments);
            return run_mfu(*command, *options, *serving, *budget);
          }};
}
}  // namespace scaleworth::cli
