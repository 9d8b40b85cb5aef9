// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/run_table.h"

#include "src/core/error.h"
#include "src/core/statistics/interval.h"
#include "src/model/decide/table/spread.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

using model::MeasuredCount;
using model::MeasuredMode;
using model::Part;

const char* mode_name(Scaling scaling) {
  return scaling == Scaling::weak ? "weak" : "strong";
}

const MeasuredMode& mode_of(const std::vector<MeasuredMode>& modes,
                            std::optional<Scaling> scaling) {
  if (modes.empty()) {
    throw UserError("the run has no training step; measure one: scaleworth bench, or step");
  }
  if (!scaling) return modes.front();
  const std::string wanted = mode_name(*scaling);
  const auto found = std::find_if(
      modes.begin(), modes.end(), [&](const MeasuredMode& mode) { return mode.mode == wanted; });
  if (found != modes.end()) return *found;
  throw UserError(fmt::format(
      "the run has no {} scaling, only {}; leave --scaling out", wanted, modes.front().mode));
}

PartTimes parts_of(const MeasuredCount& count, double step) {
  const auto times = model::mean_part_times(count, step);
  if (!times) return {};
  const auto of = [&](Part part) { return (*times)[static_cast<std::size_t>(part)]; };
  return {of(Part::compute) + of(Part::optimizer),
          of(Part::exposed_transfer) + of(Part::progress),
          of(Part::exposed_wait) + of(Part::unattributed),
          std::nullopt,
          of(Part::host)};
}

TableRow row_of(const MeasuredCount& count) {
  TableRow row;
  row.count = count.ranks;
  const Estimate<double> step = median_estimate(count.step_s);
  row.time = transform(step, [](double s) { return Seconds(s); });
  row.relative_sd = relative_sd(count.step_s);
  row.parts_s = parts_of(count, step.value);
  row.work = count.tokens;
  if (count.global_batch > 0) row.facts.batch = static_cast<double>(count.global_batch);
  return row;
}

}  // namespace

ScalingTable run_table(const std::vector<MeasuredMode>& modes, std::optional<Scaling> scaling) {
  const MeasuredMode& mode = mode_of(modes, scaling);
  ScalingTable table;
  table.basis = TimeBasis::step;
  for (const MeasuredCount& count : mode.counts) {
    if (count.straggler_rank) {
      table.remarks.push_back(fmt::format(
          "{} is left out: its rank {} was slowed on purpose", count.ranks, *count.straggler_rank));
    } else {
      table.rows.push_back(row_of(count));
    }
  }
  if (table.rows.empty()) {
    throw UserError("every count of the run has a rank slowed on purpose; measure without it");
  }
  if (!scaling && modes.size() > 1) {
    table.remarks.push_back(
        fmt::format("these are the {} scaling steps; the run has {} ones too: "
                    "--scaling {}",
                    mode.mode,
                    modes.back().mode,
                    modes.back().mode));
  }
  if (table.has_parts()) {
    table.remarks.push_back(
        "parts of the mean rank's step: compute with the optimizer; communication that nothing "
        "hides; idle is waiting and what no record explains");
  }
  return table;
}

}  // namespace scaleworth::decide
