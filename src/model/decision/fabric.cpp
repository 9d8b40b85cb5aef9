// SPDX-License-Identifier: Apache-2.0
#include "src/core/attribution.h"
#include "src/core/mean_ledger.h"
#include "src/model/collectives.h"
#include "src/model/comparison.h"

#include <map>

namespace scaleworth::model {
namespace {
/// Of the calls of one kind, size and number of ranks.
FabricRow measured_row(const MachineWork& work, const std::vector<const CollectiveWait*>& calls) {
  FabricRow row{work, std::ssize(calls)};
  double transfer = 0.0;
  double known = 0.0;
  double parts = 0.0;
  for (const CollectiveWait* call : calls) {
    const auto& ranks = call->participants;
    for (const auto& part : ranks) row.wait += part.below_error ? 0.0 : in_seconds(part.wait);
    parts += static_cast<double>(ranks.size());
    if (!std::ranges::all_of(ranks, &CollectiveWait::Participant::known)) continue;
    const auto last = std::ranges::max(ranks, {}, &CollectiveWait::Participant::start);
    const auto end = std::ranges::max(ranks, {}, &CollectiveWait::Participant::end);
    transfer += in_seconds(end.end - last.start);
    known += 1.0;
  }
  row.wait /= std::max(1.0, parts);
  if (known > 0.0) row.transfer = transfer / known;
  return row;
}

void judge(FabricRow& row, const CommunicationModel& fabric) {
  constexpr std::int64_t least_bytes = 8192;
  constexpr double tolerated = 0.1;
  const MachineWork& work = row.work;
  if (work.bytes.value_or(0) < least_bytes || !row.transfer) return;
  const Collective kind = collective_of(work.collective);
  const auto time =
      fabric.time(kind, fabric.layout(kind, work.ranks), Bytes(static_cast<double>(*work.bytes)));
  if (!time) return;
  row.expected = time->value.value();
  const bool slow =
      *row.transfer > std::max((1.0 + tolerated) * *row.expected, time->high().value());
  const double excess = slow ? row.excess() : 0.0;
  const double lost = row.wait + excess;
  row.verdict = lost < tolerated * (row.wait + *row.transfer) ? FabricVerdict::as_measured
                : excess >= explains_enough * lost            ? FabricVerdict::transfer_bound
                : row.wait >= explains_enough * lost          ? FabricVerdict::skew_bound
                                                              : FabricVerdict::mixed;
}
}  // namespace

std::vector<FabricRow> against_fabric(const Attribution& job, const Run& fabric) {
  std::map<std::int32_t, bool> counts;
  if (const auto means = job_means(job.ledger))
    for (const StepLedger& one : job.ledger) counts[one.step] = means->counts(one);
  std::map<MachineWork, std::vector<const CollectiveWait*>> kinds;
  for (const CollectiveWait& one : job.collectives) {
    MachineWork work{.kind = WorkKind::collective, .collective = one.kind, .bytes = one.bytes};
    work.ranks = static_cast<int>(one.participants.size());
    const bool* counted = value_at(counts, one.step);
    if (counted != nullptr && *counted) kinds[work].push_back(&one);
  }
  const CommunicationModel curves = communication_model(fabric);
  std::vector<FabricRow> rows;
  for (const auto& [work, calls] : kinds)
    judge(rows.emplace_back(measured_row(work, calls)), curves);
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const FabricRow& one) {
    return static_cast<double>(one.calls) * (one.wait + one.excess());
  });
  return rows;
}
}  // namespace scaleworth::model
