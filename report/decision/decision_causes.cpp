// SPDX-License-Identifier: Apache-2.0
#include "report/decision/decision_report.h"
#include "report/words.h"
#include "src/model/decision/scaling_table.h"

#include <chrono>
#include <cmath>

namespace scaleworth::report {
namespace {
/// "efficiency >= 0.5 (default threshold)", "least cost", ...
std::string knee_name(KneeKind kind, const KneeRequest& request) {
  if (kind != KneeKind::efficiency) return word_of(kind);
  return fmt::format("efficiency >= {:g}{}",
                     request.threshold,
                     request.threshold_given ? "" : " (default threshold)");
}

/// "cost optimum", "knee at efficiency >= 0.5": by which remedies are judged.
std::string judged_knee(const KneeSet& knees) {
  const KneeKind kind = judged_by(knees.request);
  if (kind == KneeKind::cost) return knees.laws ? "cost optimum by the laws" : "cost optimum";
  return "knee at " + knee_name(kind, knees.request);
}

const CauseLoss* loss_of(const Gap& gap, Cause cause) {
  return find_in(gap.losses, cause, &CauseLoss::cause);
}

Table gaps_by_cause(const std::string& id, const std::string& title, const std::vector<Gap>& gaps) {
  std::vector<ColumnOf<Gap>> columns{{count_parameter(), &Gap::count},
                                     {measure("gap_s", "lost", Unit::seconds), &Gap::lost_s}};
  for (const Cause cause : every<Cause>) {
    const auto has_cause = [&](const Gap& gap) { return loss_of(gap, cause) != nullptr; };
    if (std::ranges::none_of(gaps, has_cause)) continue;
    const std::string name = word_of(cause);
    columns.push_back({share("gap_share_" + name, name), [=](const Gap& gap) {
                         const CauseLoss* loss = loss_of(gap, cause);
                         return loss ? Number{loss->share, loss->spread, 0} : number(0.0);
                       }});
  }
  columns.push_back(
      {share("latency_share", "of communication: latency").if_present(), &Gap::latency_share});
  Table table = first_rows(make_table(id, title, gaps, columns));
  const auto has_spread = [](const CauseLoss& loss) { return loss.spread.has_value(); };
  if (!gaps.empty() && std::ranges::any_of(gaps.back().losses, has_spread)) {
    table.notes.push_back(reading_note("range of a share"));
  }
  return table;
}

Table fits_table(const DecideView& view) {
  using Reading = LawReading;
  const auto& spread = view.decision.diagnosis.spread;
  if (!spread || !(spread->missing > 0.0)) return {};
  const auto part = [&](double Reading::*folds) {
    return [folds, missing = spread->missing](const Reading& one) { return one.*folds / missing; };
  };
  return make_table<Reading>(
      "fit",
      fmt::format(
          "Folds missing at {} ({:.2f}), by the choice of fit", spread->count, spread->missing),
      spread->readings,
      {{parameter("law", "fit"), &Reading::fit},
       {measure("fit_s", "s").with_decimals(4), &Reading::serial},
       {measure("serial_folds", "serial").with_decimals(2), &Reading::serial_folds},
       {share("serial_part", "serial"), part(&Reading::serial_folds)},
       {measure("overhead_folds", "overhead").with_decimals(2), &Reading::overhead_folds},
       {share("overhead_part", "overhead"), part(&Reading::overhead_folds)},
       {measure("unexplained_folds", "rest").with_decimals(2), &Reading::unexplained_folds},
       {share("serial_seconds_part", "serial seconds"), &Reading::serial_share},
       {share("fit_residual", "residual"), &Reading::residual},
       {measure("fit_holds", "holds"), &Reading::holds}});
}

std::string change_text(const Remedy& remedy) {
  return words_of(remedy_of(remedy.cause)).text;
}

/// Count, position and range of a knee; the ids are "knee_count", "knee_low" ....
template <class T, class KneeOf>
void add_knee(std::vector<ColumnOf<T>>& columns,
              const KneeSet& set,
              const std::string& id,
              const std::string& position,
              KneeOf knee_of) {
  const auto cell = [=](auto member) {
    return [=](const T& row) { return as_cell(std::invoke(knee_of, row).*member); };
  };
  columns.push_back({measure(id + "_count", "count", Unit::count), cell(&Knee::count)});
  if (set.by_law) {
    columns.push_back({measure(id + position, "at").with_decimals(2), cell(&Knee::position)});
  }
  if (set.exact()) return;
  const int places = set.by_law ? 1 : 0;
  columns.push_back({measure(id + "_low", "from").with_decimals(places), cell(&Knee::low)});
  columns.push_back({measure(id + "_high", "to").with_decimals(places), cell(&Knee::high)});
}

Table remedies_table(const DecideView& view) {
  const auto& remedies = view.decision.diagnosis.remedies;
  if (remedies.empty()) return {};
  const Knee& before = remedies.front().before;
  const bool cost = before.kind == KneeKind::cost;
  std::vector<ColumnOf<Remedy>> columns{{parameter("parameter", "change"), change_text}};
  add_knee(columns, view.decision.knees, "remedy", "_at", &Remedy::after);
  columns.push_back({share("remedy_saves", cost ? "saves of the cost" : "saves of the time at it"),
                     &Remedy::saved});
  columns.push_back({measure("remedy_moves", "moves it"), [](const Remedy& remedy) {
                       return !remedy.moves ? "not known" : *remedy.moves ? "yes" : "no";
                     }});
  return make_table(
      "remedy",
      fmt::format(
          "What would move the {} from {}", judged_knee(view.decision.knees), *before.count),
      remedies,
      columns);
}

std::vector<std::string> knee_notes(const KneeSet& set, const std::vector<Knee>& found) {
  const bool open = std::ranges::any_of(found, [](const Knee& knee) { return !knee.high; });
  std::vector<std::string> notes{
      fmt::format("Knees {}{}.", said(set.basis), open ? "; n/a: no upper end" : "")};
  if (set.request.wall) notes.push_back("Least cost and fastest are of the time with failures.");
  if (std::ranges::any_of(found, &Knee::beyond)) {
    notes.push_back(
        fmt::format("Outside {} to {} nothing was measured; there the laws alone speak.",
                    set.request.smallest.value_or(1),
                    set.request.largest.value_or(1)));
  }
  return notes;
}

/// The knees that were found; the others lie where nothing was looked for, if anywhere.
Table knees_table(const DecideView& view) {
  const KneeSet& set = view.decision.knees;
  std::vector<Knee> found;
  std::ranges::copy_if(set.knees, std::back_inserter(found), [](const Knee& knee) {
    return knee.count.has_value();
  });
  if (found.empty()) return {};
  const auto name_of = [&](const Knee& knee) { return knee_name(knee.kind, set.request); };
  std::vector<ColumnOf<Knee>> columns{{parameter("parameter", "definition"), name_of}};
  add_knee(columns, set, "knee", "_position", std::identity{});
  std::vector<std::string> notes = knee_notes(set, found);
  const auto if_absent = [&](const Knee& knee) { return knee.count ? "" : name_of(knee); };
  if (const std::string absent = listed(set.knees, if_absent, "; "); !absent.empty())
    notes.push_back(fmt::format("Not found up to {:g}: {}.", set.request.reach, absent));
  return make_table("knee", "Where the curve bends, by definition", found, columns, notes);
}

Table losses_table(const DecideView& view) {
  using Loss = RowLoss;
  return first_rows(make_table<Loss>(
      "loss",
      "The missing speed-up, and what would be left of it",
      view.decision.losses,
      {{count_parameter(), &Loss::count},
       {measure("lost_speedup", "lost speed-up").with_decimals(3), &Loss::missing},
       {measure("speedup_without_communication", "speed-up without communication").with_decimals(3),
        &Loss::without_communication},
       {measure("speedup_without_idle", "without idle").with_decimals(3), &Loss::without_idle}}));
}

Table factors_table(const DecideView& view) {
  const auto useful_s = [](const Efficiency& one) {
    double sum = 0.0;
    for (const auto& time : one.useful) sum += std::chrono::duration<double>(time).count();
    return sum;
  };
  const auto factor = [](const char* id, const char* header, double Efficiency::*member) {
    return ColumnOf<LedgerFacts>{share(id, header), path(&LedgerFacts::factors, member)};
  };
  Table table = make_table<LedgerFacts>(
      "factors",
      "POP factors of each count; the last four multiply to the first",
      view.decision.ledgers,
      {{count_parameter(), &LedgerFacts::count},
       factor("pop_parallel", "parallel efficiency", &Efficiency::parallel),
       factor("pop_load_balance", "load balance", &Efficiency::load_balance),
       factor("pop_host", "host", &Efficiency::host),
       factor("pop_dependency", "dependency", &Efficiency::dependency),
       factor("pop_transfer", "transfer", &Efficiency::transfer),
       {measure("useful_rank_s", "useful time of a step, all ranks", Unit::seconds),
        path(&LedgerFacts::factors, useful_s)}});
  for (const LedgerFacts& ledger : view.decision.ledgers) {
    if (!ledger.no_factors) continue;
    table.notes.push_back(fmt::format("None at {}: {}.", ledger.count, said(ledger.no_factors)));
  }
  return limit_rows(std::move(table));
}

/// "communication 54.7 %, idle 45.3 %".
std::string mixture_text(const ScalingCause& cause) {
  return listed(cause.mixture, [](const auto& part) {
    return fmt::format("{} {:.1f} %", word_of(part.first), 100.0 * part.second);
  });
}

std::string count_or_never(const Knee& knee, const KneeSet& set) {
  if (knee.count) return fmt::format("{}", *knee.count);
  return set.laws ? fmt::format("beyond {:g}", set.request.reach) : "beyond every count";
}

/// A whole count of the kind: the threshold is still met below its position.
int whole(double position, KneeKind kind) {
  return saturated<int>(kind == KneeKind::efficiency ? std::floor(position) : std::round(position));
}

/// "11 [10, 12], beyond what was measured"; no interval where it is one count.
std::string with_range(const Knee& knee, const KneeSet& set) {
  std::string text = count_or_never(knee, set);
  if (set.exact() || !knee.count) return text;
  const int low = whole(knee.low, knee.kind);
  const auto high = knee.high ? std::optional<int>(whole(*knee.high, knee.kind)) : std::nullopt;
  if (low != high) {
    text += fmt::format(" [{}, {}]", low, high ? fmt::format("{}", *high) : "open");
  }
  const bool within = *knee.count >= set.request.smallest.value_or(0) &&
                      *knee.count <= set.request.largest.value_or(*knee.count);
  return text + (within ? "" : ", beyond what was measured");
}

std::string saving(const Remedy& remedy) {
  if (!remedy.saved || *remedy.saved < 0.0005) return "";
  const bool cost = remedy.before.kind == KneeKind::cost;
  return fmt::format(" ({:.1f} % {})", 100.0 * *remedy.saved, cost ? "cheaper" : "less time at it");
}

/// Of a knee that may lie beyond the largest count, with or without a change.
std::string open_line(const DecideView& view) {
  const auto& remedies = view.decision.diagnosis.remedies;
  const auto saved = [](const Remedy& remedy) {
    const std::string part = saving(remedy);
    return part.empty() ? "" : change_text(remedy) + part;
  };
  const std::string savings = listed(remedies, saved, "; ");
  const int largest = *remedies.front().before.count;
  const std::string text = fmt::format(
      "The {} is {} or beyond it, the largest count: what would move it needs a larger one.",
      judged_knee(view.decision.knees),
      largest);
  return savings.empty() ? text : fmt::format("{} At {}: {}.", text, largest, savings);
}
}  // namespace

std::string cause_line(const DecideView& view) {
  const Decision& decision = view.decision;
  if (decision.diagnosis.no_loss)
    return fmt::format("No cause to name: {}.", said(decision.diagnosis.no_cause));
  if (!decision.diagnosis.cause || decision.diagnosis.cause->mixture.empty()) return "";
  const std::string origin =
      decision.coefficients           ? "by the coefficients given"
      : decision.diagnosis.by_terms   ? "by the latency and bandwidth given"
      : decision.diagnosis.by_law     ? "by every fit that the totals allow, not "
                                        "by a measurement of the parts"
      : decision.diagnosis.by_factors ? "by the POP factors of the recordings"
                                      : "from the parts of the table";
  const ScalingCause& cause = *decision.diagnosis.cause;
  std::string more;
  if (decision.diagnosis.by_law && !decision.request.message)
    more = view.words("; compute_s and comm_s, or --alpha-us, --beta-gbs, --message-mb, tell more",
                      "; the parts of a step would tell more");
  const std::string text =
      cause.owner
          ? fmt::format("is {}, {:.1f} % of it", word_of(*cause.owner), 100.0 * cause.explained)
          : "has no single owner (none explains 80 %): " + mixture_text(cause);
  const auto& law = decision.coefficients;
  if (law && law->communication == 0.0 && law->serial > 0.0)
    more = fmt::format("; no count exceeds a speed-up of 1/s = {:.1f}", 1.0 / law->serial);
  return fmt::format(
      "The gap from ideal at {} {} ({}){}.", decision.cause_count, text, origin, more);
}

std::string overtaking_line(const Decision& decision) {
  const auto& stated = decision.coefficients;
  const auto crossing =
      stated ? communication_overtakes(*stated) : communication_overtakes(decision.rows);
  if (!crossing) return "";
  const auto from = [](double at) { return saturated<int>(std::floor(at)) + 1; };
  const std::string who = named_count(decision, from(crossing->at));
  if (stated)
    return fmt::format("From {} on communication takes longer than compute, as stated.", who);
  const std::string interval =
      fmt::format("95 %: {} {}",
                  from(*crossing->low),
                  crossing->high ? fmt::format("to {}", from(*crossing->high)) : "or more");
  const std::string measured =
      crossing->after ? fmt::format("{} and {} were measured", crossing->before, *crossing->after)
                      : "beyond the counts measured";
  return fmt::format("From about {} on communication takes longer than compute ({}; {}).",
                     who,
                     interval,
                     measured);
}

std::string scaled_work_line(const Decision& decision) {
  if (const auto& law = decision.coefficients) {
    if (law->communication > 0.0 || !(law->serial > 0.0)) return "";
    const auto& asked = decision.request.shown_counts;
    const int count = asked.empty() ? decision.rows.back().count : std::ranges::max(asked);
    return fmt::format(
        "With growing work (Gustafson, {:.3g} % serial) {} do {:.4g} times as much, fixed {:.4g}.",
        100.0 * law->serial,
        named_count(decision, count),
        count - law->serial * (count - 1.0),
        law->time(1.0) / law->time(count));
  }
  const auto& least = decision.request.rubric.efficiency_threshold;
  const auto kept = least ? isoefficiency(decision.rows, *least) : std::vector<KeptWork>{};
  if (kept.empty()) return "";
  const auto [first, last] = std::pair(kept.front(), kept.back());
  const double ratio = static_cast<double>(last.count) / first.count;
  return fmt::format(
      "To spend {:.0f} % of the time computing, {} need {:.3g} times the work of the baseline, "
      "{:.3g} times on each{}, if the rest of a step does not grow with it (isoefficiency).",
      100.0 * *least,
      named_count(decision, last.count),
      last.growth,
      last.growth * decision.rows.front().count / last.count,
      ratio > 1.0 ? fmt::format("; it grows as count^{:.2f}",
                                std::log(last.growth / first.growth) / std::log(ratio))
                  : "");
}

std::string remedy_line(const DecideView& view) {
  const auto& diagnosis = view.decision.diagnosis;
  const KneeSet& set = view.decision.knees;
  if (diagnosis.remedies.empty()) return "";
  const Remedy& best = diagnosis.remedies.front();
  const std::string knee = judged_knee(set);
  const auto other = [&](const Remedy& remedy) -> std::string {
    if (remedy.moves != true || &remedy == &best) return "";
    return fmt::format("{} (to {})", change_text(remedy), with_range(remedy.after, set));
  };
  const auto useless_change = [](const Remedy& remedy) {
    return remedy.moves == false ? change_text(remedy) : "";
  };
  const std::string others = listed(diagnosis.remedies, other, "; ");
  const std::string useless = listed(diagnosis.remedies, useless_change, "; ");
  if (!best.moves) return open_line(view);
  if (!*best.moves) {
    return fmt::format(
        "No single change moves the {} from {}: {}.", knee, *best.before.count, useless);
  }
  const auto latency = diagnosis.decisive ? diagnosis.decisive->latency_share : std::nullopt;
  const Words change = words_of(remedy_of(best.cause, latency));
  std::string text = capitalised(fmt::format("{} would move the {} from {} to {}{}: {}.",
                                             change.text,
                                             knee,
                                             *best.before.count,
                                             with_range(best.after, set),
                                             saving(best),
                                             change.again));
  if (!others.empty()) text += fmt::format(" Next: {}.", others);
  if (!useless.empty()) text += fmt::format(" Would not: {}.", useless);
  return text;
}

std::string latency_line(const DecideView& view) {
  const auto& diagnosis = view.decision.diagnosis;
  const auto& message = view.decision.request.message;
  if (!message || !diagnosis.decisive || !diagnosis.decisive->latency_share) return "";
  const Gap& gap = *diagnosis.decisive;
  const Bytes balanced = balanced_message(*message, gap.count);
  return fmt::format(
      "A ring's communication at {} is {:.0f} % latency and {:.0f} % bandwidth by the terms given; "
      "they are equal at messages of {:.3g} MB.",
      gap.count,
      100.0 * *gap.latency_share,
      100.0 * (1.0 - *gap.latency_share),
      balanced.value() / 1e6);
}

std::vector<Table> knee_tables(const DecideView& view) {
  return {knees_table(view), remedies_table(view)};
}

std::vector<Table> cause_tables(const DecideView& view) {
  const Diagnosis& diagnosis = view.decision.diagnosis;
  std::vector<Table> tables{
      losses_table(view),
      gaps_by_cause("factor_gap",
                    "The gap from ideal at each count, by the POP factors of the recordings",
                    diagnosis.factor_gaps),
      bounds_table(view.decision)};
  if (!view.options.details) return tables;
  tables.push_back(factors_table(view));
  tables.push_back(
      gaps_by_cause("gap", "The gap from ideal at each count, by cause", diagnosis.gaps));
  tables.push_back(fits_table(view));
  for (Table& table : law_tables(view)) tables.push_back(std::move(table));
  return tables;
}
}  // namespace scaleworth::report
