// SPDX-License-Identifier: Apache-2.0
#include "report/run/compared_figures.h"

#include "report/words.h"

#include <array>

namespace scaleworth::report {
namespace {
using model::ComparedFigure;
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

std::string fact_text(const Run& run, const NamedFact& named) {
  for (const FactPlace& place : {named.place, named.of_import}) {
    const Fact* fact = find_fact(run, place.section, place.fact);
    if (fact != nullptr && fact->value) return plain_text(*fact->value);
  }
  return "";
}

std::string sides_text(const Setting& setting) {
  const auto side = [&](Parameter parameter) { return setting.count(parameter).value_or(0); };
  if (!setting.contains(Parameter::m)) return "of the best shape";
  const std::int64_t batch = setting.count(Parameter::batch).value_or(1);
  return fmt::format("{} x {} x {}{}",
                     side(Parameter::m),
                     side(Parameter::n),
                     side(Parameter::k),
                     batch == 1 ? "" : fmt::format(", batch {}", batch));
}

std::string transfer_text(const Setting& setting) {
  std::string text = fmt::format("{} to {}",
                                 word_of(setting.place(Parameter::source)),
                                 word_of(setting.place(Parameter::target)));
  if (setting.symbol<TransferEngine>(Parameter::engine) == TransferEngine::kernel)
    text += ", by a kernel";
  if (setting.flag(Parameter::both_directions)) text += ", both directions";
  if (setting.symbol<Pass>(Parameter::pass) == Pass::together) text += ", all GPUs at once";
  return text;
}

/// What the metric is of, on a machine: "bf16 product 8192 x 8192 x 8192", "copy, L2".
std::string question_text(Metric metric, const Setting& setting) {
  switch (metric) {
    case Metric::step_s:
      return fmt::format("{} training step on {}, {} scaling",
                         setting.text(Parameter::precision),
                         counted(setting.count(Parameter::ranks).value_or(0), "rank"),
                         setting.text(Parameter::scaling));
    case Metric::flop_rate: {
      const std::string format = setting.text(Parameter::precision) +
                                 (setting.flag(Parameter::fast_accumulation) ? " fast" : "");
      if (!setting.contains(Parameter::family)) return format + " multiply-adds";
      return fmt::format("{} product {}", format, sides_text(setting));
    }
    case Metric::memory_bandwidth:
      return fmt::format("{}{} in {}",
                         setting.flag(Parameter::nontemporal) ? "non-temporal " : "",
                         setting.text(Parameter::kernel),
                         setting.text(Parameter::level));
    case Metric::load_latency:
      return setting.text(Parameter::level);
    case Metric::launch_time:
      return setting.text(Parameter::launch);
    default:
      return transfer_text(setting);
  }
}

const char* metric_title(Metric metric) {
  const auto* found = find_in(machine_metrics, metric, &MachineMetric::metric);
  return found == nullptr ? "" : found->title;
}

std::string unmatched_reason(const Unmatched& one) {
  if (one.differs_in.empty()) return "the other has no such collective";
  if (one.differs_in == std::vector{Parameter::message_bytes})
    return "no size that both have, or another sweep of this kind was compared";
  return "the other differs in " +
         listed(one.differs_in, [](Parameter parameter) { return words(info(parameter).key); });
}
}  // namespace

std::vector<DifferentFact> different_facts(const Run& a, const Run& b) {
  std::vector<DifferentFact> found;
  for (const NamedFact& named : named_facts) {
    DifferentFact one{named.words, fact_text(a, named), fact_text(b, named)};
    if (one.a != one.b) found.push_back(std::move(one));
  }
  return found;
}

std::string sweep_text(const Setting& setting) {
  const std::int64_t ranks = setting.count(Parameter::ranks).value_or(0);
  std::string text = fmt::format("{} among {}, {}",
                                 setting.text(Parameter::collective),
                                 counted(ranks, "rank"),
                                 setting.text(Parameter::mode));
  const auto selection = setting.symbol<RankSelection>(Parameter::selection);
  if (selection && *selection != RankSelection::all) text += ", " + selection_text(setting);
  if (setting.flag(Parameter::in_place)) text += ", in place";
  // nccl-tests' default, which most tables have, goes without saying.
  if (const std::string type = setting.text(Parameter::data_type); !type.empty() && type != "float")
    text += ", " + type;
  if (const std::string word = setting.text(Parameter::reduction);
      !word.empty() && word != "sum" && word != "none")
    text += ", " + word;
  if (const std::string way = setting.text(Parameter::algorithm); !way.empty())
    text += ", " + way + "/" + setting.text(Parameter::protocol);
  return text;
}

std::string machine_text(const ComparedFigure& figure) {
  std::string text = question_text(figure.metric, figure.setting);
  if (const auto gpu = figure.setting.count(Parameter::gpu))
    return fmt::format("GPU {}: {}", *gpu, text);
  if (!figure.setting.contains(Parameter::all_workers)) return text;
  return text + (figure.setting.flag(Parameter::all_workers) ? ", all cores" : ", one core");
}

std::string subject_of(const ComparedFigure& figure) {
  if (!figure.setting.contains(Parameter::collective)) return "";
  if (figure.metric == Metric::alpha) return "start-up";
  const auto size = figure.setting.count(Parameter::message_bytes);
  if (!size) return "large messages";
  return format_quantity(static_cast<double>(*size), Unit::bytes);
}

std::string gain_text(const ComparedFigure& figure) {
  return format_number(figure.gain, Unit::plain, Scale{}) + "x";
}

Unit unit_of(Metric metric) {
  const MetricUnit unit = info(metric).unit;
  return unit == MetricUnit::seconds            ? Unit::seconds
         : unit == MetricUnit::flops_per_second ? Unit::flop_per_second
                                                : Unit::bytes_per_second;
}

std::string value_text(const ComparedFigure& figure, const Estimate<double>& value) {
  return format_quantity(number(value.value), unit_of(figure.metric));
}

const char* difference_words(const ComparedFigure& figure) {
  if (figure.noise == NoiseBasis::none) return "cannot tell";
  if (!figure.differs()) return "no difference beyond the noise";
  return figure.gain.value > 1.0 ? "B is better" : "B is worse";
}

Table unmatched_table(const Comparison& comparison) {
  struct Row {
    std::string what;
    bool of_a;
    std::string reason;
  };
  std::vector<Row> rows;
  for (const auto& [of_a, metric, count] : comparison.unmatched_machine)
    rows.push_back({fmt::format("{}: {}", metric_title(metric), counted(count, "figure")),
                    of_a,
                    "the other did not measure the same"});
  for (const Unmatched& one : comparison.unmatched)
    rows.push_back({sweep_text(one.setting), one.of_a, unmatched_reason(one)});
  return make_table("only_one_has",
                    "What only one of them has",
                    rows,
                    {{parameter("what", "what"), &Row::what},
                     {measure("side", "has it"),
                      [](const Row& one) { return std::string(one.of_a ? "A" : "B"); }},
                     {measure("reason", "not compared because"), &Row::reason}});
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

std::string different_libraries(const Run& a, const Run& b) {
  return listed(named_facts, [&](const NamedFact& named) {
    const std::string of_a = fact_text(a, named);
    const std::string of_b = fact_text(b, named);
    const bool known = named.moves_bytes && !of_a.empty() && !of_b.empty();
    return known && of_a != of_b ? fmt::format("{} {} against {}", named.words, of_b, of_a) : "";
  });
}
}  // namespace scaleworth::report
