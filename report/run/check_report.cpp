// SPDX-License-Identifier: Apache-2.0
#include "report/render.h"
#include "report/run/compared_figures.h"
#include "report/words.h"
#include "src/core/files/csv.h"

#include <array>

namespace scaleworth::report {
namespace {
using model::CheckedFigure;
using model::CheckResult;
using model::CheckStatus;
using model::Comparison;
using model::NoiseBasis;

std::string needed_text(const CheckedFigure& one) {
  if (one.status != CheckStatus::cannot_tell) return "";
  if (one.bound && one.runs_needed) return counted(*one.runs_needed, "run") + " would tell";
  if (!one.runs_needed) return "repeat both: how far runs differ is not known";
  return fmt::format("{} of each would tell", counted(*one.runs_needed, "run"));
}

/// "18 x 26.6 GB/s (NVLink)", of a bound.
std::optional<std::string> link_text(const CheckedFigure& one) {
  if (!one.bound) return std::nullopt;
  if (!one.bound->link) return "rule";
  const model::LinkRate& link = *one.bound->link;
  return fmt::format("{:g} x {} ({})",
                     link.count,
                     format_quantity(link.each, Unit::bytes_per_second),
                     word_of(link.wire));
}

/// "202 GB/s", of bounds "210 GB/s to 467 GB/s" or "at least 210 GB/s".
std::string reference_text(const CheckedFigure& one) {
  const Unit unit = unit_of(one.figure.metric);
  if (one.bound && one.bound->link)
    return format_quantity(number(*one.bound->at_least), unit) + " to " +
           format_quantity(number(*one.bound->at_most), unit);
  const std::string value = format_quantity(one.figure.a, unit);
  if (!one.bound) return value;
  return (one.bound->at_least == one.figure.a.value ? "at least " : "at most ") + value;
}

/// ", the worst is 0.50x": of figures that could not be judged.
std::string worst_text(const std::vector<CheckedFigure>& figures) {
  const auto gain = [](const CheckedFigure& one) { return one.figure.gain.value; };
  const CheckedFigure& worst = *std::ranges::min_element(figures, {}, gain);
  return gain(worst) < 0.95 ? fmt::format(", the worst is {:.2f}x the baseline", gain(worst)) : "";
}

/// "bus_bandwidth, ranks 16": a rule's metric, and what of its setting the run lacks.
std::string rule_text(const model::UnmetRule& one) {
  const Setting& said = one.lacking.empty() ? one.rule.where : one.lacking;
  std::string text = info(one.rule.metric).key;
  for (const auto& entry : said) {
    const Parameter parameter = entry.first;
    const std::string word = said.text(parameter);
    text += fmt::format(", {} {}",
                        info(parameter).key,
                        word.empty() ? fmt::format("{}", said.count(parameter).value_or(1)) : word);
  }
  return text;
}

std::string unmet_text(const CheckResult& result) {
  return fmt::format("no figure of this run fits {}, first {}",
                     counted(result.unmet.size(), "rule"),
                     rule_text(result.unmet.front()));
}

std::size_t count_with(const CheckResult& result, CheckStatus status) {
  return std::ranges::count(result.figures, status, &CheckedFigure::status);
}

// The verdict where no figure was judged.
std::string unjudged_sentence(const CheckResult& result, bool bounds) {
  if (!result.figures.empty())
    return fmt::format(
        "Cannot tell for {0} of {0} figures: without repeats it is not known how "
        "far runs differ{1}; measure run and baseline four times.",
        result.figures.size(),
        worst_text(result.figures));
  return bounds ? "Cannot tell: no known link and no rule bounds a figure of this run; state its "
                  "links (--link nvlink4x18), rules (--rules FILE) or a baseline (--against RUN)."
                : "Cannot tell: the two have no figure of the same kind, nor a collective on the "
                  "same layout, see Not compared.";
}

std::string fail_sentence(const CheckedFigure& first,
                          const std::string& of_all,
                          const std::string& bounds,
                          double percent) {
  if (!bounds.empty())
    return if_it_fits(fmt::format("Fail: {} lie outside {}", of_all, bounds),
                      fmt::format("; mainly {}: {}, not {}",
                                  figure_text(first.figure),
                                  value_text(first.figure, first.figure.b),
                                  reference_text(first))) +
           ".";
  return if_it_fits(fmt::format("Fail: {} have lost {:g} % or more", of_all, percent),
                    fmt::format("; mainly {}: {} of the baseline",
                                figure_text(first.figure),
                                gain_text(first.figure))) +
         ".";
}

// `bounds`: the name of the links and rules that stand for a baseline, empty for another run.
std::string judged_sentence(const CheckResult& result,
                            std::size_t judged,
                            const std::string& bounds,
                            double percent) {
  const std::size_t with = count_with(result, result.status);
  const std::string of_all = fmt::format("{} of {} figures", with, judged);
  const auto beyond = std::ranges::count(result.figures, true, &CheckedFigure::beyond_chance);
  switch (result.status) {
    case CheckStatus::fail:
      return fail_sentence(
          *find_in(result.figures, result.status, &CheckedFigure::status), of_all, bounds, percent);
    case CheckStatus::cannot_tell:
      return fmt::format(
          "Cannot tell for {} of {} figures: their runs are too few for how far they spread; "
          "measure {} several times (--repeat 4).",
          with - result.measured_once,
          judged,
          bounds.empty() ? "run and baseline" : "the run");
    case CheckStatus::warn:
      if (beyond > 0)
        return fmt::format(
            "Warn: {} of {} figures are worse than the baseline beyond chance, by less than the "
            "{:g} % allowed; the worst is {} of it.",
            beyond,
            judged,
            percent,
            gain_text(result.figures.front().figure));
      return fmt::format("Warn: {} are {}, but not beyond chance among so many.",
                         of_all,
                         bounds.empty() ? "worse than the baseline" : "outside " + bounds);
    case CheckStatus::pass:
      break;
  }
  return bounds.empty()
             ? fmt::format(
                   "Pass: no figure of {} has lost {:g} % against the baseline.", judged, percent)
             : fmt::format("Pass: {} lie inside {}.", of_all, bounds);
}

std::string check_headline(const ComparedRun& run,
                           const ComparedRun& baseline,
                           const CheckResult& result,
                           double tolerance) {
  const bool bounds = baseline.run == nullptr;
  const std::string wrong = wrong_sentence("The run", *run.run) +
                            (bounds ? "" : wrong_sentence("The baseline", *baseline.run));
  const bool fails = count_with(result, CheckStatus::fail) > 0;
  if (result.wrong_results > 0 && !fails)
    return wrong + "Fail: whatever its speed, a wrong result is a failure.";
  if (!result.unmet.empty() && !fails)
    return wrong + fmt::format("Cannot tell: {}; correct it, or measure that.", unmet_text(result));
  const std::size_t judged = result.figures.size() - result.measured_once;
  if (judged == 0) return wrong + unjudged_sentence(result, bounds);
  std::string text =
      wrong + judged_sentence(result, judged, bounds ? baseline.name : "", 100.0 * tolerance);
  if (result.measured_once > 0)
    text += fmt::format(" Not judged, because measured once: {}.",
                        counted(result.measured_once, "figure"));
  if (!result.unmet.empty()) text += " " + capitalised(unmet_text(result)) + ": correct it.";
  return text;
}

Table checked_table(const CheckResult& result) {
  const auto of_run = [](const CheckedFigure& one) {
    return format_quantity(one.figure.b, unit_of(one.figure.metric));
  };
  return make_table(
      "checked",
      "Each figure against what it is checked by",
      result.figures,
      {{parameter("what", "figure"),
        [](const CheckedFigure& one) { return figure_text(one.figure); }},
       {measure("status", "result"), &CheckedFigure::status},
       {measure("baseline", "against"), reference_text},
       {measure("run", "run"), of_run},
       {measure("gain", "run over it"), [](const CheckedFigure& one) { return one.figure.gain; }},
       {measure("link", "by").if_present(), link_text},
       {measure("needed", "to tell"), needed_text}});
}

Document compose_check(const ComparedRun& run,
                       const ComparedRun& baseline,
                       const Comparison& comparison,
                       const CheckResult& result,
                       double tolerance,
                       const RenderOptions& options) {
  const bool bounds = baseline.run == nullptr;
  const Run& other = bounds ? *run.run : *baseline.run;
  Document document;
  document.title = document_title(options.tool_version, "is it as fast as it should be?");
  document.subject = run.name;
  document.subtitle = fmt::format(
      "run: {}; against: {}; tolerance {:g} %", run.name, baseline.name, 100.0 * tolerance);
  document.verdict.headline =
      own_warnings(run, baseline) + check_headline(run, baseline, result, tolerance);
  document.sections =
      with_content({{"checked", "Checked", {}, {}, {checked_table(result)}},
                    {"unmatched", "Not compared", {}, {}, {unmatched_table(comparison)}},
                    {"stacks",
                     "Machines and software",
                     {},
                     {},
                     {facts_table(different_facts(other, *run.run))}}});
  document.next = {
      bounds ? NextCommand{fmt::format("scaleworth check {} --against BASELINE", run.name),
                           "whether it is as fast as another run"}
             : NextCommand{fmt::format("scaleworth compare {} {}", baseline.name, run.name),
                           "every size, and what differs"}};
  return document;
}

/// "0.83x of the baseline (167 GB/s against 202 GB/s)", and what would tell.
std::string outcome_text(const CheckedFigure& one) {
  const std::string needed = needed_text(one);
  return fmt::format("{}: {} of {} ({} against {}){}{}",
                     word_of(one.status),
                     gain_text(one.figure),
                     one.bound ? "the limit" : "the baseline",
                     value_text(one.figure, one.figure.b),
                     one.bound ? reference_text(one) : value_text(one.figure, one.figure.a),
                     needed.empty() ? "" : "; ",
                     needed);
}

/// `printable` first: newlines and control characters stand in no XML and end an annotation.
std::string xml_text(const std::string& text) {
  return html_escaped(printable(text));
}

std::string junit(const std::string& name, const std::string& headline, const CheckResult& result) {
  // In the order of the enumeration: before and behind the outcome.
  constexpr std::array<std::pair<const char*, const char*>, 4> elements{
      {{"<system-out>", "</system-out>"},
       {"<system-out>", "</system-out>"},
       {"<failure message=\"", "\"/>"},
       {"<skipped message=\"", "\"/>"}}};
  const auto with = [&](CheckStatus status) {
    return std::ranges::count(result.figures, status, &CheckedFigure::status);
  };
  const std::size_t wrong = result.wrong_results > 0 ? 1 : 0;
  // Without any test a suite counts as passed.
  const std::size_t none = result.figures.empty() && result.unmet.empty() && wrong == 0 ? 1 : 0;
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" "
      "tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
      xml_text(name),
      result.figures.size() + result.unmet.size() + wrong + none,
      static_cast<std::size_t>(with(CheckStatus::fail)) + wrong,
      static_cast<std::size_t>(with(CheckStatus::cannot_tell)) + result.unmet.size() + none);
  if (wrong + none > 0)
    xml +=
        fmt::format("<testcase classname=\"results\" name=\"{}\"><{} message=\"{}\"/></testcase>\n",
                    wrong > 0 ? "right results" : "comparable figures",
                    wrong > 0 ? "failure" : "skipped",
                    xml_text(headline));
  for (const CheckedFigure& one : result.figures) {
    const auto& [before, behind] = elements.at(index_of(one.status));
    xml += fmt::format("<testcase classname=\"{}\" name=\"{}\">{}{}{}</testcase>\n",
                       info(one.figure.metric).key,
                       xml_text(figure_text(one.figure)),
                       before,
                       xml_text(outcome_text(one)),
                       behind);
  }
  for (const model::UnmetRule& one : result.unmet)
    xml += fmt::format(
        "<testcase classname=\"rules\" name=\"{}\"><skipped message=\"meets no figure of this "
        "run\"/></testcase>\n",
        xml_text(rule_text(one)));
  return xml + "</testsuite>\n</testsuites>\n";
}

/// In a message "%" begins an escape.
std::string annotation(CheckStatus status, const std::string& text) {
  // In the order of the enumeration.
  constexpr std::array levels{"notice", "warning", "error", "notice"};
  return fmt::format("::{} title=scaleworth check::{}\n",
                     levels.at(index_of(status)),
                     listed(split(printable(text), '%'), {}, "%25"));
}

std::string github(const std::string& headline, const CheckResult& result) {
  std::string lines = annotation(result.status, headline);
  for (const CheckedFigure& one : result.figures)
    if (one.status != CheckStatus::pass)
      lines += annotation(one.status, figure_text(one.figure) + ": " + outcome_text(one));
  for (const model::UnmetRule& one : result.unmet)
    lines += annotation(CheckStatus::warn, rule_text(one) + ": meets no figure of this run");
  return lines;
}

/// "AllReduce" of "all_reduce", as NCCL spells it.
std::string collective_label(const Setting& setting) {
  const auto collective = setting.symbol<Collective>(Parameter::collective);
  std::string label;
  bool first = true;
  for (const char c : std::string(collective ? key_of(*collective) : "")) {
    if (c != '_') label += first ? static_cast<char>(c - 'a' + 'A') : c;
    first = c == '_';
  }
  return label;
}

std::string prometheus(const CheckResult& result) {
  const auto labels = [](const CheckedFigure& one) {
    const Setting& setting = one.figure.setting;
    const auto count = [&](Parameter parameter) {
      const auto value = setting.count(parameter);
      return value ? fmt::format("{}", *value) : "";
    };
    const std::array<std::pair<const char*, std::string>, 7> all{
        {{"metric", info(one.figure.metric).key},
         {"figure", figure_text(one.figure)},
         {"gpu", count(Parameter::gpu).empty() ? "" : "GPU" + count(Parameter::gpu)},
         {"n_nodes", count(Parameter::nodes)},
         {"nranks", count(Parameter::ranks)},
         {"collective", collective_label(setting)},
         {"message_size", collective_label(setting).empty() ? "" : subject_of(one.figure)}}};
    return listed(
        all,
        [](const auto& label) {
          std::string value;
          for (const char c : printable(label.second)) {
            if (c == '"' || c == '\\') value += '\\';
            value += c;
          }
          return value.empty() ? "" : fmt::format("{}=\"{}\"", label.first, value);
        },
        ",");
  };
  std::string text;
  const auto family = [&](const char* name, const char* help, const auto& value) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name, help);
    for (const CheckedFigure& one : result.figures)
      text += fmt::format("{}{{{}}} {}\n", name, labels(one), value(one));
  };
  family("scaleworth_check_ratio",
         "Run over baseline; below 1 the run is worse.",
         [](const CheckedFigure& one) { return one.figure.gain.value; });
  family("scaleworth_check_status",
         "0 pass, 1 warn, 2 fail, 3 cannot tell.",
         [](const CheckedFigure& one) { return static_cast<int>(one.status); });
  return text +
         fmt::format(
             "# HELP scaleworth_check_wrong_results Settings whose results are wrong.\n# TYPE "
             "scaleworth_check_wrong_results gauge\nscaleworth_check_wrong_results {}\n",
             result.wrong_results);
}
}  // namespace

std::string figure_text(const model::ComparedFigure& figure) {
  return figure.setting.contains(Parameter::collective)
             ? fmt::format("{}, {}", sweep_text(figure.setting), subject_of(figure))
             : machine_text(figure);
}

std::string render_check_as(CheckFormat format,
                            const ComparedRun& run,
                            const ComparedRun& baseline,
                            const CheckResult& result,
                            double tolerance) {
  const std::string headline =
      own_warnings(run, baseline) + check_headline(run, baseline, result, tolerance);
  if (format == CheckFormat::prometheus) return prometheus(result);
  if (format == CheckFormat::github) return github(headline, result);
  return junit(
      fmt::format("scaleworth check {} against {}", run.name, baseline.name), headline, result);
}

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
