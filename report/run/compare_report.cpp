// SPDX-License-Identifier: Apache-2.0
#include "report/run/compare_report.h"

#include "report/render.h"
#include "report/run/compared_figures.h"
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/core/files/fields.h"

#include <array>
#include <cmath>

namespace scaleworth::report {
std::string own_warnings(const ComparedRun& a, const ComparedRun& b) {
  Words first;
  std::size_t warnings = 0;
  for (const ComparedRun* one : {&a, &b}) {
    if (one->run == nullptr) continue;                           // what the links allow, or rules
    if (model::wrong_results(*one->run).settings > 0) continue;  // the headline says so
    for (const Finding& of : run_findings(*one->run, model::analyse(*one->run, {})).unreliable) {
      if (++warnings > 1) continue;
      first = words_of(of);
      first.text += fmt::format(" ({})", one->name);
    }
  }
  return warnings == 0 ? "" : not_reliable(first.text, warnings, first.again) + " ";
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

bool of_sweep(const ComparedFigure& figure) {
  return figure.setting.contains(Parameter::collective);
}

/// Figures of one unit of both, and their ratio: those of `figures` that `wanted` chooses.
template <class Wanted>
Table figures_table(const char* id,
                    const char* title,
                    const char* what,
                    std::vector<ComparedFigure> figures,
                    Wanted wanted) {
  std::erase_if(figures, [&](const ComparedFigure& one) { return !wanted(one.metric); });
  const Unit unit = figures.empty() ? Unit::plain : unit_of(figures.front().metric);
  const auto of = [](const ComparedFigure& one) {
    return of_sweep(one) ? sweep_text(one.setting) : machine_text(one);
  };
  const auto subject = [](const ComparedFigure& one) -> std::optional<std::string> {
    if (of_sweep(one)) return subject_of(one);
    return std::nullopt;
  };
  return make_table(id,
                    title,
                    figures,
                    {{parameter("what", what), of},
                     {parameter("message", "message").if_present(), subject},
                     {measure("a", "A", unit), &ComparedFigure::a},
                     {measure("b", "B", unit), &ComparedFigure::b},
                     {measure("gain", "B over A"), &ComparedFigure::gain},
                     {measure("difference", "which means"), difference_words},
                     {measure("noise", "noise from").as_detail(), &ComparedFigure::noise}});
}

/// Of a sweep the large messages, or what differs most where those do not.
const ComparedFigure* leading_of(const ComparedSweep& sweep) {
  const auto weight = [](const ComparedFigure& figure) {
    return std::pair(figure.differs(),
                     figure.metric == Metric::largest_bus_bandwidth
                         ? 1e9
                         : std::abs(std::log(figure.gain.value)));
  };
  return &*std::ranges::max_element(sweep.key_figures, {}, weight);
}

/// The training step on most ranks, where both divide the same batch; of a machine the product (or
/// the multiply-adds) that both do fastest, in bf16 where both have it, and the memory by STREAM's
/// kernels.
std::vector<const ComparedFigure*> leading_of(const std::vector<ComparedFigure>& machine) {
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
  std::vector<const ComparedFigure*> leading;
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
    if (one != nullptr) leading.push_back(one);
  if (!leading.empty() || machine.empty()) return leading;
  // Transfers, launches and latencies alone: what differs most.
  const auto change = [](const ComparedFigure& one) {
    return std::pair(one.differs(), std::abs(std::log(one.gain.value)));
  };
  return {&*std::ranges::max_element(machine, {}, change)};
}

/// "bf16 product 64 x 64 x 64 (2 TFLOP/s against 1 TFLOP/s)".
std::string both_text(const ComparedFigure& one) {
  return fmt::format(
      "{} against {})",
      of_sweep(one)
          ? fmt::format(
                "{} ({}: {}", sweep_text(one.setting), subject_of(one), value_text(one, one.b))
          : machine_text(one) + " (" + value_text(one, one.b),
      value_text(one, one.a));
}

/// What differs, then what does not beyond the noise, then what nothing tells, a sentence each.
std::string differences_of(const std::vector<const ComparedFigure*>& leading) {
  std::array<std::vector<std::string>, 3> sentences;
  for (const ComparedFigure* one : leading) {
    const std::string gain =
        fmt::format("B is {} as fast as A in {}", gain_text(*one), both_text(*one));
    if (one->noise == NoiseBasis::none)
      sentences[2].push_back(gain + ", maybe by noise: repeat each three times");
    else if (one->differs())
      sentences[0].push_back(gain);
    else if (sentences[1].empty())
      sentences[1].push_back("No difference beyond the noise: " + gain);
    else
      sentences[1].push_back(fmt::format("Nor in {}: {}", both_text(*one), gain_text(*one)));
  }
  std::vector<std::string> all;
  for (const auto& alike : sentences) all.insert(all.end(), alike.begin(), alike.end());
  return listed(all, {}, ". ");
}

/// Of a training step that leads and differs, which parts the change is of; empty where a run has
/// none. Their parts add up to the step.
std::string step_split(const ComparedRun& a, const ComparedRun& b, const Comparison& comparison) {
  const auto leading = leading_of(comparison.machine);
  const ComparedFigure* step = leading.empty() ? nullptr : leading.front();
  if (step == nullptr || step->metric != Metric::step_s || !step->differs()) return "";
  const auto parts_of = [&](const Run& run) {
    std::optional<PartTimes> parts;
    for (const model::MeasuredMode& mode : model::measured_modes(run))
      for (const model::MeasuredCount& count : mode.counts)
        if (mode.mode == BatchScaling::strong &&
            count.ranks == step->setting.count(Parameter::ranks))
          parts = model::mean_part_times(count, model::step_time(count).value.value());
    return group_times(parts.value_or(PartTimes{}));
  };
  const GroupTimes of_a = parts_of(*a.run);
  const GroupTimes of_b = parts_of(*b.run);
  if (!of_a[0] || !of_b[0]) return "";
  GroupTimes shares{};
  for (std::size_t i = 0; i < shares.size(); ++i)
    shares[i] = (of_b[i].value_or(0.0) - of_a[i].value_or(0.0)) / (step->b.value - step->a.value);
  const std::string split = split_text(shares);
  return split.empty() ? "" : "Of the change of the step " + split + ".";
}

std::string headline(const ComparedRun& a, const ComparedRun& b, const Comparison& comparison) {
  const std::string wrong = wrong_sentence("A", *a.run) + wrong_sentence("B", *b.run);
  if (comparison.empty())
    return wrong +
           "Nothing can be compared: the two have no figure of the same kind, nor a collective on "
           "the same layout, see Not compared; measure both with the same command";
  std::vector<const ComparedFigure*> leading = leading_of(comparison.machine);
  if (!comparison.sweeps.empty()) leading.push_back(leading_of(comparison.sweeps.front()));
  return wrong + differences_of(leading);
}

std::vector<std::string> lines_of(const Comparison& comparison) {
  const std::vector<ComparedFigure> all = model::judged(comparison);
  const auto with = [&](auto is) { return std::ranges::count_if(all, is); };
  const auto differ = with(&ComparedFigure::differs);
  const auto better =
      with([](const ComparedFigure& one) { return one.differs() && one.gain.value > 1.0; });
  const auto unknown = std::ranges::count(all, NoiseBasis::none, &ComparedFigure::noise);
  if (all.empty()) return {};
  std::vector<std::string> lines{fmt::format(
      "Of {} key figures B is better in {}, worse in {}, and the same within the noise in {}{}.",
      all.size(),
      better,
      differ - better,
      std::ssize(all) - differ - unknown,
      unknown == 0 ? "" : fmt::format("; of {} the noise is not known", unknown))};
  if (std::ranges::count(all, NoiseBasis::repeats, &ComparedFigure::noise) < std::ssize(all))
    lines.push_back(
        fmt::format("Without repeats the noise between runs is taken as {:g} % of each: measure "
                    "both three times (--repeat 3) before you decide on a small difference.",
                    100.0 * model::presumed_run_noise));
  return lines;
}

std::vector<Section> comparison_sections(const ComparedRun& a,
                                         const ComparedRun& b,
                                         const Comparison& comparison,
                                         const RenderOptions& options) {
  const auto all = model::judged(comparison);
  std::vector<Table> machine = mapped(machine_metrics, [&](const MachineMetric& kind) {
    const auto is = [&](Metric metric) { return metric == kind.metric; };
    return figures_table(info(kind.metric).key, kind.title, "of", all, is);
  });
  const auto start = [](Metric metric) { return metric == Metric::alpha; };
  const auto rate = [](Metric metric) {
    return metric == Metric::bus_bandwidth || metric == Metric::largest_bus_bandwidth;
  };
  std::vector<Table> collectives{
      figures_table("key_figures", "Bus bandwidth", "collective", all, rate),
      figures_table("start_up", "Start-up time (alpha)", "collective", all, start)};
  std::vector<ComparedFigure> sizes;
  for (const ComparedSweep& sweep : comparison.sweeps)
    if (options.details) sizes.insert(sizes.end(), sweep.sizes.begin(), sweep.sizes.end());
  collectives.push_back(figures_table(
      "sizes", "Bus bandwidth at every size that both have", "collective", sizes, rate));
  return with_content({{"machine", "Machine", {}, {}, std::move(machine)},
                       {"figures", "Collectives", {}, {}, std::move(collectives)},
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
  document.verdict.headline = own_warnings(a, b) + headline(a, b, comparison) + ".";
  document.verdict.lines = lines_of(comparison);
  document.verdict.lines.insert(document.verdict.lines.begin(), step_split(a, b, comparison));
  std::erase(document.verdict.lines, "");
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

constexpr JsonHead comparison_head{1, "scaleworth comparison"};

void put_figure(Fields& json, const ComparedFigure& figure) {
  json("metric", info(figure.metric).key);
  put_setting(json, "setting", figure.setting);
  json.members("a", figure.a, "b", figure.b, "gain", figure.gain);
  json("noise", figure.noise, one_of("repeats|samples|neighbours|none"));
}

std::string comparison_json(Fields::Make make,
                            const Comparison& comparison,
                            const CheckResult* result,
                            const Document& document,
                            const RenderOptions& options) {
  const auto members = [&](Fields& json) {
    put_versions(json, options);
    json("headline", document.verdict.headline);
    json.array("sweeps", comparison.sweeps, [](Fields& of, const ComparedSweep& sweep) {
      put_setting(of, "setting", sweep.setting);
      of.array("key_figures", sweep.key_figures, put_figure);
      of.array("sizes", sweep.sizes, put_figure);
    });
    json.array("machine", comparison.machine, put_figure);
    json.array("only_one_has_machine",
               comparison.unmatched_machine,
               [](Fields& of, const model::UnmatchedFigures& one) {
                 of("side", one.of_a ? "a" : "b", one_of("a|b"));
                 of.members("metric", info(one.metric).key, "count", one.count);
               });
    json.array("only_one_has", comparison.unmatched, [](Fields& of, const Unmatched& one) {
      of("side", one.of_a ? "a" : "b", one_of("a|b"));
      put_setting(of, "setting", one.setting);
      of("differs_in",
         mapped(one.differs_in, [](Parameter p) { return std::string(info(p).key); }));
    });
    json.object_if(result != nullptr, "check", [&](Fields& of) {
      static const CheckResult none;
      const CheckResult& checked = result ? *result : none;
      of("status", checked.status, one_of("pass|warn|fail|cannot_tell"));
      of.members("wrong_results", checked.wrong_results, "measured_once", checked.measured_once);
      of.array("unmet_rules", checked.unmet, [](Fields& each, const model::UnmetRule& one) {
        each("metric", info(one.rule.metric).key);
        put_setting(each, "setting", one.rule.where);
        put_setting(each, "lacking", one.lacking);
      });
      of.array("figures", checked.figures, [](Fields& each, const CheckedFigure& one) {
        each("status", one.status, one_of("pass|warn|fail|cannot_tell"));
        put_figure(each, one.figure);
        each("runs_needed", one.runs_needed);
      });
    });
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
                          }},
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
