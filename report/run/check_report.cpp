// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/run/compared_figures.h"

#include <array>

namespace scaleworth::report {
namespace {
using model::CheckedFigure;
using model::CheckResult;
using model::CheckStatus;
using model::Comparison;
using model::NoiseBasis;

const char* status_words(CheckStatus status) {
  // In the order of the enumeration.
  return std::array{"pass", "warn", "fail", "cannot tell"}.at(static_cast<std::size_t>(status));
}

std::string needed_text(const CheckedFigure& one) {
  if (one.status != CheckStatus::cannot_tell) return "";
  if (!one.runs_needed) return "repeat both: how far runs differ is not known";
  return fmt::format("{} of each would tell", counted(*one.runs_needed, "run"));
}

std::string checked_text(const CheckedFigure& one) {
  return one.figure.setting.contains(Parameter::collective)
             ? fmt::format("{}, {}", sweep_text(one.figure.setting), subject_of(one.figure))
             : machine_text(one.figure);
}

std::string check_headline(const ComparedRun& run,
                           const ComparedRun& baseline,
                           const CheckResult& result,
                           double tolerance) {
  const std::string wrong =
      wrong_sentence("The run", *run.run) + wrong_sentence("The baseline", *baseline.run);
  const auto with = [&](CheckStatus status) {
    return std::ranges::count(result.figures, status, &CheckedFigure::status);
  };
  const std::size_t all = result.figures.size();
  const std::size_t judged = all - result.measured_once;
  const double percent = 100.0 * tolerance;
  if (result.wrong_results > 0 && with(CheckStatus::fail) == 0)
    return wrong + "Fail: whatever its speed, a wrong result is a failure.";
  if (all == 0)
    return wrong +
           "Cannot tell: the two have no figure of the same kind, nor a collective on the same "
           "layout, see Not compared.";
  if (judged == 0)
    return wrong + fmt::format(
                       "Cannot tell for {0} of {0} figures: without repeats it is not known how "
                       "far runs differ; measure run and baseline four times (--repeat 4).",
                       all);
  const std::string once = result.measured_once == 0
                               ? ""
                               : fmt::format(" Not judged, because measured once: {}.",
                                             counted(result.measured_once, "figure"));
  switch (result.status) {
    case CheckStatus::fail: {
      const CheckedFigure& first = result.figures.front();
      return wrong +
             fmt::format(
                 "Fail: {} of {} figures are worse than the baseline by {:g} % or "
                 "more; first {}: {} of the baseline.",
                 with(CheckStatus::fail),
                 judged,
                 percent,
                 checked_text(first),
                 gain_text(first.figure)) +
             once;
    }
    case CheckStatus::cannot_tell:
      return wrong +
             fmt::format(
                 "Cannot tell for {} of {} figures: their runs are too few for how far they "
                 "spread; measure run and baseline several times (--repeat 4).",
                 static_cast<std::size_t>(with(CheckStatus::cannot_tell)) - result.measured_once,
                 judged) +
             once;
    case CheckStatus::warn:
      return wrong +
             fmt::format(
                 "Warn: {} of {} figures are worse than the baseline, by less than "
                 "{:g} % or not beyond chance among so many.",
                 with(CheckStatus::warn),
                 judged,
                 percent) +
             once;
    case CheckStatus::pass:
      break;
  }
  return wrong +
         fmt::format(
             "Pass: no figure of {} has lost {:g} % against the baseline.", judged, percent) +
         once;
}

Table checked_table(const CheckResult& result) {
  const auto cell = [](const CheckedFigure& one, const Estimate<double>& value) {
    return format_quantity(value, unit_of(one.figure.metric));
  };
  return make_table(
      "checked",
      "Each figure against the baseline",
      result.figures,
      {{parameter("what", "figure"), checked_text},
       {measure("status", "result"),
        [](const CheckedFigure& one) { return std::string(status_words(one.status)); }},
       {measure("baseline", "baseline"),
        [=](const CheckedFigure& one) { return cell(one, one.figure.a); }},
       {measure("run", "run"), [=](const CheckedFigure& one) { return cell(one, one.figure.b); }},
       {measure("gain", "run over baseline"),
        [](const CheckedFigure& one) { return one.figure.gain; }},
       {measure("needed", "to tell"), needed_text}},
      {"Judged by the spread between runs; below 1 the run is worse. Fail: worse by the tolerance "
       "or more with 95 % over all figures together (Holm). Pass: the interval leaves out a loss "
       "of the tolerance."});
}

Document compose_check(const ComparedRun& run,
                       const ComparedRun& baseline,
                       const Comparison& comparison,
                       const CheckResult& result,
                       double tolerance,
                       const RenderOptions& options) {
  Document document;
  document.title = document_title(options.tool_version, "is it as fast as before?");
  document.subject = run.name;
  document.subtitle = fmt::format(
      "run: {}; baseline: {}; tolerance {:g} %", run.name, baseline.name, 100.0 * tolerance);
  document.verdict.headline = check_headline(run, baseline, result, tolerance);
  document.sections =
      with_content({{"checked", "Checked", {}, {}, {checked_table(result)}},
                    {"unmatched", "Not compared", {}, {}, {unmatched_table(comparison)}},
                    {"stacks",
                     "Machines and software",
                     {},
                     {},
                     {facts_table(different_facts(*baseline.run, *run.run))}}});
  document.next = {{fmt::format("scaleworth compare {} {}", baseline.name, run.name),
                    "every size, and what differs"}};
  return document;
}
}  // namespace

std::string render_check(const ComparedRun& run,
                         const ComparedRun& baseline,
                         const Comparison& comparison,
                         const CheckResult& result,
                         double tolerance,
                         const RenderOptions& options) {
  return render_compared(comparison, &result, options, [&](const RenderOptions& as) {
    return compose_check(run, baseline, comparison, result, tolerance, as);
  });
}
}  // namespace scaleworth::report
