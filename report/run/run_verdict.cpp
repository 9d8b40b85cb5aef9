// SPDX-License-Identifier: Apache-2.0
/// The first sentence of a run: whether more ranks pay, or, where it shows no scaling, what the
/// machine does, its collectives or its step, whichever was asked for.
#include "report/decision/decision_report.h"
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/model/collectives.h"
#include "src/model/decision/decision.h"
#include "src/model/gpu.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <tuple>

namespace scaleworth::report {
namespace {
using namespace model;

std::string rate_text(FlopPerSecond rate) {
  return format_quantity(rate.value(), Unit::flop_per_second);
}
std::string rate_text(BytesPerSecond rate) {
  return format_quantity(rate.value(), Unit::bytes_per_second);
}

std::string bound_below(double flop_per_byte) {
  return fmt::format("; below {:.3g} FLOP/byte memory is the limit", flop_per_byte);
}

/// " (largest loss: power cap)": the step of the waterfall that costs most, where that is much.
std::string largest_loss(const GpuFormat& format) {
  constexpr double much = 0.05;
  if (!format.waterfall) return "";
  const auto share = [&](const WaterfallStep& step) {
    return step.change ? *step.change / format.waterfall->spec : 0.0;
  };
  const auto& steps = format.waterfall->steps;
  const auto worst = std::ranges::min_element(steps, {}, share);
  if (worst == steps.end() || !worst->explained || share(*worst) > -much) return "";
  return fmt::format(" (largest loss: {})", word_of(worst->name));
}

/// The slow one of several, whose pace all others keep.
std::string slow_gpu_sentence(const std::optional<GpusTogether>& together) {
  if (!together) return "";
  const auto slow = std::ranges::find(together->paces, true, &GpuPace::slow);
  if (slow == together->paces.end()) return "";
  return fmt::format("GPU {} is slow: {} in {}, {} of the others' rate ({}).",
                     slow->ordinal,
                     rate_text(slow->together.value),
                     word_of(together->precision),
                     format_quantity(slow->of_others->value, Unit::percent),
                     slow->cause.empty() ? "look at its cooling and power, or ask for another node"
                                         : clauses(slow->cause));
}

/// Copies of one way that compare.
bool compares(const GpuTransfer& one) {
  return one.source != one.target && one.engine == TransferEngine::copy_engine &&
         !one.both_directions && !one.together && one.source.kind != TransferEnd::host_pageable &&
         one.target.kind != TransferEnd::host_pageable;
}

/// Where one GPU's best way from or to the host, or from a neighbour, is much slower than
/// another's, or few pairs of GPUs are much slower than most. The best of a GPU: memory of a far
/// NUMA node and GPUs without a direct link are slower by design, which more than a quarter of the
/// pairs are then.
std::string slow_transfer_sentence(const Gpus& gpus) {
  constexpr double notable = 1.25;  // half a link's width is 2, a generation 2, noise below 1.1
  const GpuTransfer* slow = nullptr;
  const GpuTransfer* fast = nullptr;
  const auto rate = [](const GpuTransfer* one) { return one->plateau.value; };
  const auto consider = [&](const GpuTransfer* least, const GpuTransfer* most) {
    if (slow && rate(most) / rate(least) < rate(fast) / rate(slow)) return;
    slow = least;
    fast = most;
  };
  using Kinds = std::pair<TransferEnd, TransferEnd>;
  std::map<Kinds, std::map<MemoryPlace, const GpuTransfer*>> best;  // by the GPU that it is of
  std::vector<const GpuTransfer*> pairs;
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& one : gpu.transfers) {
      if (!compares(one)) continue;
      const bool to_gpu = one.target.kind == TransferEnd::gpu;
      auto& of_kind = best[{one.source.kind, one.target.kind}];
      const GpuTransfer*& known = of_kind[to_gpu ? one.target : one.source];
      if (!known || rate(known) < rate(&one)) known = &one;
      if (to_gpu && one.source.kind == TransferEnd::gpu) pairs.push_back(&one);
    }
  }
  for (const auto& [kinds, of_kind] : best) {
    const auto of = [&](const auto& entry) { return rate(entry.second); };
    const auto [least, most] = std::ranges::minmax_element(of_kind, {}, of);
    consider(least->second, most->second);
  }
  if (!pairs.empty()) {
    std::ranges::sort(pairs, {}, rate);
    const GpuTransfer* usual = pairs[pairs.size() / 2];
    const auto behind = std::ranges::count_if(
        pairs, [&](const auto* one) { return notable * rate(one) < rate(usual); });
    if (4 * behind <= std::ssize(pairs)) consider(pairs.front(), usual);
  }
  const auto way = [](const GpuTransfer* one) {
    return fmt::format("{} to {}", word_of(one->source), word_of(one->target));
  };
  if (!slow) return "";
  if (rate(fast) < notable * rate(slow))
    return fmt::format("Transfers: {} reaches {}.", way(fast), rate_text(rate(fast)));
  return fmt::format("Transfers: {} reaches {}, {} of what {} does: {}.",
                     way(slow),
                     rate_text(rate(slow)),
                     format_quantity(rate(slow) / rate(fast), Unit::percent),
                     way(fast),
                     slow->source.kind == slow->target.kind
                         ? "see nvidia-smi nvlink --status and the PCIe links of both"
                         : "check its link's width and generation");
}

