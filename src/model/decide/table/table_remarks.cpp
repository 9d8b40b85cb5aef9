// SPDX-License-Identifier: Apache-2.0
#include "src/model/decide/table/table_remarks.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::decide {
namespace {

std::string basis_remark(const ScalingTable& table) {
  if (table.basis == TimeBasis::step && table.rows.front().work) {
    return "times and costs are those of one step; --work N gives those of a run of N units "
           "(tokens, "
           "items) in such steps";
  }
  if (table.basis != TimeBasis::work_unit) return "";
  return fmt::format(
      "no time in the table: times are those of 10^{:.0f} units of work, by the throughput; --work "
      "N "
      "gives those of a whole run",
      std::log10(*table.rows.front().work));
}

std::string batch_remark(const ScalingTable& table) {
  const TableRow& first = table.rows.front();
  const TableRow& last = table.rows.back();
  if (!first.facts.batch || !last.facts.batch || *first.facts.batch == *last.facts.batch) return "";
  const std::string change =
      fmt::format("the batch goes from {:g} to {:g}", *first.facts.batch, *last.facts.batch);
  if (!first.work || !last.work) {
    return change +
           ", and times are compared as they are: name the column step_s if each is one step's, so "
           "that the batch counts as its work";
  }
  return change +
         ": figures compare the work per second of a step; a larger batch may need more work to "
         "the same quality, which only runs to that quality show";
}

std::string layout_remark(const ScalingTable& table) {
  const auto fixed_part = [](const TableRow& row) { return layout_of_replica(row.facts.layout); };
  const TableRow& first = table.rows.front();
  const auto other = std::find_if(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
    return !(fixed_part(row) == fixed_part(first));
  });
  if (other == table.rows.end()) return "";
  const auto text = [](const Layout& layout) {
    return layout.empty() ? "none given" : layout_text(layout);
  };
  return fmt::format(
      "the layout changes with the count ({} at {}, {} at {}): an envelope of the best of each, "
      "which no law of one layout describes; fit one layout at a time",
      text(fixed_part(first)),
      first.count,
      text(fixed_part(*other)),
      other->count);
}

std::string axis_remark(const ScalingTable& table) {
  if (table.axis != Axis::load) return "";
  return "the rows are loads of one machine: efficiency is throughput against load, and a larger "
         "count buys nothing";
}

}  // namespace

std::vector<std::string> table_remarks(const ScalingTable& table) {
  std::vector<std::string> remarks = table.remarks;
  for (const auto& remark :
       {axis_remark(table), basis_remark(table), batch_remark(table), layout_remark(table)}) {
    if (!remark.empty()) remarks.push_back(remark);
  }
  return remarks;
}

}  // namespace scaleworth::decide
