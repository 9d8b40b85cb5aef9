// SPDX-License-Identifier: Apache-2.0
#include "assets/advice.h"
#include "report/attribution/attribution_report.h"
#include "report/words.h"
#include "src/core/files/toml_table.h"

#include <map>

namespace scaleworth::report {
namespace {
/// "late_cause.host", "host_cause.allocation", "part.exposed_copy", "exchange.all_gather",
/// "slow_fabric".
std::optional<AdviceSubject> subject_of(std::string_view key) {
  const std::size_t dot = std::min(key.find('.'), key.size());
  const std::string_view name = key.substr(std::min(dot + 1, key.size()));
  const auto known = [](const auto& value) {
    return value ? std::optional<AdviceSubject>(*value) : std::nullopt;
  };
  if (key.starts_with("late_cause.")) return known(from_key<LateCause>(name));
  if (key.starts_with("host_cause.")) return known(from_key<HostCause>(name));
  if (key.starts_with("part.")) return known(from_key<Part>(name));
  if (key.starts_with("exchange.")) return known(from_key<CollectiveKind>(name));
  return known(from_key<OtherFinding>(key));
}

std::string words_of(const AdviceSubject& subject) {
  if (std::holds_alternative<CollectiveKind>(subject)) return word_of(Part::exposed_transfer);
  return std::visit([](auto value) { return std::string(word_of(value)); }, subject);
}
}  // namespace

std::optional<Advice> advice_on(const AdviceSubject& subject) {
  static const std::map<AdviceSubject, Advice> known = [] {
    auto file = toml_file::Table::parse(asset::advice(), "advice.toml");
    std::map<AdviceSubject, Advice> by_subject;
    for (toml_file::Table& one : file.tables("advice")) {
      const std::vector<std::string> keys = one.texts("on");
      const std::vector<std::string> findings = one.texts("found");
      if (findings.size() != keys.size()) one.refuse("found has not one text for each key");
      const std::size_t entry = by_subject.size();
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto on = subject_of(keys[i]);
        if (!on) one.refuse(keys[i] + " is nothing that advice is on");
        by_subject[*on] = {words_of(*on),
                           findings[i],
                           one.text("do"),
                           one.text("text"),
                           one.optional_text("url").value_or(""),
                           {},
                           entry};
      }
    }
    return by_subject;
  }();
  const Advice* found = value_at(known, subject);
  return found ? std::optional(*found) : std::nullopt;
}

AdviceSubject host_subject(const AttributionView& view, HostCause cause) {
  const auto& all = view.attribution.recordings;
  const bool on_processor = !all.empty() && all.front().on_processor;
  if (on_processor && cause == HostCause::other) return OtherFinding::idle_processor;
  // Presumed: with less, graphs are those of a library. On the wrong side stands the advice of the
  // other finding, which is to launch less often as well.
  constexpr double much_in_graphs = 0.2;
  const bool graphs = view.attribution.graph_share >= much_in_graphs;
  if (graphs && cause == HostCause::launch_bound) return OtherFinding::graphs_launched;
  return cause;
}

AdviceSubject late_subject(const AttributionView& view, LateCause cause) {
  const auto& all = view.attribution.recordings;
  const bool slow = cause == LateCause::slower_kernels || cause == LateCause::longer_kernels;
  if (slow && !all.empty() && all.front().on_processor) return OtherFinding::slow_processor;
  return cause;
}

AdviceSubject transfer_subject(const AttributionView& view) {
  const auto& sums = view.attribution.collective_sums;
  const auto most = std::ranges::max_element(sums, {}, &CollectiveSum::transfer);
  if (most == sums.end()) return Part::exposed_transfer;
  const bool message = most->kind == CollectiveKind::send || most->kind == CollectiveKind::receive;
  const AdviceSubject exchange = message ? CollectiveKind::send_receive : most->kind;
  if (advice_on(exchange)) return exchange;
  return Part::exposed_transfer;
}

AdviceSubject copy_subject(const AttributionView& view) {
  double pageable = 0.0;  // or memory of the host that is not told apart
  for (const ClassifiedTime& one : view.attribution.classes)
    for (const auto& [name, time] : one.largest) {
      if (one.work_class != WorkClass::copy) continue;
      bool other = false;
      for (const char* kind : {"DtoD", "PtoP", "emset", "Pinned"})
        other |= name.find(kind) != name.npos;
      pageable += in_seconds(time) * (other ? -1.0 : 1.0);
    }
  return pageable < 0.0 ? AdviceSubject(OtherFinding::other_copies) : Part::exposed_copy;
}

bool turns_cost_most(const AttributionView& view) {
  const double turns = view.attribution.stragglers.taking_turns;
  return view.averages && turns > 0.5 * view.averages->mean.share(Part::exposed_wait);
}

std::string advice_text(const Advice& one) {
  const std::string saves =
      one.gain ? fmt::format(" Predicted: saves up to {} of the step.", share_text(*one.gain)) : "";
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
