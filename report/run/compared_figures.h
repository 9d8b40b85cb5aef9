// SPDX-License-Identifier: Apache-2.0
/// Words and tables that `compare` and `check` share: what a compared figure is of, how far it
/// differs, what the two runs do not have in common.
#pragma once

#include "report/document.h"
#include "report/run/compare_report.h"

#include <array>
#include <functional>

namespace scaleworth::report {
/// A fact of machine or software that both do not share.
struct DifferentFact {
  std::string what;
  std::string a;
  std::string b;
};
std::vector<DifferentFact> different_facts(const Run& a, const Run& b);
Table facts_table(const std::vector<DifferentFact>& facts);

/// "all reduce among 8 ranks, isolated".
std::string sweep_text(const Setting& setting);
/// A machine's question with who answers it: "fp32 multiply-adds, all cores", "GPU 0: triad in L2".
std::string machine_text(const model::ComparedFigure& figure);
/// What a key figure of a sweep is of: "large messages", "start-up", "8 KiB"; else empty.
std::string subject_of(const model::ComparedFigure& figure);

/// "1.20 ± 0.03x".
std::string gain_text(const model::ComparedFigure& figure);
Unit unit_of(Metric metric);
/// Of A or B, without its interval.
std::string value_text(const model::ComparedFigure& figure, const Estimate<double>& value);
/// "B is better", "no difference beyond the noise", "cannot tell".
const char* difference_words(const model::ComparedFigure& figure);

struct MachineMetric {
  Metric metric;
  const char* title;
};
constexpr std::array machine_metrics{
    MachineMetric{Metric::step_s, "Training step"},
    MachineMetric{Metric::flop_rate, "Compute rate"},
    MachineMetric{Metric::memory_bandwidth, "Memory bandwidth"},
    MachineMetric{Metric::load_latency, "Latency of a load"},
    MachineMetric{Metric::transfer_bandwidth, "Transfers, rate of the largest"},
    MachineMetric{Metric::transfer_latency, "Transfers, start-up time"},
    MachineMetric{Metric::launch_time, "Launches"}};

/// What only one of both has, and why it has no partner.
Table unmatched_table(const model::Comparison& comparison);

/// Empty where all results are right.
std::string wrong_sentence(const char* side, const Run& run);

/// In the format of `options`, with the JSON of both documents; `result` is null for a comparison.
std::string render_compared(const model::Comparison& comparison,
                            const model::CheckResult* result,
                            const RenderOptions& options,
                            const std::function<Document(const RenderOptions&)>& compose);
}  // namespace scaleworth::report
