// SPDX-License-Identifier: Apache-2.0
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/core/files/run_directory.h"
#include "src/core/files/toml_table.h"
#include "src/model/analysis.h"
#include "src/model/transformer/transformer.h"

#include <cmath>
#include <limits>
#include <memory>

namespace scaleworth::cli {
namespace {
/// Of a trained token: a multiplication and an addition, forward and twice backward.
constexpr double flops_per_parameter = 6.0;
constexpr auto teraflops = [](double number) { return FlopPerSecond(number * 1e12); };

double tokens_per_second(const MfuOptions& options) {
  constexpr double rounded = 0.03;
  const auto& [rate, step, batch] =
      std::tie(options.tokens_per_second, options.step_seconds, options.batch_tokens);
  if (step ? !batch : batch || !rate)
    throw UserError(
        "give the throughput: --tokens-per-second (-per-gpu), or --step-seconds, --batch-tokens");
  if (!step) return *rate;
  if (!(*step > 0.0)) throw UserError("--step-seconds must be positive");
  const double of_step = *batch / *step;
  if (rate && std::abs(of_step / *rate - 1.0) > rounded)
    throw UserError("{:g} tokens/s are stated, by its step {:g}: correct one", *rate, of_step);
  return of_step;
}

/// A rate of one GPU becomes that of all.
void settle(MfuOptions& options) {
  if (options.tokens_per_gpu_second)
    options.tokens_per_second = *options.tokens_per_gpu_second * static_cast<double>(options.gpus);
}

Recomputation recomputation_of(const std::string& name) {
  return from_key<Recomputation>(name).value_or(Recomputation::full);
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
  const auto gpus = static_cast<double>(run.gpus);
  if (options.parameters) {
    const double flops = flops_per_parameter * *options.parameters / gpus;  // of a token, in each
    run.tokens_per_second =
        run.stated_rate ? run.stated_rate->value() / flops : tokens_per_second(options);
    run.stated_rate = FlopPerSecond(flops * run.tokens_per_second);
  }
  if (run.stated_rate && options.model.empty()) return run;
  const Denominator& peak = run.peaks.front();
  if (run.stated_rate && *run.stated_rate > peak.rate)
    throw UserError(
        "--tflops-per-gpu {:g} is above the peak of one GPU, {:.4g} TFLOP/s ({}): check whether it "
        "counts sparsity, another number format, or several GPUs",
        *options.tflops_per_gpu,
        peak.rate.value() / 1e12,
        report::said(peak.basis));
  run.model = model_of(options);
  if (options.sequence && *options.sequence < 1) throw UserError("--sequence must be positive");
  run.sequence = options.sequence.value_or(0);
  run.model.mtp_layers = options.mtp_layers.value_or(run.model.mtp_layers);
  run.convention = parse_convention(options.convention);
  run.recomputation = recomputation_of(options.recomputation);
  if (run.stated_rate) {
    const std::int64_t sequence = run.sequence == 0 ? run.model.sequence : run.sequence;
    run.tokens_per_second =
        run.stated_rate->value() * gpus / quoted_flops(run.convention, run.model, sequence);
    run.stated_rate.reset();
    run.stated_as = options.assumed ? StatedAs::utilisation : StatedAs::flops_of_one_gpu;
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
    throw UserError("give --tokens-per-second for the MFU, or a --gpu of known memory");
  const report::MfuNames names = gpu_names(options, gpu);
  MemoryQuestion question{
      {}, options.sequence.value_or(0), options.gpus, *gpu->memory, options.parameters};
  if (!options.parameters) question.model = model_of(options);
  const MemoryAnswer answer = training_memory(question);
  fmt::print("{}", report::render_memory({question, answer, names, options.render}));
  return exit_done;
}

/// An architecture and a throughput in, utilisation and cost out.
int print_utilisation(const MfuOptions& options) {
  if (options.model.empty() && options.gpu.empty() && !options.peak) {
    throw UserError(
        "nothing to compute: give --model, --gpu and a rate, or --inference, or --budget (--help)");
  }
  const report::RunUse one = use_of_run(options);
  fmt::print("{}", report::render_mfu({one.run, one.use, one.names, options.render}));
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
  bool rate = options.tokens_per_second || options.step_seconds || options.batch_tokens ||
              options.tflops_per_gpu;
  options.assumed =
      !rate && budget.mfu && options.tokens && (options.parameters || !options.model.empty());
  if (options.assumed) {
    const FlopPerSecond peak = stated_peaks(options, datasheet_of(options)).peaks.front().rate;
    options.tflops_per_gpu = *budget.mfu * peak.value() * 1e-12;
    rate = true;
  }
  if (!rate && (options.parameters || !options.model.empty())) {
    refuse_unused(command,
                  "the memory of a training, which is asked about without a rate",
                  "--price --tokens --convention --recompute --mtp-layers --measured-peak --mfu");
    if (options.parameters) refuse_unused(command, "the states of --parameters", "--sequence");
    return print_memory(options);
  }
  if (options.parameters)
    refuse_unused(command,
                  "6 FLOPs for each of --parameters",
                  "--sequence --mtp-layers --convention --recompute");
  if (!options.assumed)
    refuse_unused(command, "a run, whose MFU follows from its throughput", "--mfu");
  return print_utilisation(options);
}
}  // namespace

void add_run_flags(const Flags& flags, MfuOptions& options) {
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

report::RunUse use_of_run(MfuOptions options) {
  settle(options);
  const std::optional<GpuDatasheet> gpu = datasheet_of(options);
  PeakChoice peaks = stated_peaks(options, gpu);
  if (const auto measured = measured_peak(options.measured_peak, peaks.number_format))
    peaks.peaks.push_back(*measured);
  report::RunUse one{{}, gpu_names(options, gpu), run_of(options, peaks), {}};
  one.use = use_of_training(one.run);
  const auto& most = one.use.above_peak;
  if (const Denominator& peak = one.run.peaks.front(); most > 1.0)
    throw UserError(
        "MFU {:.0f} % (causal attention alone), which no run reaches: {:g} tokens/s of {}, at "
        "{:.4g} TFLOP/s ({}) each; give --gpus ({} or more), the rate of all, the dense peak",
        100.0 * *most,
        one.run.tokens_per_second,
        counted(static_cast<std::size_t>(one.run.gpus), "GPU"),
        peak.rate.value() / 1e12,
        report::said(peak.basis),
        saturated<std::int64_t>(std::ceil(*most * static_cast<double>(one.run.gpus))));
  std::ranges::move(peaks.remarks, std::back_inserter(one.use.remarks));
  one.names.number_format = peaks.number_format;
  return one;
}

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
    return Denominator{teraflops(*number), FindingId::measured_as_given};
  }
  const Analysis analysis = analysis_of(text);
  const auto precision = from_key<NumberFormat>(number_format);
  const GpuGemm* slowest = precision ? slowest_steady(analysis.gpus, *precision).product : nullptr;
  if (slowest == nullptr) {
    throw UserError(
        "--measured-peak {}: no steady {} products of a GPU in this run", text, number_format);
  }
  return Denominator{slowest->rate.value, {FindingId::measured_products, number_format, text}};
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
    throw UserError("--measured-peak {}: no bandwidth of a GPU; give --memory-gb-per-s", text);
  }
  return MeasuredBandwidth{*slowest, {FindingId::measured_streams, text}};
}

Command add_mfu_command(CLI::App& app) {
  auto options = std::make_shared<MfuOptions>();
  auto serving = std::make_shared<ServingOptions>();
  auto budget = std::make_shared<BudgetOptions>();
  CLI::App* command = add_command(app, "mfu");
  add_run_flags(Flags(*command), *options);
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