/// "8 x NVIDIA H200, each: ..." of the first GPU, which is measured in full.
std::string gpus_sentence(const Gpus& gpus, bool alike_in_speed) {
  if (gpus.empty()) return "";
  const GpuResult& gpu = gpus.front();
  const std::string name = gpu.identity.name.empty() ? "This GPU" : gpu.identity.name;
  const auto alike = std::ranges::count_if(
      gpus, [&](const GpuResult& one) { return one.identity.name == gpu.identity.name; });
  std::string text =
      alike > 1 ? fmt::format("{} x {}, {}: ", alike, name, alike_in_speed ? "each" : "the first")
                : name + ": ";
  const GpuFormat* format = leading_format(gpu, &GpuFormat::steady);
  const bool sustained = format != nullptr;
  if (!sustained) format = leading_format(gpu, &GpuFormat::best_shape);
  const auto memory = memory_read_rate(gpu);
  if (format != nullptr) {
    const GpuGemm& steady = sustained ? *format->steady : *format->best_shape;
    text += fmt::format("{} {} in {}",
                        rate_text(steady.rate.value),
                        sustained ? "sustained" : "with the best shape",
                        word_of(steady.format.precision));
    if (steady.against)
      text += fmt::format(", {:.0f} % of {}{}",
                          100.0 * steady.against->fraction.value,
                          gpu.identity.given_peak ? "the peak given" : "the datasheet",
                          largest_loss(*format));
  }
  if (memory) text += (format ? ", and " : "") + rate_text(*memory) + " from memory";
  if (format == nullptr && !memory) return "";
  // Of the two rates that stand here.
  if (format != nullptr && memory)
    text += bound_below((sustained ? *format->steady : *format->best_shape).rate.value.value() /
                        memory->value());
  return text + ".";
}

/// Of the ceilings with the most workers the fastest; null without one in that format.
const ComputeCeiling* ceiling_of_most(const std::vector<ComputeCeiling>& ceilings,
                                      NumberFormat precision) {
  const auto place = [](const ComputeCeiling& one) {
    return std::pair(one.workers, one.wall_rate.value);
  };
  const ComputeCeiling* best = nullptr;
  for (const ComputeCeiling& one : ceilings)
    if (one.precision == precision && (!best || place(*best) < place(one))) best = &one;
  return best;
}

std::string host_sentence(const RooflineResult& roofline) {
  std::string text;
  std::optional<FlopPerSecond> rate;
  for (const NumberFormat precision : {NumberFormat::fp32, NumberFormat::fp64}) {
    const ComputeCeiling* ceiling = rate ? nullptr : ceiling_of_most(roofline.ceilings, precision);
    if (ceiling == nullptr) continue;
    rate = ceiling->ceiling().value;
    text = rate_text(*rate) + " " + word_of(precision);
  }
  const int most = largest(roofline.memory_levels, &MemoryLevel::workers);
  const MemoryLevel* memory = model::memory_rate(roofline.memory_levels, most);
  if (memory != nullptr)
    text += (rate ? " and " : "") + rate_text(memory->value.value) + " from memory";
  if (text.empty()) return "";
  if (rate && memory) text += bound_below((*rate / memory->value.value).value());
  return "This machine: " + text + ".";
}

