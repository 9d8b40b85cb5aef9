// SPDX-License-Identifier: Apache-2.0
#include "report/run/compare_report.h"

#include "report/document.h"
#include "report/names.h"
#include "report/render.h"
#include "src/core/files/fields.h"

#include <array>
#include <cmath>

namespace scaleworth::report {
namespace {
using model::CheckedFigure;
using model::CheckResult;
using model::CheckStatus;
using model::ComparedFigure;
using model::ComparedSweep;
using model::Comparison;
using model::NoiseBasis;
using model::Unmatched;

struct FactPlace {
  const char* section;
  const char* fact;
};

/// A fact whose difference may explain one of the figures; the first place that has it counts.
struct NamedFact {
  const char* words;
  bool moves_bytes;  // a library whose version decides how collectives run
  FactPlace place;
  FactPlace of_import = {"", ""};
};
constexpr std::array named_facts{
    NamedFact{"processor", false, {"cpu", "model"}},
    NamedFact{"cores", false, {"cpu", "cores"}},
    NamedFact{"GPU", false, {"gpu 0", "name"}, {"nccl_tests", "gpus"}},
    NamedFact{"GPUs", false, {"gpu", "count"}},
    NamedFact{"driver", false, {"cuda", "driver"}},
    NamedFact{"kernel", false, {"software", "kernel"}},
    NamedFact{"MPI", true, {"libraries", "mpi"}},
    NamedFact{"BLAS", false, {"libraries", "blas"}},
    NamedFact{"NCCL", true, {"gpu libraries", "NCCL"}, {"nccl_tests", "library"}}};

struct DifferentFact {
  std::string what;
  std::string a;
  std::string b;
};

std::string fact_text(const Run& run, const NamedFact& named) {
  for (const FactPlace& place : {named.place, named.of_import}) {
    const Fact* fact = find_fact(run, place.section, place.fact);
    if (fact != nullptr && fact->value) return plain_text(*fact->value);
  }
  return "";
}

std::vector<DifferentFact> different_facts(const Run& a, const Run& b) {
  std::vector<DifferentFact> found;
  for (const NamedFact& named : named_facts) {
    DifferentFact one{named.words, fact_text(a, named), fact_text(b, named)};
    if (one.a != one.b) found.push_back(std::move(one));
  }
  return found;
}

/// "all reduce among 8 ranks, back to back, in place"
std::string sweep_text(const Setting& setting) {
  const std::int64_t ranks = setting.count(Parameter::ranks).value_or(0);
  std::string text = fmt::format("{} among {}, {}",
                                 setting.text(Parameter::collective),
                                 counted(ranks, "rank"),
                                 setting.text(Parameter::mode));
  const auto selection = setting.symbol<RankSelection>(Parameter::selection);
  if (selection && *selection != RankSelection::all) text += ", " + selection_text(setting);
  if (setting.flag(Parameter::in_place)) text += ", in place";
  if (setting.flag(Parameter::registered)) text += ", registered";
  // nccl-tests' default, which most tables have, goes without saying.
  if (const std::string type = setting.text(Parameter::data_type); !type.empty() && type != "float")
    text += ", " + type;
  if (const std::string way = setting.text(Parameter::algorithm); !way.empty())
    text += ", " + way + "/" + setting.text(Parameter::protocol);
  return text;
}

/// What a key figure is of: "large messages", "start-up", "8 KiB".
std::string subject_of(const ComparedFigure& figure) {
  if (figure.metric == Metric::alpha) return "start-up";
  const auto size = figure.setting.count(Parameter::message_bytes);
  if (!size) return "large messages";
  return format_quantity(number(static_cast<double>(*size)), Unit::bytes);
}

std::string gain_text(const ComparedFigure& figure) {
  return format_number(figure.gain, Unit::plain, Scale{}) + "x";
}

Unit unit_of(Metric metric) {
  return info(metric).unit == MetricUnit::seconds ? Unit::seconds : Unit::bytes_per_second;
}

std::string value_text(const ComparedFigure& figure, const Estimate<double>& value) {
  return format_quantity(number(value.value), unit_of(figure.metric));
}

const char* noise_words(NoiseBasis noise) {
  // In the order of the enumeration.
  return std::array{"spread between runs",
                    "samples of one run each",
                    "scatter between sizes",
                    "nothing to tell noise from"}
      .at(static_cast<std::size_t>(noise));
}

const char* difference_words(const ComparedFigure& figure) {
  if (figure.noise == NoiseBasis::none) return "cannot tell";
  if (!figure.differs()) return "no difference beyond the noise";
  return figure.gain.value > 1.0 ? "B is better" : "B is worse";
}

const char* status_words(CheckStatus status) {
  // In the order of the enumeration.
  return std::array{"pass", "warn", "fail", "cannot tell"}.at(static_cast<std::size_t>(status));
}

/// A figure and the sweep that it belongs to.
struct Placed {
  const ComparedSweep* sweep;
  const ComparedFigure* figure;
};

std::vector<Placed> placed(const Comparison& comparison,
                           std::vector<ComparedFigure> ComparedSweep::*list,
                           bool start_up) {
  std::vector<Placed> rows;
  for (const ComparedSweep& sweep : comparison.sweeps) {
    for (const ComparedFigure& figure : sweep.*list)
      if ((figure.metric == Metric::alpha) == start_up) rows.push_back({&sweep, &figure});
  }
  return rows;
}

/// Bandwidths, or start-up times, of both and their ratio.
Table figures_table(const char* id,
                    const char* title,
                    const std::vector<Placed>& rows,
                    Unit unit,
                    std::vector<std::string> notes) {
  return make_table(
      id,
      title,
      rows,
      {{parameter("what", "collective"),
        [](const Placed& row) { return sweep_text(row.sweep->setting); }},
       {parameter("message", "message"), [](const Placed& row) { return subject_of(*row.figure); }},
       {measure("a", "A", unit), [](const Placed& row) { return row.figure->a; }},
       {measure("b", "B", unit), [](const Placed& row) { return row.figure->b; }},
       {measure("gain", "B over A"), [](const Placed& row) { return row.figure->gain; }},
       {measure("difference", "which means"),
        [](const Placed& row) { return std::string(difference_words(*row.figure)); }},
       {measure("noise", "noise from"),
        [](const Placed& row) { return std::string(noise_words(row.figure->noise)); }}},
      std::move(notes));
}

std::string unmatched_reason(const Unmatched& one) {
  if (one.differs_in.empty()) return "the other has no such collective";
  if (one.differs_in == std::vector{Parameter::message_bytes})
    return "no size that both have, or another sweep of this kind was compared";
  return "the other differs in " +
         listed(one.differs_in, [](Parameter parameter) { return words(info(parameter).key); });
}

Table unmatched_table(const Comparison& comparison) {
  return make_table("only_one_has",
                    "What only one of them has",
                    comparison.unmatched,
                    {{parameter("what", "collective"),
                      [](const Unmatched& one) { return sweep_text(one.setting); }},
                     {measure("side", "has it"),
                      [](const Unmatched& one) { return std::string(one.of_a ? "A" : "B"); }},
                     {measure("reason", "not compared because"), unmatched_reason}});
}

Table facts_table(const std::vector<DifferentFact>& facts) {
  const auto text = [](const std::string& value) {
    return value.empty() ? std::string("not recorded") : value;
  };
  return make_table("stacks",
                    "In what the two differ besides",
                    facts,
                    {{parameter("what", "what"), &DifferentFact::what},
                     {measure("a", "A"), [=](const DifferentFact& one) { return text(one.a); }},
                     {measure("b", "B"), [=](const DifferentFact& one) { return text(one.b); }}});
}

/// Empty where all results are right.
std::string wrong_sentence(const char* side, const Run& run) {
  const model::WrongResults wrong = model::wrong_results(run);
  if (wrong.settings == 0) return "";
  return fmt::format(
      "{} has wrong results at {} of {} measured settings: look for faulty hardware or a broken "
      "build before you compare speeds (they are left out here). ",
      side,
      wrong.settings,
      wrong.of);
}

/// The figure that heads the document: of the first sweep the large messages, or what differs most
/// where those do not.
const ComparedFigure* leading_figure(const ComparedSweep& sweep) {
  const ComparedFigure* leading = nullptr;
  const auto weight = [](const ComparedFigure& figure) {
    return std::pair(figure.differs(),
                     figure.metric == Metric::largest_bus_bandwidth
                         ? 1e9
                         : std::abs(std::log(figure.gain.value)));
  };
  for (const ComparedFigure& figure : sweep.key_figures)
    if (leading == nullptr || weight(figure) > weight(*leading)) leading = &figure;
  return leading;
}

std::string headline(const ComparedRun& a, const ComparedRun& b, const Comparison& comparison) {
  std::string text = wrong_sentence("A", *a.run) + wrong_sentence("B", *b.run);
  if (comparison.sweeps.empty())
    return text +
           "Nothing can be compared: the two have no collective on the same layout, see "
           "Not compared; measure both with the same ranks";
  const ComparedSweep& sweep = comparison.sweeps.front();
  const ComparedFigure& figure = *leading_figure(sweep);
  const std::string where = fmt::format("in {} ({}: {} for A, {} for B)",
                                        sweep_text(sweep.setting),
                                        subject_of(figure),
                                        value_text(figure, figure.a),
                                        value_text(figure, figure.b));
  if (figure.noise == NoiseBasis::none)
    return text + fmt::format(
                      "B is {} as fast as A {}, and nothing tells whether that is noise: "
                      "repeat each three times",
                      gain_text(figure),
                      where);
  if (figure.differs())
    return text + fmt::format("B is {} as fast as A {}", gain_text(figure), where);
  return text + fmt::format("No difference beyond the noise: B is {} as fast as A {}",
                            gain_text(figure),
                            where);
}

std::vector<std::string> lines_of(const Comparison& comparison) {
  std::size_t better = 0;
  std::size_t worse = 0;
  std::size_t unknown = 0;
  std::size_t all = 0;
  bool repeats = true;
  for (const ComparedSweep& sweep : comparison.sweeps) {
    for (const ComparedFigure& figure : sweep.key_figures) {
      ++all;
      better += figure.differs() && figure.gain.value > 1.0 ? 1 : 0;
      worse += figure.differs() && figure.gain.value < 1.0 ? 1 : 0;
      unknown += figure.noise == NoiseBasis::none ? 1 : 0;
      repeats = repeats && figure.noise == NoiseBasis::repeats;
    }
  }
  std::vector<std::string> lines;
  if (all > 0)
    lines.push_back(
        fmt::format("Of {} key figures B is better in {}, worse in {}, and the same "
                    "within the noise in {}{}.",
                    all,
                    better,
                    worse,
                    all - better - worse - unknown,
                    unknown == 0 ? "" : fmt::format("; of {} the noise is not known", unknown)));
  if (all > 0 && !repeats)
    lines.push_back(fmt::format(
        "Without repeats the noise between runs is taken as {:g} % of each: measure both three "
        "times (--repeat 3) before you decide on a small difference.",
        100.0 * model::presumed_run_noise));
  return lines;
}

constexpr const char* gain_note =
    "B over A: above 1 B is better (of times A over B), with its 95 % interval. Large messages: "
    "median bus bandwidth at sizes within 8x of the largest. Sizes: those that both have nearest "
    "to 8 KiB, 1 MiB and 64 MiB.";

std::vector<Section> comparison_sections(const ComparedRun& a,
                                         const ComparedRun& b,
                                         const Comparison& comparison,
                                         const RenderOptions& options) {
  using Sweep = ComparedSweep;
  Table sizes = figures_table("sizes",
                              "Bus bandwidth at every size that both have",
                              placed(comparison, &Sweep::sizes, false),
                              Unit::bytes_per_second,
                              {});
  if (!options.details) sizes.rows.clear();
  return with_content({{"figures",
                        "Collectives",
                        {},
                        {},
                        {figures_table("key_figures",
                                       "Bus bandwidth",
                                       placed(comparison, &Sweep::key_figures, false),
                                       Unit::bytes_per_second,
                                       {gain_note}),
                         figures_table("start_up",
                                       "Start-up time (alpha)",
                                       placed(comparison, &Sweep::key_figures, true),
                                       Unit::seconds,
                                       {}),
                         std::move(sizes)}},
                       {"unmatched", "Not compared", {}, {}, {unmatched_table(comparison)}},
                       {"stacks",
                        "Machines and software",
                        {},
                        {},
                        {facts_table(different_facts(*a.run, *b.run))}}});
}

Document compose_comparison(const ComparedRun& a,
                            const ComparedRun& b,
                            const Comparison& comparison,
                            const RenderOptions& options) {
  Document document;
  document.title = document_title(options.tool_version, "what differs?");
  document.subject = a.name + " and " + b.name;
  document.subtitle = fmt::format("A: {}; B: {}", a.name, b.name);
  document.verdict.headline = headline(a, b, comparison) + ".";
  document.verdict.lines = lines_of(comparison);
  document.sections = comparison_sections(a, b, comparison, options);
  if (!comparison.sweeps.empty())
    document.next = {{fmt::format("scaleworth check {} --against {}", b.name, a.name),
                      "whether B is good enough, by its repeats"}};
  else
    document.next = {{"scaleworth comm", "measure again, with the same number of ranks"}};
  return document;
}

// ---- Check

std::string needed_text(const CheckedFigure& one) {
  if (one.status != CheckStatus::cannot_tell) return "";
  if (!one.runs_needed) return "repeat both: how far runs differ is not known";
  return fmt::format("{} of each would tell", counted(*one.runs_needed, "run"));
}

std::string checked_text(const CheckedFigure& one) {
  return fmt::format("{}, {}", sweep_text(one.figure.setting), subject_of(one.figure));
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
  const double percent = 100.0 * tolerance;
  if (all == 0 && result.wrong_results == 0)
    return wrong + "Cannot tell: the two have no collective on the same layout, see Not compared.";
  const bool repeats = std::ranges::any_of(result.figures, [](const CheckedFigure& one) {
    return one.figure.noise == NoiseBasis::repeats;
  });
  if (result.wrong_results > 0 && with(CheckStatus::fail) == 0)
    return wrong + "Fail: whatever its speed, a wrong result is a failure.";
  switch (result.status) {
    case CheckStatus::fail: {
      const CheckedFigure& first = result.figures.front();
      return wrong + fmt::format(
                         "Fail: {} of {} figures are worse than the baseline by {:g} % or "
                         "more; first {}: {} of the baseline.",
                         with(CheckStatus::fail),
                         all,
                         percent,
                         checked_text(first),
                         gain_text(first.figure));
    }
    case CheckStatus::cannot_tell:
      return wrong + fmt::format("Cannot tell for {} of {} figures: {}.",
                                 with(CheckStatus::cannot_tell),
                                 all,
                                 repeats
                                     ? "their runs are too few for how far they spread; measure "
                                       "run and baseline several times (--repeat 4)"
                                     : "without repeats it is not known how far runs differ; "
                                       "measure run and baseline four times (--repeat 4)");
    case CheckStatus::warn:
      return wrong + fmt::format(
                         "Warn: {} of {} figures are worse than the baseline, by less than "
                         "{:g} % or not beyond chance among so many.",
                         with(CheckStatus::warn),
                         all,
                         percent);
    case CheckStatus::pass:
      break;
  }
  return wrong +
         fmt::format("Pass: no figure of {} has lost {:g} % against the baseline.", all, percent);
}

Table checked_table(const CheckResult& result) {
  const auto cell = [](const CheckedFigure& one, const Estimate<double>& value) {
    return format_quantity(value, unit_of(one.figure.metric));
  };
  return make_table(
      "checked",
      "Each figure against the baseline",
      result.figures,
      {{parameter("what", "collective"),
        [](const CheckedFigure& one) { return sweep_text(one.figure.setting); }},
       {parameter("message", "message"),
        [](const CheckedFigure& one) { return subject_of(one.figure); }},
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

// ---- JSON

constexpr JsonHead comparison_head{"compare.schema.json",
                                   "scaleworth compare and check --format json",
                                   "Two runs joined on metric and setting. A is the first run or "
                                   "the baseline. Numbers are in base "
                                   "units: seconds, bytes per second. What does not exist is null.",
                                   1,
                                   "scaleworth comparison"};

void put_figure(Fields& json, const ComparedFigure& figure) {
  json("metric", info(figure.metric).key, "As in run.schema.json.");
  put_setting(json, "setting", figure.setting);
  json("a", figure.a);
  json("b", figure.b);
  json.sentence("B over A; of what is better when low A over B. Above 1 B is better.");
  json("gain", figure.gain);
  json("noise",
       std::array{"repeats", "samples", "neighbours", "none"}.at(
           static_cast<std::size_t>(figure.noise)),
       "What the interval of the gain is made from.",
       one_of("repeats|samples|neighbours|none"));
}

void put_status(Fields& json, const char* key, CheckStatus status) {
  json(key,
       std::array{"pass", "warn", "fail", "cannot_tell"}.at(static_cast<std::size_t>(status)),
       one_of("pass|warn|fail|cannot_tell"));
}

std::string comparison_json(Fields::Make make,
                            const Comparison& comparison,
                            const CheckResult* result,
                            const Document& document,
                            const RenderOptions& options) {
  const auto members = [&](Fields& json) {
    put_versions(json, options);
    json("headline", document.verdict.headline, "One sentence with its numbers.");
    json.array("sweeps", comparison.sweeps, [](Fields& of, const ComparedSweep& sweep) {
      put_setting(of, "setting", sweep.setting);
      of.array("key_figures", sweep.key_figures, put_figure, "What is judged.");
      of.array("sizes", sweep.sizes, put_figure, "At every size that both have.");
    });
    json.array("only_one_has", comparison.unmatched, [](Fields& of, const Unmatched& one) {
      of("side", one.of_a ? "a" : "b", one_of("a|b"));
      put_setting(of, "setting", one.setting);
      of("differs_in",
         mapped(one.differs_in, [](Parameter p) { return std::string(info(p).key); }));
    });
    json.object_if(
        result != nullptr,
        "check",
        [&](Fields& of) {
          static const CheckResult none;
          const CheckResult& checked = result ? *result : none;
          put_status(of, "status", checked.status);
          of("wrong_results",
             checked.wrong_results,
             "Settings of the run that a check found wrong.");
          of.array("figures", checked.figures, [](Fields& each, const CheckedFigure& one) {
            put_status(each, "status", one.status);
            put_figure(each, one.figure);
            each("runs_needed", one.runs_needed);
          });
        },
        "null for compare.");
  };
  if (make == Fields::Make::schema) return schema_of(comparison_head, members);
  return json_of(comparison_head, members);
}

/// `compose` may leave out or add details.
template <class Compose>
std::string rendered(const Comparison& comparison,
                     const CheckResult* result,
                     const RenderOptions& options,
                     Compose compose) {
  return render_document({compose,
                          [&](const RenderOptions& as) {
                            return comparison_json(
                                Fields::Make::document, comparison, result, compose(as), as);
                          },
                          [] { return std::vector<Chart>(); },
                          {"what", "message"}},
                         options);
}
}  // namespace

std::string render_comparison(const ComparedRun& a,
                              const ComparedRun& b,
                              const Comparison& comparison,
                              const RenderOptions& options) {
  return rendered(comparison, nullptr, options, [&](const RenderOptions& as) {
    return compose_comparison(a, b, comparison, as);
  });
}

std::string render_check(const ComparedRun& run,
                         const ComparedRun& baseline,
                         const Comparison& comparison,
                         const CheckResult& result,
                         double tolerance,
                         const RenderOptions& options) {
  return rendered(comparison, &result, options, [&](const RenderOptions& as) {
    return compose_check(run, baseline, comparison, result, tolerance, as);
  });
}

std::string different_libraries(const Run& a, const Run& b) {
  return listed(named_facts, [&](const NamedFact& named) {
    const std::string of_a = fact_text(a, named);
    const std::string of_b = fact_text(b, named);
    const bool known = named.moves_bytes && !of_a.empty() && !of_b.empty();
    return known && of_a != of_b ? fmt::format("{} {} against {}", named.words, of_b, of_a) : "";
  });
}

std::string comparison_schema() {
  return comparison_json(Fields::Make::schema, {}, nullptr, {}, {});
}
}  // namespace scaleworth::report
