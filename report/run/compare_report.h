// SPDX-License-Identifier: Apache-2.0
/// What differs between two runs, and whether a run meets its baseline, as documents.
#pragma once

#include "report/render_options.h"
#include "src/model/acceptance.h"
#include "src/model/decision/offers.h"

namespace scaleworth::report {
/// One of the two: what it is called and what was read.
struct ComparedRun {
  std::string name;
  const Run* run = nullptr;
};

/// The whole document in the format of `options`. A is the first of the command line.
std::string render_comparison(const ComparedRun& a,
                              const ComparedRun& b,
                              const model::Comparison& comparison,
                              const RenderOptions& options);

/// `run` judged by `check` against `baseline`, which is A of `comparison`. `tolerance`: the loss
/// that is looked for, in (0, 1). A baseline without a run names bounds: "what the links allow".
std::string render_check(const ComparedRun& run,
                         const ComparedRun& baseline,
                         const model::Comparison& comparison,
                         const model::CheckResult& result,
                         double tolerance,
                         const RenderOptions& options);

/// What continuous integration and monitoring read of a check: one test per figure in JUnit's XML,
/// a workflow command of GitHub Actions per figure that did not pass, or samples of Prometheus'
/// text format, to be written to a file of node_exporter's textfile collector, with NCCL
/// Inspector's names of labels.
enum class CheckFormat : std::uint8_t { junit, github, prometheus };
std::string render_check_as(CheckFormat format,
                            const ComparedRun& run,
                            const ComparedRun& baseline,
                            const model::CheckResult& result,
                            double tolerance);

/// "all reduce among 8 ranks, isolated, large messages", "GPU 0: triad in L2": what is judged.
std::string figure_text(const model::ComparedFigure& figure);

/// "Not reliable: other programs used 79 % of the CPUs during the run (idle-2); run again on an
/// idle machine. ": why the runs' own pages are not reliable; empty where both are.
std::string own_warnings(const ComparedRun& a, const ComparedRun& b);

/// "NCCL 2.22.3 against 2.28.9": the library of `b` and of `a` that moves bytes, where both are
/// recorded and differ; else empty.
std::string different_libraries(const Run& a, const Run& b);

/// docs/compare.schema.json, of both documents.
std::string comparison_schema();

/// One job on several machines.
std::string render_offers(const model::OfferComparison& offers, const RenderOptions& options);
/// docs/machines.schema.json.
std::string offers_schema();
}  // namespace scaleworth::report
