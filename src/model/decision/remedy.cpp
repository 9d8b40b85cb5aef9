// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/causes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace scaleworth::decide {
using model::LawPoint;

namespace {
constexpr double never = std::numeric_limits<double>::infinity();
constexpr double least_move = 0.05;  // of the position
constexpr double mostly = 0.8;
/// Fits of longer tables are certain enough, and drawing them again for every change takes long.
constexpr std::size_t most_drawn = 512;

/// A curve with its knees and its time at a whole count (absent where none is known).
struct Reading {
  std::vector<Knee> knees;
  std::function<std::optional<double>(int)> time;
};

double position(const Knee& knee) {
  if (knee.position) return *knee.position;
  return knee.count ? static_cast<double>(*knee.count) : never;
}

/// What the knee is worth: the bill at the cost optimum, the time at another.
std::optional<double> worth(const Reading& reading, const Knee& knee, const KneeRequest& request) {
  if (!knee.count) return std::nullopt;
  const auto time = reading.time(*knee.count);
  if (!time || knee.kind != KneeKind::cost) return time;
  return model::job_cost(*request.prices, *knee.count, Seconds(*time)).value();
}

std::optional<Remedy> compared(Cause cause,
                               const Reading& before,
                               const Reading& after,
                               const KneeRequest& request) {
  const KneeKind kind = judged_by(request);
  const Knee* from = find_knee(before.knees, kind);
  const Knee* to = find_knee(after.knees, kind);
  if (!from || !to || !from->count) return std::nullopt;
  Remedy remedy{cause, *from, *to, std::nullopt, std::nullopt};
  const auto old_worth = worth(before, *from, request);
  const auto new_worth = worth(after, *to, request);
  if (old_worth && new_worth) remedy.saved = 1.0 - *new_worth / *old_worth;
  remedy.moves = from->count != to->count && position(*to) > (1.0 + least_move) * position(*from);
  return remedy;
}

void rank(std::vector<Remedy>& remedies) {
  const auto farther = [](const Remedy& a, const Remedy& b) {
    if (a.moves != b.moves) return a.moves.value_or(false);
    if (position(a.after) != position(b.after)) return position(a.after) > position(b.after);
    return a.saved.value_or(0.0) > b.saved.value_or(0.0);
  };
  std::stable_sort(remedies.begin(), remedies.end(), farther);
}

Reading law_reading(const LawShape& law,
                    double single,
                    const std::vector<LawShape>& draws,
                    const KneeRequest& request) {
  return {law_knees(law, draws, request), [law, single](int count) {
            return std::optional<double>(single *
                                         model::relative_time(law.serial, law.coherency, count));
          }};
}

std::vector<LawShape> changed(std::vector<LawShape> laws, LawShape (*change)(LawShape)) {
  for (LawShape& law : laws) law = change(law);
  return laws;
}

LawShape without_overhead(LawShape law) {
  return {law.serial, 0.0};
}

LawShape half_serial(LawShape law) {
  return {0.5 * law.serial, law.coherency};
}

Reading rows_reading(const std::vector<LawPoint>& rows, const KneeRequest& request) {
  return {measured_knees(rows, request), [rows](int count) -> std::optional<double> {
            const auto at = std::ranges::find(rows, count, &LawPoint::ranks);
            return at == rows.end() ? std::nullopt : std::optional<double>(at->time);
          }};
}

Reading table_reading(const std::vector<LawPoint>& points, const KneeSet& set) {
  if (!set.by_law) return rows_reading(points, set.request);
  if (points.size() > most_drawn) {
    const auto fit = model::fit_contention(points);
    if (fit) return law_reading(shape_of(*fit), fit->single, {}, set.request);
  }
  const auto estimate = model::estimate_contention(points);
  if (!estimate) return rows_reading(points, set.request);
  return law_reading(
      shape_of(estimate->best), estimate->best.single, shapes_of(estimate->draws), set.request);
}

/// Seconds of the same work that a change takes off one row; absent where the row has no such part.
using Saving = std::function<std::optional<double>(const DecisionRow&)>;

Saving part_saving(PartGroup part) {
  return [part](const DecisionRow& row) { return row.parts_s[index_of(part)]; };
}

/// Half of the level part, done in parallel from the baseline on.
Saving serial_saving(double serial_s) {
  return [serial_s](const DecisionRow& row) -> std::optional<double> {
    return 0.5 * serial_s * (1.0 - 1.0 / row.count_ratio);
  };
}

Saving slowdown_saving(const DecisionRow& baseline, double serial_s) {
  const auto compute = index_of(PartGroup::compute);
  const double level = std::min(serial_s, baseline.parts_s[compute].value_or(0.0));
  return [=](const DecisionRow& row) -> std::optional<double> {
    if (!row.parts_s[compute] || !baseline.parts_s[compute]) return std::nullopt;
    const double ideal = level + (*baseline.parts_s[compute] - level) / row.count_ratio;
    const double growth = row.work_growth();
    return std::max(0.0, *row.parts_s[compute] / growth - ideal);
  };
}

struct Change {
  Cause cause;
  Saving saving;
  bool per_own_work;  // the saving is of the row's own work, not of the same
};

/// The times left; empty where a row lacks the part, or nothing is saved anywhere.
std::vector<LawPoint> times_after(const std::vector<DecisionRow>& rows, const Change& change) {
  std::vector<LawPoint> times;
  double all = 0.0;
  for (const DecisionRow& row : rows) {
    if (row.count_ratio < 1.0) continue;
    const auto saving = change.saving(row);
    if (!saving) return {};
    const double growth = change.per_own_work ? row.work_growth() : 1.0;
    const double left = row.same_work.value.value() - *saving / growth;
    if (!(left > 0.0)) return {};
    all += *saving;
    times.push_back({row.count, left, row.relative_sd});
  }
  return all > 0.0 ? times : std::vector<LawPoint>{};
}
}  // namespace

