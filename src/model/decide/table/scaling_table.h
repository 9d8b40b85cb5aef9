// SPDX-License-Identifier: Apache-2.0
/// A scaling table: what one job took at several counts, however it was come by.
#pragma once

#include "src/core/estimate.h"
#include "src/core/units.h"
#include "src/model/decide/table/recorded/ledger_facts.h"
#include "src/model/decide/table/row_facts.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace scaleworth::decide {

/// Where a run's time may go; `host` is a processor without work because its host was late.
enum class TimePart : std::size_t { compute, communication, idle, io, host };
inline constexpr std::size_t time_parts = 5;
/// In the order in which they are told.
inline constexpr std::array all_time_parts{
    TimePart::compute, TimePart::communication, TimePart::idle, TimePart::host, TimePart::io};
/// "compute", "communication", "idle", "host", "I/O".
const char* time_part_name(TimePart part);

/// Seconds by part; absent where the table has no such column.
using PartTimes = std::array<std::optional<double>, time_parts>;

/// What a table's times are of.
enum class TimeBasis {
  run,        // the work of a whole run
  step,       // one step
  work_unit,  // some units of work, by the reciprocal of a throughput
};

/// What counts the rows: machines to buy, or a load that one machine serves.
enum class Axis { ranks, nodes, load };

/// One line of a table as it was read. Numbers are in base units and finite.
struct Observation {
  std::string place;  // "strong.csv:3", for complaints
  int count = 1;
  std::optional<double> time_s;
  PartTimes parts_s{};
  std::optional<double> quality;
  std::optional<double> work;        // items, tokens
  std::optional<double> throughput;  // work per second, all ranks together
  std::optional<double> energy_j;
  std::optional<double> energy_per_work_j;
  RowFacts facts;
  std::optional<int> repeat;  // named by the table, so that a count may occur again
};

/// One count, its repeats together.
struct TableRow {
  int count = 1;
  Estimate<Seconds> time;
  std::optional<double> relative_sd;  // of the repeats, from two on
  PartTimes parts_s{};                // they add up to `time`
  std::optional<double> quality;      // least of the repeats
  std::optional<double> work;
  /// Work over that of the smallest count, where it is declared and not counted.
  std::optional<double> growth;
  std::optional<double> energy_j;
  std::optional<double> energy_per_work_j;
  RowFacts facts;

  bool has_parts() const;
};

/// Ascending by count, at least one row.
struct ScalingTable {
  std::vector<TableRow> rows;
  TimeBasis basis = TimeBasis::run;
  Axis axis = Axis::ranks;
  std::vector<std::string> remarks;    // what was concluded from the columns
  std::vector<LedgerFacts> ledgers{};  // ascending by count; of recordings only

  /// Every row has parts.
  bool has_parts() const;
};

/// Parts may miss their sum by this share of the time: printed tables are rounded.
inline constexpr double parts_tolerance = 0.005;

/// Derived work within this share of equal is equal: published rates are rounded.
inline constexpr double rounding_tolerance = 0.02;

/// What the columns say of all rows.
struct TableKind {
  TimeBasis basis = TimeBasis::run;
  Axis axis = Axis::ranks;
};

/// Throws UserError with the place of the first row that `assemble` refuses by itself.
void check_rows(const std::vector<Observation>& observations, Axis axis);

/// Repeats of a count become the median with its order-statistic interval (absent below six). A
/// time that is missing is the sum of the parts; where no row has a time it is work / throughput,
/// of a power of 1000 units where none is given. Work that is missing is time x throughput, or the
/// batch of a step, where these grow. Compute that no row has is what the other parts leave. Throws
/// UserError with the place of: a count below 1, a time that is not positive, a negative part,
/// parts that do not add up to the time, a count that occurs twice without repeats, or a repeat
/// that does, work, throughput, energy or a latency that is not positive, work or facts that differ
/// between repeats, and a layout that is not the count.
ScalingTable assemble(const std::vector<Observation>& observations, TableKind kind = {});

/// The table of a run of `work` units, where its times are those of some units or of steps whose
/// work is known; else as it is. Throws UserError for work that is not above 0.
ScalingTable of_work(ScalingTable table, double work);

}  // namespace scaleworth::decide
