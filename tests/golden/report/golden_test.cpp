// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/render_options.h"
#include "tests/golden/report/fixture.h"
#include "tests/golden/report/require_golden.h"

using namespace scaleworth;
using namespace scaleworth::report;

TEST_CASE("the text report of a complete run is as committed", "[golden]") {
  require_golden("complete.txt",
                 render(fixture::complete_run(),
                        fixture::two_core_analysis(true),
                        fixture::options(Format::text)));
}

TEST_CASE("the detailed text report is as committed", "[golden]") {
  require_golden("complete_details.txt",
                 render(fixture::complete_run(),
                        fixture::two_core_analysis(true),
                        fixture::options(Format::text, true)));
}

TEST_CASE("the text report without a price says how to give one", "[golden]") {
  require_golden("no_price.txt",
                 render(fixture::complete_run(),
                        fixture::two_core_analysis(false),
                        fixture::options(Format::text)));
}

TEST_CASE("the text report of an interrupted run says what is missing", "[golden]") {
  require_golden(
      "interrupted.txt",
      render(fixture::interrupted_run(), fixture::roofline_only(), fixture::options(Format::text)));
}

TEST_CASE("the Markdown report is as committed", "[golden]") {
  require_golden("complete.md",
                 render(fixture::complete_run(),
                        fixture::two_core_analysis(true),
                        fixture::options(Format::markdown)));
}

TEST_CASE("the detailed Markdown report is as committed", "[golden]") {
  require_golden("complete_details.md",
                 render(fixture::complete_run(),
                        fixture::two_core_analysis(true),
                        fixture::options(Format::markdown, true)));
}

TEST_CASE("the CSV report is as committed", "[golden]") {
  require_golden("complete.csv",
                 render(fixture::complete_run(),
                        fixture::two_core_analysis(true),
                        fixture::options(Format::csv)));
}

TEST_CASE("the text report of a node with GPUs is as committed", "[golden]") {
  require_golden(
      "gpus.txt",
      render(fixture::gpu_run(), fixture::gpu_analysis(), fixture::options(Format::text)));
}

TEST_CASE("the detailed text report of a node with GPUs is as committed", "[golden]") {
  require_golden(
      "gpus_details.txt",
      render(fixture::gpu_run(), fixture::gpu_analysis(), fixture::options(Format::text, true)));
}

TEST_CASE("the Markdown report of a node with GPUs is as committed", "[golden]") {
  require_golden(
      "gpus.md",
      render(fixture::gpu_run(), fixture::gpu_analysis(), fixture::options(Format::markdown)));
}

TEST_CASE("the CSV report of a node with GPUs is as committed", "[golden]") {
  require_golden(
      "gpus.csv",
      render(fixture::gpu_run(), fixture::gpu_analysis(), fixture::options(Format::csv)));
}

TEST_CASE("the text report of an attribution is as committed", "[golden]") {
  require_golden("attribution.txt",
                 render_attribution(fixture::straggler_job(),
                                    fixture::gpu_price,
                                    fixture::attribution_options(Format::text)));
}

TEST_CASE("the detailed text report of an attribution is as committed", "[golden]") {
  RenderOptions options = fixture::attribution_options();
  options.details = true;
  require_golden("attribution_details.txt",
                 render_attribution(fixture::straggler_job(), fixture::gpu_price, options));
}

TEST_CASE("the text report of an attribution that abstains is as committed", "[golden]") {
  require_golden("attribution_lone.txt",
                 render_attribution(fixture::lone_recording(), std::nullopt, {}));
}

TEST_CASE("the Markdown and CSV reports of an attribution are as committed", "[golden]") {
  require_golden("attribution.md",
                 render_attribution(fixture::straggler_job(),
                                    fixture::gpu_price,
                                    fixture::attribution_options(Format::markdown)));
  require_golden(
      "attribution.csv",
      render_attribution(
          fixture::straggler_job(), fixture::gpu_price, fixture::attribution_options(Format::csv)));
}

TEST_CASE("the decision on a curve of coefficients is as committed", "[golden]") {
  require_golden("decide_curve.txt", render_decision(fixture::curve_decision(), RenderOptions{}));
}

TEST_CASE("the decision on a time breakdown is as committed", "[golden]") {
  const auto decision = fixture::breakdown_decision();
  RenderOptions options = fixture::table_options("breakdown.csv");
  require_golden("decide_breakdown.txt", render_decision(decision, options));
  require_golden(
      "decide_breakdown.md",
      render_decision(decision, fixture::table_options("breakdown.csv", Format::markdown)));
  require_golden("decide_breakdown.csv",
                 render_decision(decision, fixture::table_options("breakdown.csv", Format::csv)));
  options.details = true;
  require_golden("decide_breakdown_details.txt", render_decision(decision, options));
}

TEST_CASE("the decision of the rubric, which lacks a cause, is as committed", "[golden]") {
  require_golden("decide_rubric.txt",
                 render_decision(fixture::rubric_decision(), fixture::table_options("strong.csv")));
  RenderOptions options = fixture::table_options("strong.csv");
  options.details = true;
  require_golden("decide_rubric_details.txt", render_decision(fixture::rubric_decision(), options));
}

TEST_CASE("the decision on steps tells what their work costs, as committed", "[golden]") {
  require_golden("decide_steps.txt",
                 render_decision(fixture::steps_decision(), fixture::table_options("steps.csv")));
}

TEST_CASE("the utilisation of a training run is as committed", "[golden]") {
  const model::TrainingRun run = fixture::gpt3_run();
  const model::TrainingUse use = model::use_of_training(run);
  const MfuNames names = fixture::mfu_names();
  require_golden("mfu.txt", render_mfu({run, use, names, {}}));
  require_golden("mfu.csv", render_mfu({run, use, names, {Format::csv}}));
  require_golden("mfu_details.txt",
                 render_mfu({run, use, names, {Format::text, false, 100, true}}));
}

TEST_CASE("the utilisation with recomputation against two peaks is as committed", "[golden]") {
  const model::TrainingRun run = fixture::gpt3_recomputing_run();
  const model::TrainingUse use = model::use_of_training(run);
  require_golden("mfu_recomputing.md",
                 render_mfu({run, use, fixture::mfu_names(), {Format::markdown}}));
}