KneeKind judged_by(const KneeRequest& request) {
  const bool billed = request.prices && request.prices->fixed.value() > 0.0;
  return billed ? KneeKind::cost : KneeKind::efficiency;
}

std::vector<Remedy> law_remedies(const LawShape& law,
                                 const std::vector<LawShape>& draws,
                                 Cause overhead,
                                 const KneeRequest& request) {
  std::vector<Remedy> remedies;
  const Reading before = law_reading(law, 1.0, draws, request);
  const auto add = [&](Cause cause, LawShape (*change)(LawShape)) {
    const Reading after = law_reading(change(law), 1.0, changed(draws, change), request);
    if (const auto remedy = compared(cause, before, after, request)) remedies.push_back(*remedy);
  };
  add(overhead, &without_overhead);
  add(Cause::serial, &half_serial);
  rank(remedies);
  return remedies;
}

std::vector<Remedy> part_remedies(const std::vector<DecisionRow>& rows,
                                  const std::optional<ComputeSplit>& split,
                                  const KneeSet& set) {
  const DecisionRow* baseline = baseline_row(rows);
  if (!baseline) return {};
  const double serial_s = split ? split->serial_s : 0.0;
  const std::vector<Change> changes{
      {Cause::communication, part_saving(PartGroup::communication), true},
      {Cause::idle, part_saving(PartGroup::idle), true},
      {Cause::host, part_saving(PartGroup::host), true},
      {Cause::io, part_saving(PartGroup::io), true},
      {Cause::serial, serial_saving(serial_s), false},
      {Cause::slowdown, slowdown_saving(*baseline, serial_s), false}};
  const Reading before = table_reading(knee_rows(rows), set);
  std::vector<Remedy> remedies;
  for (const Change& change : changes) {
    const std::vector<LawPoint> times = times_after(rows, change);
    if (times.empty()) continue;
    const Reading after = table_reading(times, set);
    auto remedy = compared(change.cause, before, after, set.request);
    if (!remedy) continue;
    if (!set.by_law && remedy->before.count == rows.back().count) remedy->moves.reset();
    remedies.push_back(*remedy);
  }
  rank(remedies);
  return remedies;
}

const char* remedy_change(Cause cause) {
  constexpr std::array names{"half the serial work",
                             "no communication exposed",
                             "no overhead that grows",
                             "no idle time",
                             "no time lost by the host",
                             "no time for I/O",
                             "compute as efficient as at the baseline"};
  return names[static_cast<std::size_t>(cause)];
}

std::string remedy_means(Cause cause, const std::optional<double>& latency_share) {
  switch (cause) {
    case Cause::serial:
      return "parallelise it, or overlap it";
    case Cause::communication:
      if (latency_share && *latency_share >= mostly) return "fewer and larger messages, a tree";
      if (latency_share && *latency_share <= 1.0 - mostly) return "overlap it, send fewer bytes";
      return "overlap it, another collective, larger messages";
    case Cause::overhead:
      return "overlap or another collective if it is communication, even shards if it is waiting";
    case Cause::idle:
      return "re-shard evenly, fewer barriers";
    case Cause::host:
      return "launch ahead, graphs";
    case Cause::io:
      return "prefetch, or read while computing";
    case Cause::slowdown:
      break;
  }
  return "more work per rank, fused kernels";
}
}  // namespace scaleworth::decide
