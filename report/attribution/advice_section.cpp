// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/names.h"
#include "src/core/files/toml_table.h"

#include <map>

extern const char scaleworth_asset_advice[];
extern const char scaleworth_asset_advice_end[];

namespace scaleworth::report {
namespace {
/// "late_cause.host", "host_cause.allocation", "part.exposed_copy", "slow_fabric",
/// "pipeline_turns", "graphs_launched", "idle_processor", "idle_processor.of_one".
std::optional<AdviceSubject> subject_of(std::string_view key) {
  const std::size_t dot = std::min(key.find('.'), key.size());
  const std::string_view name = key.substr(std::min(dot + 1, key.size()));
  const auto known = [](const auto& value) {
    return value ? std::optional<AdviceSubject>(*value) : std::nullopt;
  };
  if (key.starts_with("late_cause.")) return known(from_key<LateCause>(name));
  if (key.starts_with("host_cause.")) return known(from_key<HostCause>(name));
  if (key.starts_with("part.")) return known(from_key<Part>(name));
  if (key == "pipeline_turns") return AdviceSubject(PipelineTurns{});
  if (key == "graphs_launched") return AdviceSubject(GraphsLaunched{});
  if (key.starts_with("idle_processor")) return AdviceSubject(IdleProcessor{name == "of_one"});
  return key == "slow_fabric" ? std::optional(AdviceSubject{}) : std::nullopt;
}

std::string words_of(const AdviceSubject& subject) {
  return std::visit(
      [](const auto& value) -> std::string {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (Vocabulary<Value>) return word_of(value);
        if (std::is_same_v<Value, IdleProcessor>) return "no operator runs";
        if (std::is_same_v<Value, GraphsLaunched>) return "launch-bound beside graphs";
        return std::is_same_v<Value, PipelineTurns> ? "bubble of the pipeline" : "slow fabric";
      },
      subject);
}
}  // namespace

std::optional<Advice> advice_on(const AdviceSubject& subject) {
  static const std::map<AdviceSubject, Advice> known = [] {
    const auto size = scaleworth_asset_advice_end - scaleworth_asset_advice;
    auto file = toml_file::Table::parse({scaleworth_asset_advice, static_cast<std::size_t>(size)},
                                        "advice.toml");
    std::map<AdviceSubject, Advice> by_subject;
    for (toml_file::Table& one : file.tables("advice")) {
      const std::vector<std::string> keys = one.texts("on");
      const std::vector<std::string> findings = one.texts("found");
      if (findings.size() != keys.size()) one.refuse("found has not one text for each key");
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto on = subject_of(keys[i]);
        if (!on) one.refuse(keys[i] + " is nothing that advice is on");
        by_subject[*on] = {words_of(*on),
                           findings[i],
                           one.text("do"),
                           one.text("text"),
                           one.optional_text("url").value_or("")};
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
  if (on_processor && cause == HostCause::other) return IdleProcessor{};
  constexpr double much_in_graphs = 0.2;
  const bool graphs = view.attribution.graph_share >= much_in_graphs;
  return graphs && cause == HostCause::launch_bound ? AdviceSubject(GraphsLaunched{}) : cause;
}

/// Where a range says what the host did, that is what to look at.
void say_where(const AttributionView& view, Advice& advice) {
  const HostRange* range = named_range(view, HostCause::other);
  if (range == nullptr) return;
  advice.action = "take that out of the step, or do it beside the GPU";
  advice.text = fmt::format(
      "While the GPU has nothing to do, the host is in {}: take that out of the step, or do it on "
      "another thread while the GPU works.",
      range->name);
}

bool turns_cost_most(const AttributionView& view) {
  const double turns = view.attribution.stragglers.taking_turns;
  return view.averages && turns > 0.5 * view.averages->mean.share(Part::exposed_wait);
}

std::vector<Advice> advice_for(const AttributionView& view) {
  const Attribution& attribution = view.attribution;
  const auto gain = [&](std::optional<Nanoseconds> saved) -> std::optional<double> {
    if (!saved || !attribution.efficiency) return std::nullopt;
    return share_of(in_seconds(*saved), in_seconds(attribution.efficiency->step_time));
  };
  const auto gain_if = [&](ReplayChange change) -> std::optional<double> {
    if (!attribution.efficiency) return std::nullopt;
    using WhatIf = Efficiency::WhatIf;
    const WhatIf* found = find_in(attribution.efficiency->what_if, change, &WhatIf::change);
    return found ? gain(found->saved) : std::nullopt;
  };
  std::vector<std::pair<AdviceSubject, std::optional<double>>> subjects;
  const auto& stragglers = attribution.stragglers.stragglers;
  const auto worst = std::ranges::find_if(stragglers, &Straggler::significant);
  if (worst != stragglers.end()) {
    AdviceSubject subject = worst->cause;
    if (worst->cause == LateCause::host && !worst->shares.empty() && worst->shares.front().host)
      subject = host_subject(view, *worst->shares.front().host);
    subjects.emplace_back(subject, gain(worst->saved));
  }
  if (!attribution.slow_fabric.empty()) subjects.emplace_back();
  std::map<double, Part, std::greater<>> losses;
  for (const Part part : recording_parts)
    if (view.averages) losses.emplace(view.averages->mean.share(part), part);
  for (const auto& [share, part] : losses) {
    if (share < least_loss_to_act_on || part == Part::compute) continue;
    const auto& late = view.averages->mean.host_late_by_cause;
    const auto most = static_cast<HostCause>(std::ranges::max_element(late) - late.begin());
    if (part == Part::host_late)
      subjects.emplace_back(host_subject(view, most), gain_if(ReplayChange::hosts_on_time));
    else if (part == Part::exposed_transfer || part == Part::exposed_undivided)
      subjects.emplace_back(part, gain_if(ReplayChange::hidden_communication));
    else if (part == Part::exposed_wait && worst == stragglers.end() && turns_cost_most(view))
      subjects.emplace_back(PipelineTurns{}, std::nullopt);
    else if (part != Part::exposed_wait || worst == stragglers.end())
      subjects.emplace_back(part, std::nullopt);
  }
  if (view.averages && subjects.empty()) subjects.emplace_back(Part::compute, std::nullopt);
  std::vector<Advice> found;
  for (const auto& [subject, share] : subjects) {
    auto advice = advice_on(subject);
    if (!advice || advice->url.empty()) continue;
    // What frees the late rank and what frees all of them may be one advice: all gain most.
    if (Advice* same = find_in(found, advice->text, &Advice::text)) {
      same->gain = std::max(same->gain, share);
    } else if (found.size() < 3) {
      if (subject == host_subject(view, HostCause::other)) say_where(view, *advice);
      advice->gain = share;
      found.push_back(std::move(*advice));
    }
  }
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
