// SPDX-License-Identifier: Apache-2.0
#include "report/run/compare_report.h"

#include "report/names.h"
#include "report/render.h"
#include "report/run/compared_figures.h"
#include "report/run/run_report.h"
#include "src/core/files/fields.h"

#include <array>
#include <cmath>

namespace scaleworth::report {
std::string own_doubts(const ComparedRun& a, const ComparedRun& b) {
  std::vector<Finding> doubts;
  for (const ComparedRun* one : {&a, &b}) {
    if (model::wrong_results(*one->run).settings > 0) continue;  // the headline says so
    for (Finding& of : findings_of(*one->run, model::analyse(*one->run, {}))) {
      if (of.doubt.empty()) continue;
      of.doubt += fmt::format(" ({})", one->name);
      doubts.push_back(std::move(of));
    }
  }
  if (doubts.empty()) return "";
  return not_reliable(doubts.front().doubt, doubts.size(), doubts.front().again) + " ";
}

namespace {
using model::CheckedFigure;
using model::CheckResult;
using model::CheckStatus;
using model::ComparedFigure;
using model::ComparedSweep;
using model::Comparison;
using model::NoiseBasis;
using model::Unmatched;

const char* noise_words(NoiseBasis noise) {
  // In the order of the enumeration.
  return std::array{"spread between runs",
                    "samples of one run each",
                    "scatter between sizes",
                    "nothing to tell noise from"}
      .at(static_cast<std::size_t>(noise));
}

/// A figure with what it is of.
struct Placed {
  std::string what;
  const ComparedFigure* figure;
};

std::vector<Placed> placed(const Comparison& comparison,
                           std::vector<ComparedFigure> ComparedSweep::*list,
                           bool start_up) {
  std::vector<Placed> rows;
  for (const ComparedSweep& sweep : comparison.sweeps) {
    for (const ComparedFigure& figure : sweep.*list)
      if ((figure.metric == Metric::alpha) == start_up)
        rows.push_back({sweep_text(sweep.setting), &figure});
  }
  return rows;
}

std::vector<Placed> placed(const Comparison& comparison, Metric metric) {
  std::vector<Placed> rows;
  for (const ComparedFigure& figure : comparison.machine)
    if (figure.metric == metric) rows.push_back({machine_text(figure), &figure});
  return rows;
}

/// Figures of one unit of both, and their ratio.
Table figures_table(const char* id,
                    const char* title,
                    const char* what,
                    const std::vector<Placed>& rows,
                    Unit unit,
                    std::vector<std::string> notes) {
  return make_table(
      id,
      title,
      rows,
      {{parameter("what", what), &Placed::what},
       {parameter("message", "message").if_present(),
        [](const Placed& row) {
          const std::string subject = subject_of(*row.figure);
          return subject.empty() ? Cell{} : Cell{subject};
        }},
       {measure("a", "A", unit), [](const Placed& row) { return row.figure->a; }},
       {measure("b", "B", unit), [](const Placed& row) { return row.figure->b; }},
       {measure("gain", "B over A"), [](const Placed& row) { return row.figure->gain; }},
       {measure("difference", "which means"),
        [](const Placed& row) { return std::string(difference_words(*row.figure)); }},
       {measure("noise", "noise from").as_detail(),
        [](const Placed& row) { return std::string(noise_words(row.figure->noise)); }}},
      std::move(notes));
}

/// A figure that heads the document.
struct Leading {
  const ComparedFigure* figure;
  std::string what;
};

/// Of a sweep the large messages, or what differs most where those do not.
Leading leading_of(const ComparedSweep& sweep) {
  const auto weight = [](const ComparedFigure& figure) {
    return std::pair(figure.differs(),
                     figure.metric == Metric::largest_bus_bandwidth
                         ? 1e9
                         : std::abs(std::log(figure.gain.value)));
  };
  const ComparedFigure& figure = *std::ranges::max_element(sweep.key_figures, {}, weight);
  return {&figure, fmt::format("{} ({}: ", sweep_text(sweep.setting), subject_of(figure))};
}

/// The training step on most ranks, where both divide the same batch; of a machine the product (or
/// the multiply-adds) that both do fastest, in bf16 where both have it, and the memory by STREAM's
/// kernels.
std::vector<Leading> leading_of(const std::vector<ComparedFigure>& machine) {
  const auto fastest = [&](Metric metric, const auto& counts) -> const ComparedFigure* {
    const ComparedFigure* best = nullptr;
    const auto weight = [](const ComparedFigure& figure) {
      const auto kernel = figure.setting.symbol<MemoryKernel>(Parameter::kernel);
      return std::tuple(
          figure.setting.symbol<NumberFormat>(Parameter::precision) == NumberFormat::bf16,
          figure.setting.contains(Parameter::family),
          kernel == MemoryKernel::copy || kernel == MemoryKernel::triad,
          figure.setting.count(Parameter::ranks),
          figure.a.value * figure.b.value);
    };
    for (const ComparedFigure& figure : machine) {
      const bool one_core = figure.setting.contains(Parameter::all_workers) &&
                            !figure.setting.flag(Parameter::all_workers);
      if (figure.metric != metric || one_core || !counts(figure)) continue;
      if (best == nullptr || weight(figure) > weight(*best)) best = &figure;
    }
    return best;
  };
  std::vector<Leading> leading;
  const auto in_memory = [](const ComparedFigure& figure) {
    return figure.setting.symbol<MemoryLevelName>(Parameter::level) == MemoryLevelName::memory;
  };
  const auto in_strong_scaling = [](const ComparedFigure& figure) {
    return figure.setting.symbol<BatchScaling>(Parameter::scaling) == BatchScaling::strong;
  };
  for (const ComparedFigure* one :
       {fastest(Metric::step_s, in_strong_scaling),
        fastest(Metric::flop_rate, [](const ComparedFigure&) { return true; }),
        fastest(Metric::memory_bandwidth, in_memory)})
    if (one != nullptr) leading.push_back({one, machine_text(*one) + " ("});
  if (!leading.empty() || machine.empty()) return leading;
  // Transfers, launches and latencies alone: what differs most.
  const auto change = [](const ComparedFigure& one) {
    return std::pair(one.differs(), std::abs(std::log(one.gain.value)));
  };
  const ComparedFigure& most = *std::ranges::max_element(machine, {}, change);
  return {{&most, machine_text(most) + " ("}};
}

/// "B is 1.9x as fast as A in bf16 product 64 x 64 x 64 (2 TFLOP/s against 1 TFLOP/s)".
std::string gain_sentence(const Leading& one) {
  return fmt::format("B is {} as fast as A in {}{} against {})",
                     gain_text(*one.figure),
                     one.what,
                     value_text(*one.figure, one.figure->b),
                     value_text(*one.figure, one.figure->a));
}

/// What differs, then what does not beyond the noise, then what nothing tells, a sentence each.
std::string differences_of(const std::vector<Leading>& leading) {
  std::array<std::vector<std::string>, 3> sentences;
  for (const Leading& one : leading) {
    const std::string gain = gain_sentence(one);
    if (one.figure->noise == NoiseBasis::none)
      sentences[2].push_back(gain + ", maybe by noise: repeat each three times");
    else if (one.figure->differs())
      sentences[0].push_back(gain);
    else
      sentences[1].push_back("No difference beyond the noise: " + gain);
  }
  std::vector<std::string> all;
  for (const auto& alike : sentences) all.insert(all.end(), alike.begin(), alike.end());
  return listed(all, {}, ". ");
}

std::string headline(const ComparedRun& a, const ComparedRun& b, const Comparison& comparison) {
  const std::string wrong = wrong_sentence("A", *a.run) + wrong_sentence("B", *b.run);
  if (comparison.empty())
    return wrong +
           "Nothing can be compared: the two have no figure of the same kind, nor a collective on "
           "the same layout, see Not compared; measure both with the same command";
  std::vector<Leading> leading = leading_of(comparison.machine);
  if (!comparison.sweeps.empty()) leading.push_back(leading_of(comparison.sweeps.front()));
  return wrong + differences_of(leading);
}

std::vector<std::string> lines_of(const Comparison& comparison) {
  std::size_t better = 0;
  std::size_t worse = 0;
  std::size_t unknown = 0;
  std::size_t all = 0;
  bool repeats = true;
  for (const ComparedFigure& figure : model::judged(comparison)) {
    ++all;
    better += figure.differs() && figure.gain.value > 1.0 ? 1 : 0;
    worse += figure.differs() && figure.gain.value < 1.0 ? 1 : 0;
    unknown += figure.noise == NoiseBasis::none ? 1 : 0;
    repeats = repeats && figure.noise == NoiseBasis::repeats;
  }
  std::vector<std::string> lines;
  if (all > 0)
    lines.push_back(fmt::format(
        "Of {} key figures B is better in {}, worse in {}, and the same within the noise in {}{}.",
        all,
        better,
        worse,
        all - better - worse - unknown,
        unknown == 0 ? "" : fmt::format("; of {} the noise is not known", unknown)));
  if (all > 0 && !repeats)
    lines.push_back(
        fmt::format("Without repeats the noise between runs is taken as {:g} % of each: measure "
                    "both three times (--repeat 3) before you decide on a small difference.",
                    100.0 * model::presumed_run_noise));
  return lines;
}

constexpr const char* gain_note =
    "B over A: above 1 B is better (of times A over B), with its 95 % interval. Large messages: "
    "median bus bandwidth at sizes within 8x of the largest. Sizes: those that both have nearest "
    "to 8 KiB, 1 MiB and 64 MiB.";

/// One table for each metric, in their order.
std::vector<Table> machine_tables(const Comparison& comparison) {
  return mapped(machine_metrics, [&](const MachineMetric& kind) {
    return figures_table(info(kind.metric).key,
                         kind.title,
                         "of",
                         placed(comparison, kind.metric),
                         unit_of(kind.metric),
                         {});
  });
}

std::vector<Section> comparison_sections(const ComparedRun& a,
                                         const ComparedRun& b,
                                         const Comparison& comparison,
                                         const RenderOptions& options) {
  using Sweep = ComparedSweep;
  Table sizes = figures_table("sizes",
                              "Bus bandwidth at every size that both have",
                              "collective",
                              placed(comparison, &Sweep::sizes, false),
                              Unit::bytes_per_second,
                              {});
  if (!options.details) sizes.rows.clear();
  return with_content({{"machine", "Machine", {}, {}, machine_tables(comparison)},
                       {"figures",
                        "Collectives",
                        {},
                        {},
                        {figures_table("key_figures",
                                       "Bus bandwidth",
                                       "collective",
                                       placed(comparison, &Sweep::key_figures, false),
                                       Unit::bytes_per_second,
                                       {gain_note}),
                         figures_table("start_up",
                                       "Start-up time (alpha)",
                                       "collective",
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
  document.verdict.headline = own_doubts(a, b) + headline(a, b, comparison) + ".";
  document.verdict.lines = lines_of(comparison);
  document.sections = comparison_sections(a, b, comparison, options);
  if (!comparison.empty())
    document.next = {{fmt::format("scaleworth check {} --against {}", b.name, a.name),
                      "whether B is good enough, by its repeats"}};
  else
    document.next = {{comparison.unmatched_machine.empty() ? "scaleworth comm" : "scaleworth bench",
                      "measure both again, with as many ranks"}};
  return document;
}

// ---- JSON

constexpr JsonHead comparison_head{
    "compare.schema.json",
    "scaleworth compare and check --format json",
    "Two runs joined on metric and setting. A is the first run or the baseline. Numbers are in "
    "base units: seconds, bytes per second. What does not exist is null.",
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
    json.array("machine", comparison.machine, put_figure, "What is of no collective.");
    json.array("only_one_has_machine",
               comparison.unmatched_machine,
               [](Fields& of, const model::UnmatchedFigures& one) {
                 of("side", one.of_a ? "a" : "b", one_of("a|b"));
                 of("metric", info(one.metric).key);
                 of("count", one.count, "Figures of this metric at settings that the other lacks.");
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
          of("measured_once",
             checked.measured_once,
             "Figures without repeats on either side, which are not judged.");
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
}  // namespace

std::string render_compared(const Comparison& comparison,
                            const CheckResult* result,
                            const RenderOptions& options,
                            const std::function<Document(const RenderOptions&)>& compose) {
  return render_document({compose,
                          [&](const RenderOptions& as) {
                            return comparison_json(
                                Fields::Make::document, comparison, result, compose(as), as);
                          },
                          [] { return std::vector<Chart>(); }},
                         options);
}

std::string render_comparison(const ComparedRun& a,
                              const ComparedRun& b,
                              const Comparison& comparison,
                              const RenderOptions& options) {
  return render_compared(comparison, nullptr, options, [&](const RenderOptions& as) {
    return compose_comparison(a, b, comparison, as);
  });
}

std::string comparison_schema() {
  return comparison_json(Fields::Make::schema, {}, nullptr, {}, {});
}
}  // namespace scaleworth::report
