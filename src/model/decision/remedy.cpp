// SPDX-License-Identifier: Apache-2.0
#include "src/model/decision/causes.h"
#include "src/model/laws/law_evidence.h"

#include <limits>
#include <tuple>

namespace scaleworth::model {

namespace {
constexpr double least_move = 0.05;      // of the position
constexpr std::size_t most_fitted = 64;  // to every change again
constexpr double sure_weight = 0.95;     // of the weight of laws

/// A curve with its knees and its time at a whole count (absent where none is known).
struct Reading {
  std::vector<Knee> knees;
  std::function<std::optional<double>(int)> time;
};

double position(const Knee& knee) {
  if (knee.position) return *knee.position;
  return knee.count ? static_cast<double>(*knee.count) : std::numeric_limits<double>::infinity();
}

/// What the knee is worth: the bill at the cost optimum, the time at another.
std::optional<double> worth(const Reading& reading, const Knee& knee, const KneeRequest& request) {
  if (!knee.count) return std::nullopt;
  const auto time = reading.time(*knee.count);
  if (!time || knee.kind != KneeKind::cost) return time;
  const double wall = request.wall ? request.wall(*knee.count, *time) : *time;
  return job_cost(*request.prices, *knee.count, Seconds(wall)).value();
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
  std::ranges::stable_sort(remedies, std::ranges::greater{}, [](const Remedy& one) {
    return std::tuple(one.moves.value_or(false), position(one.after), one.saved.value_or(0.0));
  });
}

Reading rows_reading(const std::vector<TimePoint>& rows, const KneeRequest& request) {
  return {measured_knees(rows, request), [rows](int count) -> std::optional<double> {
            const TimePoint* at = find_in(rows, count, &TimePoint::count);
            return at ? std::optional(at->time) : std::nullopt;
          }};
}

/// As the knees of the table were read.
Reading table_reading(std::vector<TimePoint> points, const KneeSet& set) {
  if (!set.laws) return rows_reading(points, set.request);
  const auto families = mapped(set.laws->laws, &WeightedLaw::family);
  points = thinned(points, most_fitted);
  const auto laws = *combine_laws(std::move(points), set.laws->weak, {}, families);
  const auto time = [laws](double count) { return laws.time(count); };
  return {law_knees(time, laws.draws, set.request), time};
}

/// Whether all laws that hold have serial work, or lose nothing.
bool serial_work_known(const CombinedLaw& laws) {
  double weight = 0.0;
  for (const WeightedLaw& law : laws.laws) {
    const auto& terms = law.family.terms;
    const bool ideal = terms.size() == 1 && terms.front() == terms::ideal;
    if (ideal || std::ranges::count(terms, terms::level) > 0) weight += law.weight;
  }
  return weight >= sure_weight;
}

/// Seconds of the same work that a row takes less without the cause; absent where it has no such
/// part. Half of the serial work is done in parallel from the baseline on.
std::optional<double> saving(Cause cause,
                             const DecisionRow& row,
                             const DecisionRow& baseline,
                             const std::optional<ShapeFit>& fit) {
  using namespace terms;
  const auto lost = [&](const LawTerm& term) {
    return fit ? fit->lost(term, row.count_ratio) : 0.0;
  };
  if (cause == Cause::serial || cause == Cause::level) return 0.5 * lost(level);
  if (cause == Cause::overhead) return lost(linear) + lost(logarithm);
  const std::size_t part = index_of(std::ranges::find(part_causes, cause, &PartCause::cause)->part);
  if (!row.parts_s[part]) return std::nullopt;
  const double time = *row.parts_s[part] / row.work_growth();
  if (cause != Cause::slowdown) return time;
  if (!baseline.parts_s[part]) return std::nullopt;
  const double serial_s = fit ? fit->law.coefficient(level) : 0.0;
  const double kept = std::min(serial_s, *baseline.parts_s[part]);
  return std::max(0.0, time - (kept + (*baseline.parts_s[part] - kept) / row.count_ratio));
}

/// The times left; empty where a row lacks the part, or nothing is saved anywhere.
std::vector<TimePoint> times_after(Cause cause,
                                   const std::vector<DecisionRow>& rows,
                                   const DecisionRow& baseline,
                                   const std::optional<ShapeFit>& fit) {
  std::vector<TimePoint> times;
  double all = 0.0;
  for (const DecisionRow& row : rows) {
    const auto saved = saving(cause, row, baseline, fit);
    const double left = row.same_work.value.value() - saved.value_or(0.0);
    if (!saved || !(left > 0.0)) return {};
    all += *saved;
    times.push_back(point_of_law(row, row.count, left));
  }
  return all > 0.0 ? times : std::vector<TimePoint>{};
}
}  // namespace

KneeKind judged_by(const KneeRequest& request) {
  const bool billed = request.prices && request.prices->per_clock().value() > 0.0;
  return billed ? KneeKind::cost : KneeKind::efficiency;
}

std::vector<Remedy> curve_remedies(const Coefficients& coefficients, const KneeRequest& request) {
  const auto reading = [&](double serial, double communication) -> Reading {
    const Coefficients changed{
        coefficients.serial * serial, coefficients.communication * communication, Seconds(1.0)};
    const auto time = [=](double count) { return changed.time(count); };
    return {law_knees(time, {}, request), time};
  };
  std::vector<Remedy> remedies;
  const auto add = [&](Cause cause, const Reading& after) {
    if (auto remedy = compared(cause, reading(1.0, 1.0), after, request))
      remedies.push_back(std::move(*remedy));
  };
  add(Cause::communication, reading(1.0, 0.0));
  add(Cause::serial, reading(0.5, 1.0));
  rank(remedies);
  return remedies;
}

std::vector<Remedy> table_remedies(const std::vector<DecisionRow>& rows,
                                   const Diagnosis& diagnosis,
                                   const KneeSet& set) {
  const DecisionRow* baseline = baseline_row(rows);
  const bool totals = diagnosis.gaps.empty();
  if (!baseline || rows.size() < 2) return {};
  if (totals && !(diagnosis.by_law && set.laws && serial_work_known(*set.laws))) return {};
  const auto time = [&](int count) { return set.laws->time(count); };
  const Reading before =
      set.laws ? Reading{set.knees, time} : rows_reading(knee_rows(rows), set.request);
  std::vector<Remedy> remedies;
  using enum Cause;
  const std::vector<Cause> causes =
      totals ? std::vector{overhead, level}
             : std::vector{communication, idle, host, io, serial, slowdown};
  for (const Cause cause : causes) {
    const std::vector<TimePoint> times = times_after(cause, rows, *baseline, diagnosis.fit);
    if (times.empty()) continue;
    auto remedy = compared(cause, before, table_reading(times, set), set.request);
    if (!remedy) continue;
    if (!set.by_law && remedy->before.count == rows.back().count) remedy->moves.reset();
    remedies.push_back(*remedy);
  }
  rank(remedies);
  return remedies;
}

Finding remedy_of(Cause cause, const std::optional<double>& latency_share) {
  static constexpr std::array of_others{std::pair{Cause::serial, FindingId::half_serial},
                                        std::pair{Cause::level, FindingId::half_level},
                                        std::pair{Cause::overhead, FindingId::no_overhead},
                                        std::pair{Cause::idle, FindingId::no_idle},
                                        std::pair{Cause::host, FindingId::no_host},
                                        std::pair{Cause::io, FindingId::no_io},
                                        std::pair{Cause::slowdown, FindingId::no_slowdown}};
  if (const auto* other = find_in(of_others, cause, &std::pair<Cause, FindingId>::first))
    return other->second;
  if (latency_share >= explains_enough) return FindingId::no_communication_latency;
  if (latency_share && *latency_share <= 1.0 - explains_enough)
    return FindingId::no_communication_bytes;
  return FindingId::no_communication;
}
}  // namespace scaleworth::model
