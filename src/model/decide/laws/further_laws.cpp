// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/laws/further_laws.h"

#include "src/model/decide/laws/evidence.h"

namespace scaleworth::decide {
namespace {

/// All but the replicas, which are what a count adds.
Layout replica_of(const DecisionRow& row) {
  Layout layout = row.facts.layout;
  layout.data.reset();
  return layout;
}

std::optional<model::MicroBatchFit> micro_batch_fit(const std::vector<DecisionRow>& rows) {
  std::vector<model::MicroBatchPoint> points;
  const Layout layout = replica_of(rows.front());
  for (const DecisionRow& row : rows) {
    if (!row.facts.microbatches || !(replica_of(row) == layout)) return std::nullopt;
    points.push_back({*row.facts.microbatches, row.time.value.value()});
  }
  return model::fit_micro_batches(points);
}

std::vector<RingRow> ring_rows(const std::vector<DecisionRow>& rows, const model::RingCost& cost) {
  std::vector<RingRow> result;
  for (const DecisionRow& row : rows) {
    const model::RingTime time = model::ring_time(cost, row.count);
    result.push_back({row.count, time, time.total() / row.time.value});
  }
  return result;
}

std::vector<BoundRow> bound_rows(const std::vector<DecisionRow>& rows, const model::WorkDepth& of) {
  std::vector<BoundRow> result;
  for (const DecisionRow& row : rows) {
    const Interval<Seconds> bounds = model::work_depth_bounds(of, row.count);
    const Seconds measured = row.same_work.value;
    result.push_back({row.count, measured, bounds, measured / bounds.high - 1.0});
  }
  return result;
}

}  // namespace

FurtherLaws further_laws(const std::vector<DecisionRow>& rows,
                         Scaling scaling,
                         const LawInputs& inputs) {
  FurtherLaws laws;
  if (scaling == Scaling::weak) laws.gustafson = model::fit_gustafson(points_of_laws(rows));
  laws.micro_batches = micro_batch_fit(rows);
  if (inputs.ring) {
    laws.ring = ring_rows(rows, *inputs.ring);
    if (scaling == Scaling::strong) {
      laws.informed = model::fit_informed(points_of_laws(rows), *inputs.ring);
    }
  }
  if (inputs.work_depth) laws.bounds = bound_rows(rows, *inputs.work_depth);
  return laws;
}

std::vector<model::LawFamily> informed_families(Scaling scaling, const LawInputs& inputs) {
  if (!inputs.ring || scaling != Scaling::strong) return {};
  return {model::informed_family([cost = *inputs.ring](double count) {
    return model::ring_time(cost, static_cast<int>(count)).total().value();
  })};
}

}  // namespace scaleworth::decide