/// "The product 512x512x512 in fp32 reaches 64.2 GFLOP/s, 27.8 % of what this machine allows it:
/// try
/// ...", of the product that was asked for (--shape, --shape-file, --model), of several the
/// farthest from that.
std::string asked_product_sentence(const Analysis& analysis) {
  std::vector<PlacedGemm> asked;
  if (!analysis.gpus.empty()) {
    asked = analysis.gpus.front().roofline.gemms;
    std::erase_if(asked, [](const PlacedGemm& one) { return one.name.empty(); });
  } else if (analysis.roofline) {
    asked = analysis.roofline->gemms;
    const int most = largest(asked, &PlacedGemm::workers);
    std::erase_if(asked, [=](const PlacedGemm& one) {
      return one.family != ProductFamily::free || one.workers < most;
    });
  }
  if (asked.empty()) return "";
  const PlacedGemm& least = *std::ranges::min_element(asked, {}, &PlacedGemm::fraction);
  constexpr double near_its_roof = 0.8;  // nothing but another roof makes it much faster
  const bool at_memory = least.bound == Bound::memory;
  const char* what_now = least.fraction < near_its_roof ? ": try other shapes or another library"
                         : at_memory
                             ? ", bound by memory: fuse it, or make it larger"
                             : ", bound by compute: a smaller number format would be faster";
  return fmt::format(
      "The {}{}{}x{}x{} in {}{} reaches {}, {} of what this machine allows it{}.",
      asked.size() > 1 ? fmt::format("least of {} products, ", asked.size()) : "product ",
      least.name.empty() ? "" : least.name + " ",
      least.shape.m,
      least.shape.n,
      least.shape.k,
      word_of(least.format.precision),
      asked.size() > 1 ? "," : "",
      rate_text(least.rate.value),
      format_quantity(least.fraction, Unit::percent),
      what_now);
}

/// What stands for a run's collectives: all-reduce before others, and of each the one among the
/// most ranks, or among those asked for.
struct Shown {
  Collective collective = Collective::all_reduce;
  CollectiveMode mode = CollectiveMode::isolated;
  int ranks = 0;
  std::vector<CollectivePoint> points;  // by size

  std::pair<bool, int> place() const { return {collective == Collective::all_reduce, ranks}; }
};

std::optional<Shown> shown_collective(const Analysis& analysis,
                                      std::optional<int> ranks = {},
                                      std::optional<Collective> collective = {}) {
  std::optional<Shown> best;
  const auto offer = [&](const Shown& one) {
    if (one.ranks != ranks.value_or(one.ranks)) return;
    if (one.collective != collective.value_or(one.collective)) return;
    if (!best || best->place() < one.place()) best = one;
  };
  for (const CollectiveResult& one : analysis.collectives)
    if (!one.points.empty()) offer({one.collective, one.mode, one.ranks, one.points});
  for (const AlgorithmResult& one : analysis.algorithms)
    if (!one.chosen.empty() && !one.shared_gpu)
      offer({one.collective, one.mode, one.ranks, mapped(one.chosen, &ChosenPoint::point)});
  return best;
}

/// The largest of the first sizes that take no more than a quarter longer than the smallest one:
/// there only the start-up time counts.
const CollectivePoint& last_of_start_up(const std::vector<CollectivePoint>& points) {
  constexpr double longer = 1.25;
  const auto beyond = std::ranges::find_if(points, [&](const CollectivePoint& point) {
    return point.time.value > longer * points.front().time.value;
  });
  return *std::prev(beyond);
}

