// SPDX-License-Identifier: Apache-2.0
/// What a person can ask of the measuring commands (bench, roofline, comm, step).
#pragma once

#include "probes/gpu/registry.h"
#include "probes/registry.h"
#include "report/render_options.h"
#include "src/cli/application.h"
#include "src/core/process.h"
#include "src/model/analysis.h"

#include <optional>

namespace scaleworth::cli {
/// How results are reported: shared by the measuring commands and `report`.
struct ReportOptions {
  report::RenderOptions render;
  AnalysisOptions analysis;  // but for what the two below hold
  std::string peak;          // with unit, per rank
  std::string datasheets;    // a gpus.toml instead of the one compiled in

  void add_to(CLI::App& app);
  /// Throws UserError for a rate without a unit.
  AnalysisOptions analysis_options() const;
};

struct MeasureOptions {
  ReportOptions report;
  std::string suite = "quick";
  std::string out;
  std::vector<std::string> only;  // probe names or their first word ("comm")
  std::optional<int> ranks;
  bool oversubscribe = false;
  bool dry_run = false;
  std::string time;  // the plan's limit, as `parse_time_limit`; empty: none
  bool quiet = false;
  int repeat = 1;
  std::string step_sizes;  // "WIDTH,BATCH": those of the first of several runs; empty: calibrated
  std::string straggler;
  std::vector<std::string> collectives;  // by key; empty: all
  std::vector<std::string> sizes;        // of messages: "8", "64K", "1M"
  std::vector<std::string> algorithms;   // of NCCL: "ring", "tree/ll128"; empty: all
  std::vector<std::string> shapes;       // "M,N,K[,BATCH]": instead of the GEMM families
  std::string mpirun = "mpirun";
  std::string mpi_module;
  std::string blas_library;
  std::string machine = "auto";             // "auto", "host" or "cuda"
  std::string shape_file;                   // as --shape, from a CSV
  std::string model;                        // its layers' products, by id of data/models.toml
  std::vector<std::string> number_formats;  // of --shape and --model
  VendorPaths vendor_paths;
  bool shared_gpu = false;  // several ranks on one GPU: shows the mechanism only
  LaunchFlags launch_flags;
  std::string run;  // comm: a measured fabric that is asked about a message
  std::string gpu;  // roofline: by whose data sheet products are placed, measuring nothing
  /// What an all-reduce takes by stated latency and bandwidth: asked for by its latency.
  AllReduceQuestion price;
  HopCost price_inside;  // of the links within its groups

  /// Set for the ranks and runs that `bench` starts itself, which leave the report to their parent:
  /// where they write their results should their directory take none.
  std::string part_of_bench;

  /// Those of an all-reduce that is priced and not measured.
  void add_price_to(CLI::App& app);
  /// Of the probes with this first word; of all where it is empty.
  void add_to(CLI::App& app, std::string_view probes);
  RankOptions rank_options() const;
};
}  // namespace scaleworth::cli
