// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure_flags.h"

#include "report/render.h"
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/cli/bind_flags.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/cli/measure/plan.h"
#include "src/cli/measure/session.h"
#include "src/core/catalogue.h"
#include "src/core/files/csv.h"
#include "src/core/files/run_directory.h"
#include "src/core/files/toml_table.h"
#include "src/model/transformer/utilisation.h"

#include <array>
#include <memory>
#include <set>

namespace scaleworth::cli {
void ReportOptions::add_to(CLI::App& app) {
  add_render_flags(app, render);
  const Flags flags(app, help_texts("report"));
  flags.add("--price", analysis.price_per_rank)->check(nonnegative_number);
  flags.add("--fixed", analysis.fixed_price)->check(nonnegative_number);
  flags.add("--peak", peak);
  flags.add("--datasheets", datasheets);
  flags.add("--tokens", analysis.tokens_per_run)->check(positive_number)->capture_default_str();
  flags.add("--max-count", analysis.max_count)
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

AnalysisOptions ReportOptions::analysis_options() const {
  AnalysisOptions options = analysis;
  if (!peak.empty()) options.peak_per_rank = parse_compute_rate(peak);
  if (!datasheets.empty()) {
    options.datasheets = parse_gpu_catalogue(toml_file::read_small_file(datasheets), datasheets);
  }
  return options;
}

void MeasureOptions::add_to(CLI::App& app, std::string_view probes) {
  const Flags flags(app, help_texts("measure"));
  // A flag of what the command does not measure would have no effect.
  const auto measures = [&](std::string_view what) { return probes.empty() || probes == what; };
  flags.add("--suite", suite)->check(CLI::IsMember({"quick", "standard"}))->capture_default_str();
  flags.add("-o,--out,--output", out)->take_last();
  flags.add("--only", only)->delimiter(',');
  flags.add("--ranks", ranks)->check(CLI::Range(1, 1 << 20));
  flags.add("--oversubscribe", oversubscribe);
  flags.add("--dry-run", dry_run);
  flags.add("--time", time);
  flags.add("--quiet", quiet);
  flags.add("--repeat", repeat)->check(CLI::Range(1, 1000))->take_last();
  flags.add("--step-sizes", step_sizes, "")->group("");  // hidden: between our own processes
  if (measures("step")) flags.add("--straggler", straggler);
  if (measures("comm")) {
    flags.add("--collectives", collectives)->delimiter(',');
    flags.add("--sizes", sizes)->delimiter(',');
    flags.add("--algorithms", algorithms)->delimiter(',');
  }
  if (measures("roofline")) {
    flags.add("--shape", shapes);
    flags.add("--shape-file", shape_file);
    flags.add("--model", model);
    flags.add("--gpu", gpu);
    flags
        .add("--number-format",
             number_formats,
             "formats of your own products: " + number_format_names() +
                 " (default: bf16; on cores fp32 and fp64)")
        ->delimiter(',');
  }
  flags.add("--machine", machine)
      ->check(CLI::IsMember({"auto", "cuda", "host"}))
      ->capture_default_str();
  flags.add("--mpirun", mpirun)->capture_default_str();
  flags.add("--mpi-module", mpi_module);
  flags.add("--blas-lib", blas_library);
  flags.add("--shared-gpu", shared_gpu);
  flags.add("--rank", launch_flags.rank);
  flags.add("--world-size", launch_flags.world_size);
  flags.add("--rendezvous", launch_flags.rendezvous);
  add_vendor_options(app, vendor_paths);
  app.add_option("--part-of-bench", part_of_bench)->group("");  // hidden: between our own processes
  report.add_to(app);
}

void MeasureOptions::add_price_to(CLI::App& app) {
  constexpr const char* group = "An all-reduce by its formulas, measuring nothing";
  auto& [fabric, message, ranks_of_price, compute] = price;
  CLI::Option* latency = Flags(app, group, nullptr, positive_number)
                             .add("--alpha-us", fabric.hop.latency, "latency of one message, us");
  const Flags flags(app, group, latency, positive_number);
  CLI::Option* bandwidth = flags.add("--beta-gbs", fabric.hop.bandwidth, "of a link, GB/s");
  const Flags of_run(app, group, nullptr, positive_number);
  CLI::Option* size = of_run.add("--message-mb", message, "MB that each rank has");
  Flags(app).add("run", run, "a run, or results that import takes: what --message-mb takes there");
  latency->needs(bandwidth)->needs(size);
  flags.add("--group", fabric.group, "ranks that faster links join, as the 8 GPUs of a server");
  CLI::Option* inside =
      flags.add("--group-alpha-us", price_inside.latency, "latency of these links, us");
  inside->needs(flags.add("--group-beta-gbs", price_inside.bandwidth, "their bandwidth, GB/s"));
  flags.add("--compute-ms", compute, "compute of a step at one rank, which the ranks share");
}

RankOptions MeasureOptions::rank_options() const {
  RankOptions options;
  if (!straggler.empty()) options.straggler = parse_straggler(straggler);
  if (!step_sizes.empty()) {
    const auto comma = step_sizes.find(',');
    options.step_width = parse_number<std::int64_t>(step_sizes.substr(0, comma)).value_or(0);
    options.step_batch = parse_number<std::int64_t>(step_sizes.substr(comma + 1)).value_or(0);
  }
  for (const std::string& name : collectives) {
    const auto known = from_key<Collective>(name);
    if (!known || std::ranges::count(all_collectives, *known) == 0) {
      throw UserError("--collectives: '{}' is none of {}",
                      name,
                      listed(all_collectives, [](Collective one) { return key_of(one); }));
    }
    options.collectives.push_back(*known);
  }
  for (const std::string& size : sizes) options.sizes.push_back(parse_message_size(size));
  for (const std::string& way : algorithms) options.algorithms.push_back(parse_algorithm(way));
  return options;
}

namespace {
struct MeasureCommand {
  const char* name;
  const char* probes;  // first word of the probes it runs, empty for all
};

constexpr std::array<MeasureCommand, 4> measure_commands{
    {{"bench", ""}, {"roofline", "roofline"}, {"comm", "comm"}, {"step", "step"}}};

std::vector<std::string> choose_probes(const MeasureCommand& command,
                                       const std::vector<std::string>& only) {
  const std::string word = command.probes;
  if (only.empty()) return word.empty() ? only : std::vector{word};
  for (const std::string& name : only) {
    if (name != word && !name.starts_with(word + ".") && !word.empty()) {
      throw UserError("--only " + name + ": `" + command.name + "` runs " + word +
                      " probes only; use `bench --only`");
    }
  }
  return only;
}

/// What a message takes on the fabric of a run.
int print_message(const MeasureOptions& options) {
  if (!(options.price.message.value() > 0.0))
    throw UserError("comm {}: give --message-mb, or scaleworth report for the whole run",
                    options.run);
  ReportOptions report = options.report;
  report.analysis.message = options.price.message;
  report.analysis.message_ranks = options.ranks;
  const auto asked = options.rank_options().collectives;
  if (asked.size() > 1) throw UserError("--collectives: one of them for a message");
  if (!asked.empty()) report.analysis.message_collective = asked.front();
  const Run run = read_for("comm", {options.run}, [&] { return read_any_run(options.run); });
  std::set<int> measured;
  for (const model::CollectiveResult& one : model::analyse_collectives(run))
    measured.insert(one.ranks);
  for (const model::AlgorithmResult& one : model::analyse_algorithms(run))
    measured.insert(one.ranks);
  if (options.ranks && !measured.contains(*options.ranks))
    throw NothingMeasurable(
        fmt::format("--ranks {}: not measured in {}, which has collectives among {}",
                    *options.ranks,
                    options.run,
                    measured.empty() ? "none" : fmt::format("{}", fmt::join(measured, ", "))));
  fmt::print("{}", render_run(run, report, options.run));
  return exit_done;
}

/// On which side of the ridge products lie by the data sheet of a GPU, a sentence for each.
int print_by_data_sheet(const MeasureOptions& options) {
  const GpuDatasheet& gpu = find_gpu(gpu_catalogue(), options.gpu);
  std::vector<std::string> asked = options.number_formats;
  if (asked.empty()) asked.emplace_back();
  const std::vector<NamedShape> shapes = shapes_of(options);
  if (shapes.empty() || !gpu.memory_bandwidth)
    throw UserError(
        "--gpu needs --shape, --shape-file or --model, and a data sheet with peak and bandwidth");
  report::Verdict verdict{report::Answer::yes, "", {}};
  for (const NamedShape& one : shapes) {
    const std::vector<std::string> own{one.format ? key_of(*one.format) : ""};
    for (const std::string& format : one.format ? own : asked) {
      const PeakChoice peaks = choose_peaks({&gpu, format, {}});
      const auto known = from_key<NumberFormat>(peaks.number_format);
      if (!known) throw UserError("--number-format {}: no format of products", format);
      const FlopPerByte ridge = peaks.peaks.front().rate / *gpu.memory_bandwidth;
      const model::GemmShape shape{one.m, one.n, one.k, one.batch};
      const FlopPerByte intensity = intensity_of(shape, *known);
      const Bound bound = bound_by_peaks(intensity, ridge);
      verdict.lines.push_back(
          fmt::format("{}{}: {:.4g} FLOP/byte, {} {} (ridge {:.3g} of the peaks of {}, {}).",
                      one.name.empty() ? "" : one.name + " ",
                      report::shape_text(shape),
                      intensity.value(),
                      bound == Bound::ridge ? "within 0.6 to 1.7 times the" : "bound by",
                      report::bound_name(bound),
                      ridge.value(),
                      gpu.name,
                      report::said(peaks.peaks.front().basis)));
    }
  }
  verdict.headline = std::exchange(verdict.lines.front(), "");
  std::erase(verdict.lines, "");
  fmt::print("{}", report::render_sentences("memory or compute?", verdict, options.report.render));
  return exit_done;
}

int print_price(const MeasureOptions& options) {
  AllReduceQuestion question = options.price;
  question.ranks = options.ranks.value_or(question.ranks);
  if (options.price_inside.latency.value() > 0.0) question.fabric.inside = options.price_inside;
  if (question.fabric.group > 1 && question.ranks <= question.fabric.group) {
    if (!question.fabric.inside)
      throw UserError("{} ranks are within --group {}: give --group-alpha-us and --group-beta-gbs",
                      question.ranks,
                      question.fabric.group);
    question.fabric = {*question.fabric.inside};
  }
  fmt::print("{}", report::render_price(question, options.report.render));
  return exit_done;
}

/// What is answered without measuring; absent where it is to be measured.
std::optional<int> print_asked(const MeasureOptions& options, const CLI::App& command) {
  if (!options.run.empty()) {
    refuse_all_but(
        command, "what a measured fabric takes", "run --message-mb --ranks --collectives");
    return print_message(options);
  }
  if (!options.gpu.empty()) {
    constexpr const char* used = "--gpu --shape --shape-file --model --number-format";
    refuse_all_but(command, "what a data sheet says", used);
    return print_by_data_sheet(options);
  }
  if (!(options.price.message.value() > 0.0)) return std::nullopt;
  constexpr const char* used =
      "--alpha-us --beta-gbs --message-mb --ranks --group --group-alpha-us --group-beta-gbs "
      "--compute-ms";
  refuse_all_but(command, "an all-reduce by its formulas", used);
  return print_price(options);
}

/// Runs the probes chosen by `options.only` in the way that the machine and the launcher ask for.
int measure(const MeasureOptions& options, const Arguments& arguments) {
  const LaunchEnvironment launch = detect_launch(environment_variables(), options.launch_flags);
  if (options.repeat > 1 && launch.launcher != Launcher::none) {
    throw UserError(
        "--repeat starts processes of its own, which a rank cannot ({}): start the job again "
        "instead, and compare the runs",
        describe_launch(launch));
  }
  if (options.dry_run && launch.rank.value_or(0) != 0) return exit_done;  // rank 0 prints it once
  if (std::optional<ChosenDevices> chosen = choose_devices(options)) {
    return measure_on_devices(options, arguments, launch, std::move(*chosen));
  }
  if (options.dry_run || launch.launcher == Launcher::none)
    return measure_as_parent(options, arguments, launch);
  if (launch.launcher == Launcher::slurm && launch.world_size == 1) {
    // One task needs no MPI, which may not start under srun; --ranks asks for ranks of its own.
    MeasureOptions alone = options;
    alone.ranks = options.ranks.value_or(1);
    return measure_as_parent(alone, arguments);
  }
  return measure_as_rank(options, arguments, launch);
}
}  // namespace

std::vector<Command> add_measure_commands(CLI::App& app) {
  std::vector<Command> commands;
  for (const MeasureCommand& entry : measure_commands) {
    auto options = std::make_shared<MeasureOptions>();
    CLI::App* subcommand = add_command(app, entry.name);
    options->add_to(*subcommand, entry.probes);
    if (entry.probes == std::string_view("comm")) options->add_price_to(*subcommand);
    commands.push_back({subcommand, [options, subcommand, &entry](const Arguments& arguments) {
                          if (const auto code = print_asked(*options, *subcommand)) return *code;
                          options->only = choose_probes(entry, options->only);
                          return measure(*options, arguments);
                        }});
  }
  return commands;
}
}  // namespace scaleworth::cli