std::string communication_sentence(const Analysis& analysis) {
  constexpr double notable = 1.25;  // caches, or a protocol that is faster below
  if (const auto shown = shown_collective(analysis)) {
    const auto size = [](const CollectivePoint& point) {
      return format_quantity(point.message.value(), Unit::bytes);
    };
    const CollectivePoint& first = shown->points.front();
    const CollectivePoint& start_up = last_of_start_up(shown->points);
    const CollectivePoint& last = shown->points.back();
    // From the first size to the last of those: what a twentieth more hides is one number.
    const bool flat = start_up.time.value < 1.05 * first.time.value;
    const std::string start =
        flat ? time_text(first.time.value)
             : fmt::format("{} to {}", time_text(first.time.value), time_text(start_up.time.value));
    const CollectivePoint& peak =
        *std::ranges::max_element(shown->points, {}, &CollectivePoint::bus_bandwidth);
    const std::string further =
        &start_up == &last ? ""
                           : fmt::format(" and {} for {}", time_text(last.time.value), size(last));
    return fmt::format(
        "{} between {} takes {} {}{} (busbw {}{}).",
        capitalised(word_of(shown->collective)),
        counted(shown->ranks, "rank"),
        start,
        (&start_up == &first ? "for " : "up to ") + size(start_up),
        further,
        rate_text(last.bus_bandwidth),
        peak.bus_bandwidth > notable * last.bus_bandwidth
            ? fmt::format(", at most {} at {}", rate_text(peak.bus_bandwidth), size(peak))
            : "");
  }
  return std::ranges::any_of(analysis.algorithms, &AlgorithmResult::shared_gpu)
             ? "The ranks share a GPU: no figure here is that of an interconnect."
             : "";
}

/// What the collective that is shown takes with a message of the user's.
std::string message_sentence(const Analysis& analysis, Bytes message) {
  const AnalysisOptions& asked = analysis.assumptions;
  const auto shown = shown_collective(analysis, asked.message_ranks, asked.message_collective);
  const CommunicationModel& model = analysis.communication;
  const auto time =
      shown ? model.time(shown->collective, model.layout(shown->collective, shown->ranks), message)
            : std::nullopt;
  if (!time) return "No collective was measured that says it: run scaleworth comm.";
  const double wire = bus_factor(shown->collective, shown->ranks);
  return fmt::format("{} of {:g} MB between {} takes {}, busbw {}{}.",
                     capitalised(word_of(shown->collective)),
                     message.value() / 1e6,
                     counted(shown->ranks, "rank"),
                     format_quantity(*time, Unit::seconds),
                     rate_text(message * wire / time->value),
                     message > shown->points.back().message
                         ? "; larger than any measured: measure it with --sizes"
                     : message < shown->points.front().message ? "; smaller than any measured"
                                                               : "");
}

/// Of the only count measured.
std::string step_sentence(const std::vector<ScalingResult>& scaling, const RenderOptions& options) {
  const auto strong = std::ranges::find(scaling, BatchScaling::strong, &ScalingResult::mode);
  if (strong == scaling.end() || strong->rows.size() != 1) return "";
  const DecisionRow& row = strong->rows.front();
  if (!(row.time.value > Seconds(0.0))) return "";
  std::string text = fmt::format(
      "A training step takes {} on {}", time_text(row.time.value), counted(row.count, "rank"));
  if (row.trained.mfu_measured)
    text += fmt::format(", {:.0f} % of what its products reach alone",
                        100.0 * *row.trained.mfu_measured);
  if (row.cost && strong->decision)
    text += ", " + decision_money({*strong->decision, options}, row.cost->value);
  return text + ".";
}

bool more_ranks_possible(const Analysis& analysis) {
  if (!analysis.gpus.empty()) return analysis.gpus.size() > 1;
  return analysis.roofline && largest(analysis.roofline->ceilings, &ComputeCeiling::workers) > 1;
}

