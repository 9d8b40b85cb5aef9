// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/words.h"

#include <cmath>

namespace scaleworth::report {
namespace {

std::string recurrence_sentence(const StragglerReport& report) {
  const LateUnit level = report.stragglers.front().level;
  if (level == LateUnit::rotating || report.recurrence == Recurrence::rotating)
    return "Who is late changes from step to step: look at what varies (input lengths, noise on "
           "the hosts), not at one machine.";
  if (report.recurrence == Recurrence::too_few)
    return "Too few steps to know whether it is always the same rank.";
  return fmt::format("The same {} is late in most steps: look at {}.",
                     word_of(level),
                     level == LateUnit::stage  ? "how the model is cut into stages"
                     : level == LateUnit::host ? "what its GPUs share: power, cooling, other jobs"
                                               : "that GPU, its host and its share of the work");
}

Table shares_table(const StragglerReport& report) {
  using Share = CauseShare;
  const auto part = [](const Straggler& straggler, const Share& share) {
    double whole = 0.0;
    for (const Share& one : straggler.shares) whole += in_seconds(one.time);
    return share_of(in_seconds(share.time), whole);
  };
  return limit_rows(
      make_table("cause",
                 "Why they are late: excess over the median rank since the last synchronisation",
                 nested(report.stragglers, &Straggler::shares),
                 {{parameter("rank", "rank"), &Straggler::rank},
                  {parameter("cause", "cause"), &Share::cause},
                  {parameter("what", "detail"),
                   [](const Share& share) { return said(share.in_detail()); }},
                  {measure("time_s", "time", Unit::seconds), &Share::time},
                  {measure("share", "of the excess", Unit::percent), part}}),
      "causes");
}

/// The matrix of waits entry by entry, the largest first.
Table entries_table(const StragglerReport& report) {
  std::vector<PairWait> entries = report.pairs;
  std::erase_if(entries, [](const PairWait& one) {
    return one.exposed.count() == 0 && one.total.count() == 0;
  });
  std::ranges::stable_sort(entries, std::ranges::greater{}, &PairWait::exposed);
  return limit_rows(
      make_table("wait_for",
                 "Who waited for whom",
                 entries,
                 {{parameter("rank", "rank"), &PairWait::rank},
                  {parameter("waited_for", "waited for"), &PairWait::waited_for},
                  {measure("exposed_wait_s", "exposed wait", Unit::seconds), &PairWait::exposed},
                  {measure("wait_s", "all wait", Unit::seconds), &PairWait::total}}),
      "pairs");
}

/// Replays that miss the measurement by more than this are printed with a warning.
constexpr double uncertain_replay = 0.05;

/// Part of the lost efficiency that is due to one factor; the shares of factors that multiply to
/// the whole add up to 1.
std::optional<double> share_of_loss(double factor, double whole) {
  if (!(factor > 0.0) || !(whole > 0.0) || whole >= 1.0) return std::nullopt;
  return std::log(factor) / std::log(whole);
}

Table factors_table(const Efficiency& efficiency) {
  struct Factor {
    const char* name;
    double value;
    const char* meaning;
  };
  const std::vector<Factor> factors{
      {"parallel efficiency", efficiency.parallel, "GPUs do not compute all the time"},
      {"load balance", efficiency.load_balance, "some ranks compute longer than others"},
      {"x serialization", efficiency.serialization, "ranks hold each other up, or their host does"},
      {"of it host", efficiency.host, "hosts launch late"},
      {"of it dependency",
       efficiency.dependency,
       "work waits for other work, across ranks and streams"},
      {"x transfer", efficiency.transfer, "the interconnect takes time that nothing hides"}};
  const std::vector<ColumnOf<Factor>> columns{
      {parameter("part", "factor"), &Factor::name},
      {measure("factor", "value", Unit::percent), &Factor::value},
      {measure("loss_share", "of the loss", Unit::percent),
       [&](const Factor& one) { return share_of_loss(one.value, efficiency.parallel); }},
      {measure("meaning", "less than 100 % means"), &Factor::meaning}};
  Table table = make_table("efficiency", "Parallel efficiency as a product", factors, columns);
  table.tiles = {{0, "factor", "Parallel efficiency", "computing over all GPU time"}};
  return table;
}
}  // namespace

Table straggler_table(const AttributionView& view) {
  Column lost = measure("lost_usd_per_hour", "lost per hour", Unit::dollars).if_present();
  lost.detail = !view.price_per_gpu;
  Table table = limit_rows(
      make_table<Straggler>(
          "straggler",
          "Who is waited for",
          view.attribution.stragglers.stragglers,
          {{parameter("rank", "rank").as_detail(), &Straggler::rank},
           {measure("unit", "who"), &Straggler::unit},
           {measure("saved_s", "saves alone", Unit::seconds).if_present(), &Straggler::saved},
           {times("exposed_wait_per_step_s", "lost per step"),
            [](const Straggler& one) { return one.exposed_per_step_ms * 1e-3; }},
           {measure("share", "of the GPUs' time", Unit::percent).if_present(),
            [&](const Straggler& one) { return share_of_gpu_time(view, one); }},
           {measure("gpu_hours", "GPU-hours lost").as_detail(),
            [](const Straggler& one) { return one.gpu_seconds / 3600.0; }},
           {lost, [&](const Straggler& one) { return lost_per_hour(view, one); }},
           {measure("collectives", "last at", Unit::count), &Straggler::collectives},
           {measure("steps", "worst in steps", Unit::count), &Straggler::steps},
           {measure("significant", "beyond clock error"), &Straggler::significant},
           {measure("cause", "cause"), &Straggler::cause}}),
      "ranks");
  const auto& all = view.attribution.stragglers.stragglers;
  const auto worst = std::ranges::find_if(all, &Straggler::significant);
  if (worst == all.end()) return table;
  const auto row = static_cast<std::size_t>(worst - all.begin());
  table.rows[row].chosen = true;
  table.tiles = {{row, "lost_usd_per_hour", "Lost per hour", "", "unit"}};
  return table;
}

Section stragglers_section(const AttributionView& view) {
  const StragglerReport& report = view.attribution.stragglers;
  Section section{"stragglers", "Who is waited for, and why"};
  if (report.abstention) section.lead.push_back(said(*report.abstention));
  if (report.stragglers.empty()) return section;
  section.lead.push_back(recurrence_sentence(report));
  section.tables = {straggler_table(view), shares_table(report), entries_table(report)};
  return section;
}

std::string change_text(const Efficiency::WhatIf& one) {
  if (one.change != ReplayChange::on_time) return word_of(one.change);
  if (one.units.size() == 1) return fmt::format("without {}'s lateness", one.units.front());
  return "without the lateness of " +
         (one.units.empty() ? "all that are named" : listed(one.units, {}, " and "));
}

Table what_if_table(const AttributionView& view) {
  const Efficiency& efficiency = *view.attribution.efficiency;
  using Change = Efficiency::WhatIf;
  const double step = in_seconds(efficiency.step_time);
  const std::vector<ColumnOf<Change>> columns{
      {parameter("what", "change"), change_text},
      {measure("step_s", "step", Unit::seconds), &Change::step_time},
      {times("saved_s", "saved"), &Change::saved},
      {measure("saved_share", "of the step", Unit::percent),
       [step](const Change& one) { return share_of(in_seconds(one.saved), step); }}};
  Table table = make_table(
      "what_if",
      "What if: predicted step times",
      efficiency.what_if,
      columns,
      {fmt::format("Each change alone; savings do not add up. Gaps that nothing recorded explains "
                   "and, unless they are the change, transfers stay as they are. The replay "
                   "without a change is {} off the measured {}.",
                   share_text(std::abs(efficiency.replay_error)),
                   duration_text(step))});
  table.tiles = {{0, "saved_share", "Largest predicted gain", "", "what"}};
  return table;
}

Section efficiency_section(const AttributionView& view) {
  Section section{"efficiency", "Efficiency, what if"};
  const auto& efficiency = view.attribution.efficiency;
  if (!efficiency) {
    if (const auto& why = view.attribution.efficiency_reason)
      section.lead.push_back(fmt::format("Not computed: {}.", said(*why)));
    return section;
  }
  section.lead.push_back(
      fmt::format("Window of {}{}. Waiting inside a collective never counts as useful.",
                  duration_text(efficiency->runtime),
                  efficiency->window ? ": " + said(*efficiency->window) : ""));
  if (std::abs(efficiency->replay_error) > uncertain_replay) {
    section.lead.push_back(fmt::format(
        "The replay misses the measured time by {}: trust the order of what-ifs, not their digits.",
        share_text(std::abs(efficiency->replay_error))));
  }
  if (const auto& saved = view.attribution.stragglers.saved) {
    const double share = in_seconds(*saved) / in_seconds(efficiency->step_time);
    section.lead.push_back(fmt::format(
        "Equal compute on all ranks could save up to {} of the step (1 - load balance); the replay "
        "without the stragglers saves {}.{}",
        share_text(1.0 - efficiency->load_balance),
        share_text(share),
        share < 1.0 - efficiency->load_balance
            ? " The rest turns into waiting for turns and transfers, or is of other ranks."
            : ""));
  }
  section.tables = {factors_table(*efficiency), what_if_table(view)};
  return section;
}
}  // namespace scaleworth::report
