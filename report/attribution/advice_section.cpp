// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/names.h"
#include "src/core/files/toml_table.h"

#include <map>

#include <fmt/format.h>

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
  const attribution::Attribution& attribution = view.attribution;
  std::vector<std::string> causes;
  const auto& stragglers = attribution.stragglers.stragglers;
  const auto worst = std::ranges::find_if(stragglers, &attribution::Straggler::significant);
  if (worst != stragglers.end()) {
    const bool host = worst->cause == attribution::LateCause::host && !worst->shares.empty();
    causes.push_back(host ? worst->shares.front().detail
                          : attribution::late_cause_name(worst->cause));
  }
  if (!attribution.slow_fabric.empty()) causes.push_back("slow fabric");
  std::map<double, Part, std::greater<>> losses;
  for (const Part part : recording_parts)
    if (view.averages) losses.emplace(view.averages->mean.share(part), part);
  for (const auto& [share, part] : losses) {
    if (share < 0.03 || part == Part::compute) continue;
    const auto& late = view.averages->mean.host_late_by_cause;
    const auto most =
        static_cast<attribution::HostCause>(std::ranges::max_element(late) - late.begin());
    if (part == Part::host_late)
      causes.push_back(attribution::host_cause_name(most));
    else if (part != Part::exposed_wait || worst == stragglers.end())
      causes.push_back(part_name(part));
  }
  if (view.averages && causes.empty()) causes.push_back(part_name(Part::compute));
  std::vector<Advice> found;
  for (const std::string& cause : causes)
    if (const auto advice = advice_on(cause);
        advice && !advice->url.empty() && found.size() < 3 &&
        !std::ranges::count(found, advice->text, &Advice::text))
      found.push_back(*advice);
  return found;
}

Section advice_section(const AttributionView& view) {
  Section section{"advice", "What to try"};
  for (const Advice& one : advice_for(view))
    section.list.push_back(fmt::format("{}: {} See {}", capitalised(one.cause), one.text, one.url));
  return section;
}
}  // namespace scaleworth::report