/// What the machine, its collectives and its step at one count do, for a run without two counts.
Verdict machine_verdict(const Analysis& analysis, const RenderOptions& options) {
  const Audience audience = options.audience;
  const std::string slow_gpu = slow_gpu_sentence(analysis.gpus_together);
  std::string machine = gpus_sentence(analysis.gpus, slow_gpu.empty());
  if (machine.empty() && analysis.roofline) machine = host_sentence(*analysis.roofline);
  const std::string communication = communication_sentence(analysis);
  Verdict verdict;
  for (const std::string& sentence : {slow_gpu,
                                      asked_product_sentence(analysis),
                                      machine,
                                      communication,
                                      slow_transfer_sentence(analysis.gpus),
                                      step_sentence(analysis.scaling, options)}) {
    if (sentence.empty()) continue;
    verdict.headline.empty() ? verdict.headline = sentence : verdict.lines.emplace_back(sentence);
  }
  if (verdict.headline.empty()) {
    verdict.headline = "Nothing was measured that says what this machine can do.";
    return verdict;
  }
  verdict.action = machine.empty() && !communication.empty()
                       ? words_for(audience,
                                   "Put two results side by side: scaleworth compare A B; against "
                                   "a baseline: scaleworth check.",
                                   "Put two results side by side, or check against a baseline.")
                   : more_ranks_possible(analysis)
                       ? words_for(audience,
                                   "Run scaleworth bench: a training step at two counts shows "
                                   "whether more of this machine pays.",
                                   "A training step at two counts shows whether more of this "
                                   "machine pays.")
                       : words_for(audience,
                                   "Run the same where there are more GPUs or cores, or put two "
                                   "machines side by side: scaleworth compare A B.",
                                   "Run the same where there are more GPUs or cores, or put two "
                                   "machines side by side.");
  return verdict;
}

/// Largest count up to which every doubling along the curve is worth it; `whole_band` asks that of
/// the whole interval. 1 when the first doubling is not.
int doubling_pays_up_to(const ScalingLaw& law, bool whole_band) {
  const auto at = [&law](int ranks) {
    return std::ranges::find(law.curve, ranks, &CurvePoint::ranks);
  };
  int ranks = 1;
  for (auto to = at(2); to != law.curve.end() && to->doubling; to = at(2 * ranks)) {
    const double at_least = to->doubling->interval ? to->doubling->interval->low : 0.0;
    if (!((whole_band ? at_least : to->doubling->value) > std::sqrt(2.0))) break;
    ranks = to->ranks;
  }
  return ranks;
}

std::string optimum_line(const ScalingLaw& law, int most_measured) {
  const int central = doubling_pays_up_to(law, false);
  const int sure = doubling_pays_up_to(law, true);
  std::string line = law.prediction ? "Predicted: " : "By the laws that hold: ";
  line += central == 1 ? "no doubling pays" : "doubling pays up to " + counted(central, "rank");
  line += sure < central ? fmt::format(" (with 95 % confidence up to {})", sure) : "";
  if (const auto fastest = law.inside(law.fastest))
    line += fmt::format("; fastest at {}", counted(*fastest, "rank"));
  if (law.inside(law.cost_optimal)) line += "; cheapest at " + cost_optimal_text(law);
  line += fmt::format("; extrapolated beyond {}.", counted(most_measured, "rank"));
  return law.reproduces_measured ? line
                                 : line + " It misses the measured counts: use it with care.";
}

/// Whether more ranks than the fewest are worth it: the chosen count against the others, unknown
/// where the intervals do not separate them.
Answer worth_it(const Decision& decision) {
  const auto& rubric = decision.rubric;
  if (!rubric.chosen) return Answer::unknown;
  const int fewest = decision.rows.front().count;
  const auto exact = [](const DecisionRow& row) { return !row.time.interval; };
  if (!decision.warnings.empty() || std::ranges::any_of(decision.rows, exact))
    return Answer::unknown;
  if (*rubric.chosen == fewest)
    return rubric.equivalent_counts.empty() ? Answer::no : Answer::unknown;
  return std::ranges::count(rubric.equivalent_counts, fewest) == 0 ? Answer::yes : Answer::unknown;
}

/// Of a run: `warnings` take the place of the headline, and `by_figures` is a line.
void set_unreliable(Verdict& verdict,
                    const std::vector<Finding>& warnings,
                    std::string by_figures) {
  verdict.answer = Answer::unknown;
  verdict.action.clear();  // it would follow from the figures
  verdict.lines.insert(verdict.lines.begin(), std::move(by_figures));
  if (warnings.size() > 1)
    verdict.lines.insert(verdict.lines.begin(),
                         capitalised(listed(said(warnings), {}, "; ") + "."));
  verdict.headline = not_reliable(warnings);
  std::erase(verdict.lines, "");
}

