// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure_flags.h"

#include "src/cli/application.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/measure/plan.h"
#include "src/core/catalogue.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <memory>

#include <CLI/CLI.hpp>

namespace scaleworth::cli {
namespace {
std::string format_names() {
  std::string names;
  for (const probes::NumberFormat format : probes::all_number_formats) {
    names += names.empty() ? "" : ", ";
    names += probes::number_format_name(format);
  }
  return names;
}
}  // namespace

void ReportOptions::add_to(CLI::App& app) {
  add_render_flags(app, render);
  app.add_option(
         "--price",
         price_usd_per_rank_hour,
         "USD for one rank (core or GPU) for one hour; an instance's price divided by its ranks")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
         "--fixed", fixed_usd_per_hour, "USD per hour of wall clock whatever the rank count")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
      "--peak",
      peak,
      "datasheet peak of one rank, with unit (95GFLOP/s), for MFU beside the measured ceiling");
  app.add_option(
      "--datasheets",
      datasheets,
      "a gpus.toml of your own instead of the GPUs known here (`scaleworth list --known`)");
  app.add_option("--tokens", tokens_per_run, "tokens in one training run, for its price")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--max-count", max_count, "largest rank count that curves are continued to")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

model::AnalysisOptions ReportOptions::analysis_options() const {
  model::AnalysisOptions options;
  if (price_usd_per_rank_hour) options.price_per_rank = dollars_per_hour(*price_usd_per_rank_hour);
  options.fixed_price = dollars_per_hour(fixed_usd_per_hour);
  if (!peak.empty()) options.peak_per_rank = parse_compute_rate(peak);
  if (!datasheets.empty()) options.datasheets = load_gpu_catalogue(datasheets);
  options.tokens_per_run = tokens_per_run;
  options.max_count = max_count;
  return options;
}

void MeasureOptions::add_to(CLI::App& app) {
  app.add_option(
         "--suite", suite, "quick (under a minute) or standard (about four minutes, six on a GPU)")
      ->check(CLI::IsMember({"quick", "standard"}))
      ->capture_default_str();
  app.add_option("--out", out, "run directory to create (default: scaleworth-runs/<time>-<host>)");
  app.add_option("--only", only, "probes to run, by name or first word (see `scaleworth list`)")
      ->delimiter(',');
  app.add_option("--ranks", ranks, "largest rank count (default: one per usable core)")
      ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--oversubscribe",
               oversubscribe,
               "allow more ranks than cores; the result is labelled, not a scaling figure");
  app.add_flag("--dry-run", dry_run, "print the plan and its time estimate, measure nothing");
  app.add_flag("--quiet", quiet, "no progress on stderr");
  app.add_option("--straggler",
                 straggler,
                 "RANK:FACTOR slows one rank's compute, to see the wait appear and be charged");
  app.add_option("--shape",
                 shapes,
                 "M,N,K or M,N,K,BATCH: place your own matrix products under the roof instead of "
                 "the standard families");
  app.add_option("--shape-file",
                 shape_file,
                 "GPUs: as --shape, from a CSV with the header name,m,n,k[,batch][,format]");
  app.add_option(
      "--model",
      model,
      "GPUs: as --shape, the products of a model's layers at 16, 256 and 4096 tokens (ids: "
      "`scaleworth list --known`)");
  app.add_option("--number-format",
                 number_formats,
                 "GPUs: formats of your own products: " + format_names() + " (default: bf16)")
      ->delimiter(',');
  app.add_option(
         "--machine",
         machine,
         "what is measured: cuda (this node's GPUs), host (its cores), auto (cuda where there "
         "is a GPU)")
      ->check(CLI::IsMember({"auto", "cuda", "host"}))
      ->capture_default_str();
  app.add_option("--mpirun", mpirun, "launcher for the ranks when none started us")
      ->capture_default_str();
  app.add_option(
      "--mpi-module", mpi_module, "path of libscaleworth_mpi.so (default: beside the program)");
  app.add_option(
      "--blas-lib", blas_library, "path of the OpenBLAS to measure (default: the loader's)");
  app.add_flag(
      "--shared-gpu",
      shared_gpu,
      "GPUs: allow several ranks of a launcher on one GPU; shows the mechanism, no figure of an "
      "interconnect");
  app.add_option(
      "--rank", launch_flags.rank, "GPUs: this process's rank, where no launcher says it");
  app.add_option(
      "--world-size", launch_flags.world_size, "GPUs: how many ranks there are, with --rank");
  app.add_option("--rendezvous",
                 launch_flags.rendezvous,
                 "GPUs: host:port where rank 0 waits for the others, with --rank");
  add_vendor_options(app, vendor_paths);
  app.add_flag("--part-of-bench", part_of_bench)->group("");  // hidden: between our own processes
  report.add_to(app);
}

probes::RankOptions MeasureOptions::rank_options() const {
  probes::RankOptions options;
  if (!straggler.empty()) options.straggler = parse_straggler(straggler);
  return options;
}

std::vector<probes::GemmWork> MeasureOptions::gemm_works(int workers) const {
  std::vector<probes::GemmWork> works;
  for (const std::string& shape : shapes) {
    probes::GemmWork work = parse_shape(shape);
    for (const probes::Precision precision : {probes::Precision::fp32, probes::Precision::fp64}) {
      for (const int count : workers > 1 ? std::vector{1, workers} : std::vector{1}) {
        work.precision = precision;
        work.workers = count;
        works.push_back(work);
      }
    }
  }
  return works;
}

namespace {
struct MeasureCommand {
  const char* name;
  const char* probes;  // first word of the probes it runs, empty for all
  const char* help;
};

constexpr std::array<MeasureCommand, 4> measure_commands{{
    {"bench",
     "",
     "measure this machine and a training step at 1..N ranks, attribute, decide, report (the main "
     "job)"},
    {"roofline",
     "roofline",
     "compute ceilings, memory levels, latency, intensity ladder, GEMMs placed under the roof"},
    {"comm", "comm", "collectives between ranks: latency, bandwidth, alpha-beta fits"},
    {"step",
     "step",
     "the reference training step at 1..N ranks, its time attributed and its curve judged"},
}};

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
}  // namespace

std::vector<Command> add_measure_commands(CLI::App& app) {
  std::vector<Command> commands;
  for (const MeasureCommand& entry : measure_commands) {
    auto options = std::make_shared<MeasureOptions>();
    CLI::App* subcommand = app.add_subcommand(entry.name, entry.help);
    options->add_to(*subcommand);
    commands.push_back({subcommand, [options, &entry](const Arguments& arguments) {
                          options->only = choose_probes(entry, options->only);
                          return measure(*options, arguments);
                        }});
  }
  return commands;
}
}  // namespace scaleworth::cli
