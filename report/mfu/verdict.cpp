// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr double tera = 1e12;
constexpr double seconds_per_day = 86400.0;

std::string of_peak(const model::Utilisation& one) {
  return fmt::format("{:.4g} TFLOP/s ({})", one.peak.rate.value() / tera, one.peak.basis);
}

std::string headline(const MfuView& view) {
  const model::Utilisation& first = view.use.against.front();
  return fmt::format("MFU {:.1f} %: {:.4g} of {} on {} {}{}.",
                     100.0 * first.mfu,
                     view.use.model_rate.value() / tera,
                     of_peak(first),
                     view.run.gpus == 1 ? "one" : fmt::format("each of {}", view.run.gpus),
                     view.options.gpu,
                     first.mfu > 1.0 ? ", which cannot be" : "");
}

std::string throughput_line(const MfuView& view) {
  const model::ConventionWords& words = model::words_of(view.run.convention);
  return fmt::format(
      "{} on each GPU, {} a token by the convention {} ({}).",
      format_quantity(number(view.use.tokens_per_second_per_gpu), Unit::tokens_per_second, 4),
      format_quantity(number(view.use.model_flops), Unit::flop, 4),
      words.name,
      words.convention == model::Convention::six_nd ? std::string("without attention")
                                                    : std::string(words.attention) + " attention");
}

std::string hardware_line(const MfuView& view) {
  if (view.use.recomputation == model::Recomputation::none) {
    return "HFU is the same, for nothing is computed again (else --recompute selective or full).";
  }
  return fmt::format("HFU {:.1f} %: {:.4g} TFLOP/s with {} recomputation.",
                     100.0 * view.use.against.front().hfu,
                     view.use.hardware_rate.value() / tera,
                     model::recomputation_name(view.use.recomputation));
}

void add_other_peaks(const MfuView& view, std::vector<std::string>& lines) {
  for (std::size_t at = 1; at < view.use.against.size(); ++at) {
    const model::Utilisation& one = view.use.against[at];
    lines.push_back(fmt::format("MFU {:.1f} % of {}.", 100.0 * one.mfu, of_peak(one)));
  }
}

std::string conventions_line(const MfuView& view) {
  if (!view.use.conventions_differ) return "All conventions agree within 1 %.";
  const auto [low, high] = std::ranges::minmax(
      view.use.conventions, {}, [](const auto& row) { return row.utilisation; });
  return fmt::format(
      "Other conventions read this run as {:.1f} % ({}) to {:.1f} % ({}{}).",
      100.0 * low.utilisation,
      model::words_of(low.convention).name,
      100.0 * high.utilisation,
      model::words_of(high.convention).name,
      high.convention == model::Convention::narayanan ? ", which counts full recomputation" : "");
}

std::string campaign_line(const MfuView& view) {
  const auto& campaign = view.use.campaign;
  if (!campaign) return "";
  return fmt::format("{} tokens take {:.4g} days and {} GPU-hours{}.",
                     large_count(campaign->tokens),
                     campaign->time.value() / seconds_per_day,
                     large_count(campaign->gpu_hours),
                     campaign->cost ? ": " + large_money(*campaign->cost) : "");
}

std::string million_line(const MfuView& view) {
  if (!view.use.per_million_tokens) return "";
  return fmt::format("A million trained tokens cost {} at {:g} USD per GPU and hour.",
                     large_money(*view.use.per_million_tokens),
                     view.run.price->value() * 3600.0);
}

}  // namespace

Verdict judge_mfu(const MfuView& view) {
  Verdict verdict;
  verdict.headline = headline(view);
  const model::Utilisation& first = view.use.against.front();
  verdict.answer = std::max(first.mfu, first.hfu) > 1.0 ? Answer::no : Answer::yes;
  verdict.lines = {throughput_line(view), hardware_line(view)};
  add_other_peaks(view, verdict.lines);
  verdict.lines.push_back(conventions_line(view));
  verdict.lines.push_back(campaign_line(view));
  verdict.lines.push_back(million_line(view));
  std::erase(verdict.lines, "");
  return verdict;
}

}  // namespace scaleworth::report