/// Whether more pays is what a run asks: "Yes: take 2, ...".
void answer_first(Verdict& verdict, const Decision& decision, Audience audience) {
  std::string take = verdict.headline;
  take.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(take.front())));
  if (verdict.answer != Answer::unknown) {
    verdict.headline = (verdict.answer == Answer::yes ? "Yes: " : "No: ") + take;
    return;
  }
  const int fewest = decision.rows.front().count;
  const int chosen = *decision.rubric.chosen;
  const int other = chosen != fewest ? fewest
                    : decision.rubric.equivalent_counts.empty()
                        ? decision.rows.back().count
                        : decision.rubric.equivalent_counts.front();
  verdict.headline = fmt::format(
      "Not known: the 95 % intervals do not separate {} from {}; measure again{}. By the figures "
      "alone {}",
      named_count(decision, chosen),
      other,
      words_for(audience, " on an idle machine, with --repeat 5", ", repeated"),
      take);
}

Verdict judge_scaling(const Analysis& analysis,
                      const std::vector<Finding>& warnings,
                      const RenderOptions& options) {
  const auto unanswered = [](const std::string& why) { return Verdict{Answer::unknown, why, {}}; };
  if (!shows_scaling(analysis)) {
    Verdict verdict = machine_verdict(analysis, options);
    if (!warnings.empty()) set_unreliable(verdict, warnings, verdict.headline);
    for (const ScalingResult& scaling : analysis.scaling)
      if (scaling.mode == BatchScaling::strong && scaling.decision)
        verdict.lines.push_back(straggler_line({*scaling.decision, options}));
    std::erase(verdict.lines, "");
    return verdict;
  }
  const auto strong =
      std::ranges::find(analysis.scaling, BatchScaling::strong, &ScalingResult::mode);
  const auto comparable = [](const DecisionRow& row) {
    return std::isfinite(row.time.value.value()) && row.time.value > Seconds(0.0);
  };
  if (!std::ranges::all_of(strong->rows, comparable)) {
    return unanswered("Not known: a step time is not a positive number.");
  }
  if (!strong->quality.held) {
    const std::string note = said(strong->quality.note);
    return unanswered("Not known: the counts did not do the same work" +
                      (note.empty() ? "." : " (" + note + ")."));
  }
  Verdict verdict = judge_decision({*strong->decision, options}, true);
  verdict.answer = worth_it(*strong->decision);
  if (!warnings.empty())
    set_unreliable(verdict, warnings, figures_alone({*strong->decision, options}));
  else if (strong->decision->rubric.chosen)
    answer_first(verdict, *strong->decision, options.audience);
  for (const auto& law : strong->laws) {
    if (law.curve.empty()) continue;
    verdict.lines.push_back(optimum_line(law, strong->rows.back().count));
  }
  if (!strong->decision->choice) {
    verdict.lines.push_back(fmt::format("Cost: {} rank-seconds into money.",
                                        words_for(options.audience,
                                                  "add --price USD_PER_RANK_HOUR to turn",
                                                  "a price per rank and hour would turn")));
  }
  return verdict;
}
}  // namespace

bool shows_scaling(const Analysis& analysis) {
  return std::ranges::any_of(analysis.scaling, [](const ScalingResult& one) {
    return one.mode == BatchScaling::strong && one.decision && one.decision->rows.size() > 1;
  });
}

Verdict judge(const Analysis& analysis, const RunFindings& findings, Audience audience) {
  if (const auto& message = analysis.assumptions.message)
    return {Answer::yes, message_sentence(analysis, *message), {}};
  RenderOptions options;
  options.audience = audience;
  Verdict verdict = judge_scaling(analysis, findings.unreliable, options);
  const std::size_t warnings = findings.unreliable.size() + findings.warnings.size();
  if (warnings > 0) {
    verdict.lines.push_back(
        fmt::format("{} about this measurement: read {} under Warnings before you rely on it{}.",
                    counted(warnings, "warning"),
                    warnings == 1 ? "it" : "them",
                    words_for(audience, " (--details)", "")));
  }
  return verdict;
}
}  // namespace scaleworth::report
