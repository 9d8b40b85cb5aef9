// SPDX-License-Identifier: Apache-2.0
/// The first sentence of a run that shows no scaling: what the machine does, its collectives or its
/// step, whichever was asked for.
#include "report/names.h"
#include "report/run/run_report.h"
#include "src/model/collectives.h"
#include "src/model/decision/decision.h"
#include "src/model/gpu.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace scaleworth::report {
namespace {
using namespace model;

std::string rate_text(FlopPerSecond rate) {
  return format_quantity(number(rate.value()), Unit::flop_per_second);
}
std::string rate_text(BytesPerSecond rate) {
  return format_quantity(number(rate.value()), Unit::bytes_per_second);
}

std::string bound_below(double flop_per_byte) {
  return fmt::format("; below {:.3g} FLOP/byte memory is the limit", flop_per_byte);
}

/// " (power cap -37 %)": the step of the waterfall that costs most, where that is much.
std::string largest_loss(const GpuFormat& format) {
  constexpr double much = 0.05;
  if (!format.waterfall) return "";
  const auto share = [&](const WaterfallStep& step) {
    return step.change ? *step.change / format.waterfall->spec : 0.0;
  };
  const auto worst = std::ranges::min_element(format.waterfall->steps, {}, share);
  if (worst == format.waterfall->steps.end() || share(*worst) > -much) return "";
  return fmt::format(" ({} {:.0f} %)", worst->name, 100.0 * share(*worst));
}

std::string ridge_of(const GpuResult& gpu, NumberFormat format) {
  const auto ridge = std::ranges::find(gpu.ridge_batches, format, &RidgeBatch::precision);
  return ridge == gpu.ridge_batches.end() ? "" : bound_below(ridge->ridge.value());
}

/// "8 x NVIDIA H200, each: ..." of the first GPU, which is measured in full.
std::string gpus_sentence(const Gpus& gpus) {
  if (gpus.empty()) return "";
  const GpuResult& gpu = gpus.front();
  const std::string name = gpu.identity.name.empty() ? "This GPU" : gpu.identity.name;
  const auto alike = std::ranges::count_if(
      gpus, [&](const GpuResult& one) { return one.identity.name == gpu.identity.name; });
  std::string text = alike > 1 ? fmt::format("{} x {}, each: ", alike, name) : name + ": ";
  const GpuFormat* format = leading_format(gpu, &GpuFormat::steady);
  const auto memory = memory_read_rate(gpu);
  if (format != nullptr) {
    const GpuGemm& steady = *format->steady;
    text += fmt::format(
        "{} sustained in {}", rate_text(steady.rate.value), word_of(steady.format.precision));
    if (steady.against)
      text += fmt::format(", {:.0f} % of {}{}",
                          100.0 * steady.against->fraction.value,
                          gpu.identity.given_peak ? "the peak given" : "the datasheet",
                          largest_loss(*format));
  }
  if (memory) text += (format ? ", and " : "") + rate_text(*memory) + " from memory";
  if (format == nullptr && !memory) return "";
  if (format != nullptr && memory) text += ridge_of(gpu, format->format.precision);
  return text + ".";
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
  const char* what_now = least.bound == Bound::compute
                             ? ", its compute: a smaller number format would be faster"
                         : least.bound == Bound::memory ? ", its memory: fuse it, or make it larger"
                                                        : ": try other shapes or another library";
  return fmt::format(
      "The {} {}x{}x{} in {} reaches {}, {} of what this machine allows it{}.",
      asked.size() > 1 ? fmt::format("least of {} products,", asked.size()) : "product",
      least.shape.m,
      least.shape.n,
      least.shape.k,
      word_of(least.format.precision),
      rate_text(least.rate.value),
      format_quantity(number(least.fraction), Unit::percent),
      what_now);
}

/// What stands for a run's collectives: all-reduce before others, and of each the one among the
/// most ranks.
struct Shown {
  Collective collective = Collective::all_reduce;
  CollectiveMode mode = CollectiveMode::isolated;
  int ranks = 0;
  CollectivePoint least;  // of the smallest message
  CollectivePoint most;

  std::pair<bool, int> place() const { return {collective == Collective::all_reduce, ranks}; }
};

std::optional<Shown> shown_collective(const Analysis& analysis) {
  std::optional<Shown> best;
  const auto offer = [&](const Shown& one) {
    if (!best || best->place() < one.place()) best = one;
  };
  for (const CollectiveResult& one : analysis.collectives)
    if (!one.points.empty())
      offer({one.collective, one.mode, one.ranks, one.points.front(), one.points.back()});
  for (const AlgorithmResult& one : analysis.algorithms)
    if (!one.chosen.empty() && !one.shared_gpu)
      offer(
          {one.collective, one.mode, one.ranks, one.chosen.front().point, one.chosen.back().point});
  return best;
}

std::string communication_sentence(const Analysis& analysis) {
  if (const auto shown = shown_collective(analysis)) {
    const auto size = [](const CollectivePoint& point) {
      return format_quantity(number(point.message.value()), Unit::bytes);
    };
    return fmt::format("{} between {} takes {} for {} and {} for {} (busbw {}).",
                       capitalised(word_of(shown->collective)),
                       ranks_phrase(shown->ranks),
                       time_text(shown->least.time.value),
                       size(shown->least),
                       time_text(shown->most.time.value),
                       size(shown->most),
                       rate_text(shown->most.bus_bandwidth));
  }
  return std::ranges::any_of(analysis.algorithms, &AlgorithmResult::shared_gpu)
             ? "The ranks share a GPU: no figure here is that of an interconnect."
             : "";
}

/// Of the only count measured.
std::string step_sentence(const std::vector<ScalingResult>& scaling) {
  const auto strong = std::ranges::find(scaling, BatchScaling::strong, &ScalingResult::mode);
  if (strong == scaling.end() || strong->rows.size() != 1) return "";
  const DecisionRow& row = strong->rows.front();
  if (!(row.time.value > Seconds(0.0))) return "";
  std::string text = fmt::format(
      "A training step takes {} on {}", time_text(row.time.value), ranks_phrase(row.count));
  if (row.trained.mfu_measured)
    text += fmt::format(", {:.0f} % of what its products reach alone",
                        100.0 * *row.trained.mfu_measured);
  return text + ".";
}

bool more_ranks_possible(const Analysis& analysis) {
  if (!analysis.gpus.empty()) return analysis.gpus.size() > 1;
  return analysis.roofline && largest(analysis.roofline->ceilings, &ComputeCeiling::workers) > 1;
}
}  // namespace

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

Verdict machine_verdict(const Analysis& analysis, Audience audience) {
  std::string machine = gpus_sentence(analysis.gpus);
  if (machine.empty() && analysis.roofline) machine = host_sentence(*analysis.roofline);
  const std::string communication = communication_sentence(analysis);
  Verdict verdict;
  for (const std::string& sentence : {asked_product_sentence(analysis),
                                      machine,
                                      communication,
                                      step_sentence(analysis.scaling)}) {
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
}  // namespace scaleworth::report
