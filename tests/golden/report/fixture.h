// SPDX-License-Identifier: Apache-2.0
/// Hand-made runs, decisions, recordings and servers whose reports are kept.
#pragma once

#include "report/attribution/attribution_report.h"
#include "report/decision/decision_report.h"
#include "report/mfu/mfu_report.h"
#include "report/render_options.h"

#include <map>
#include <string>

namespace scaleworth::report::fixture {
// A run of a two-core machine with the analysis that belongs to it.

/// All probes measured but one skipped and one failed.
Run complete_run();
/// Ended by Ctrl-C before the rank probes.
Run interrupted_run();
/// Two ranks at 91 % efficiency, a prediction to 64 ranks; costs when `price` is given.
model::Analysis two_core_analysis(bool price);
/// Only what the interrupted run could know.
model::Analysis roofline_only();
/// With the directory of the run.
RenderOptions options(Format format, bool details = false);

/// Two GPUs, the second slowed by its power limit; every probe of GPUs measured. The analysis is
/// that of the run's points.
Run gpu_run();
model::Analysis gpu_analysis();

/// A step of so many seconds on each of the ranks, of which each part takes its share.
JobMeans ledgers(int ranks, double step, const std::map<Part, double>& shares);
/// Decides on the rows of `result`, whose parts are those of their ledgers.
void add_decision(model::ScalingResult& result, bool price);

// The parts of two_core_analysis.
model::RooflineResult roofline();
std::vector<model::CollectiveResult> collectives();
std::vector<model::ScalingResult> scaling(bool price);

// The three published worked examples, decided, and a table of steps.

/// s = .03, c = .0015, 2.10 USD per node-hour, 9 USD per wall-clock hour, with a deadline and spot.
model::Decision curve_decision();
/// Compute, communication and idle time at 1 to 16 nodes under three price lists.
model::Decision breakdown_decision();
/// Times and quality at 1 to 32 workers.
model::Decision rubric_decision();
/// Steps of milliseconds at 1 to 8 ranks: each costs next to nothing, a million tokens do not.
model::Decision steps_decision();
/// Repeated runs at 1 to 16 ranks; prices per hour, a deadline of 0 hours is none.
model::Decision priced_decision(double price, double value_of_time, double deadline_hours);
/// How a decision on this input is rendered.
RenderOptions table_options(const std::string& input, Format format = Format::text);

// A hand-made attribution: four ranks, of which rank 3's host is late with its data.

/// Six steps, the first of them warm-up and the last cut off; rank 3 begins its collectives 4 ms
/// after the others.
Attribution straggler_job();
/// One rank alone, one step, nothing matched: the report has to abstain.
Attribution lone_recording();
inline constexpr DollarsPerSecond gpu_price{2.5 / 3600.0};
RenderOptions attribution_options(Format format = Format::text);

// GPT-3 on 1024 GPUs at 140 000 tokens/s, and what follows.

/// 300 billion tokens at 2 USD per GPU-hour, no recomputation.
model::TrainingRun gpt3_run();
/// The same with full recomputation and a measured ceiling, without price.
model::TrainingRun gpt3_recomputing_run();
MfuNames mfu_names();

// Servers and training budgets whose reports are kept.

/// Llama 3.1 70B in fp8 on four H100 with a link, a price, a load and an API beside it.
model::ServingQuestion loaded_server();
/// Llama 3.1 70B in bf16 on one H100, which does not hold it; no price.
model::ServingQuestion too_small_server();
MfuNames server_names();

/// A million dollars on H100 at 40 % MFU, with Llama 3.1 8B to judge.
model::TrainingQuestion million_dollars();
MfuNames budget_names();
}  // namespace scaleworth::report::fixture
