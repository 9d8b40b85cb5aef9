// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/names.h"
#include "src/core/files/toml_table.h"

#include <map>

extern const char scaleworth_asset_advice[];
extern const char scaleworth_asset_advice_end[];

namespace scaleworth::report {
std::optional<Advice> advice_on(const std::string& cause) {
  static const std::map<std::string, Advice> known = [] {
    const auto size = scaleworth_asset_advice_end - scaleworth_asset_advice;
    auto file = toml_file::Table::parse({scaleworth_asset_advice, static_cast<std::size_t>(size)},
                                        "advice.toml");
    std::map<std::string, Advice> by_cause;
    for (toml_file::Table& one : file.tables("advice"))
      for (const std::string& name : one.texts("cause"))
        by_cause[name] = {name, one.text("text"), one.optional_text("url").value_or("")};
    return by_cause;
  }();
  return known.contains(cause) ? std::optional(known.at(cause)) : std::nullopt;
}

std::vector<Advice> advice_for(const AttributionView& view) {
  const Attribution& attribution = view.attribution;
  const auto gain = [&](std::optional<Nanoseconds> saved) -> std::optional<double> {
    if (!saved || !attribution.efficiency) return std::nullopt;
    return share_of(in_seconds(*saved), in_seconds(attribution.efficiency->step_time));
  };
  const auto gain_if = [&](std::string_view change) -> std::optional<double> {
    if (!attribution.efficiency) return std::nullopt;
    using WhatIf = Efficiency::WhatIf;
    const WhatIf* found = find_in(attribution.efficiency->what_if, change, &WhatIf::change);
    return found ? gain(found->saved) : std::nullopt;
  };
  std::vector<std::pair<std::string, std::optional<double>>> causes;
  const auto& stragglers = attribution.stragglers.stragglers;
  const auto worst = std::ranges::find_if(stragglers, &Straggler::significant);
  if (worst != stragglers.end()) {
    const bool host = worst->cause == LateCause::host && !worst->shares.empty();
    causes.emplace_back(host ? worst->shares.front().detail : late_cause_name(worst->cause),
                        gain(worst->saved));
  }
  if (!attribution.slow_fabric.empty()) causes.emplace_back("slow fabric", std::nullopt);
  std::map<double, Part, std::greater<>> losses;
  for (const Part part : recording_parts)
    if (view.averages) losses.emplace(view.averages->mean.share(part), part);
  for (const auto& [share, part] : losses) {
    if (share < least_loss_to_act_on || part == Part::compute) continue;
    const auto& late = view.averages->mean.host_late_by_cause;
    const auto most = static_cast<HostCause>(std::ranges::max_element(late) - late.begin());
    if (part == Part::host_late)
      causes.emplace_back(host_cause_name(most), gain_if("with hosts that launch in time"));
    else if (part == Part::exposed_transfer || part == Part::exposed_undivided)
      causes.emplace_back(part_name(part), gain_if("with communication hidden under compute"));
    else if (part != Part::exposed_wait || worst == stragglers.end())
      causes.emplace_back(part_name(part), std::nullopt);
  }
  if (view.averages && causes.empty()) causes.emplace_back(part_name(Part::compute), std::nullopt);
  std::vector<Advice> found;
  for (const auto& [cause, share] : causes)
    if (const auto advice = advice_on(cause);
        advice && !advice->url.empty() && found.size() < 3 &&
        !std::ranges::count(found, advice->text, &Advice::text))
      found.push_back({cause, advice->text, advice->url, share});
  return found;
}

std::string advice_text(const Advice& one) {
  const std::string saves = one.gain
                                ? fmt::format(" Predicted: saves up to {} of the step.",
                                              format_quantity(number(*one.gain), Unit::percent))
                                : "";
  return one.text + saves;
}

Section advice_section(const AttributionView& view) {
  Section section{"advice", "What to try"};
  for (const Advice& one : advice_for(view))
    section.list.push_back(
        fmt::format("{}: {} See {}", capitalised(one.cause), advice_text(one), one.url));
  return section;
}
}  // namespace scaleworth::report
