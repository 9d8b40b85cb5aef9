// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/columns.h"

#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

enum class Dimension { none, time, energy };

struct Known {
  std::string_view name;
  ColumnMeaning meaning;
  Dimension dimension = Dimension::none;
};

constexpr std::array known{
    Known{"p", ColumnMeaning::count},
    Known{"k", ColumnMeaning::count},
    Known{"n", ColumnMeaning::count},
    Known{"count", ColumnMeaning::count},
    Known{"gpus", ColumnMeaning::count},
    Known{"ranks", ColumnMeaning::count},
    Known{"nodes", ColumnMeaning::count},
    Known{"workers", ColumnMeaning::count},
    Known{"chips", ColumnMeaning::count},
    Known{"slices", ColumnMeaning::count},
    Known{"processors", ColumnMeaning::count},
    Known{"repeat", ColumnMeaning::repeat},
    Known{"time", ColumnMeaning::time, Dimension::time},
    Known{"t", ColumnMeaning::time, Dimension::time},
    Known{"step", ColumnMeaning::time, Dimension::time},
    Known{"iter", ColumnMeaning::time, Dimension::time},
    Known{"wall", ColumnMeaning::time, Dimension::time},
    Known{"compute", ColumnMeaning::compute, Dimension::time},
    Known{"comp", ColumnMeaning::compute, Dimension::time},
    Known{"comm", ColumnMeaning::communication, Dimension::time},
    Known{"communication", ColumnMeaning::communication, Dimension::time},
    Known{"idle", ColumnMeaning::idle, Dimension::time},
    Known{"io", ColumnMeaning::io, Dimension::time},
    Known{"quality", ColumnMeaning::quality},
    Known{"accuracy", ColumnMeaning::quality},
    Known{"work", ColumnMeaning::work},
    Known{"items", ColumnMeaning::work},
    Known{"tokens", ColumnMeaning::work},
    Known{"samples", ColumnMeaning::work},
    Known{"energy", ColumnMeaning::energy, Dimension::energy},
};

struct UnitOf {
  std::string_view name;
  Dimension dimension;
  double factor;
};

constexpr std::array units{
    UnitOf{"us", Dimension::time, 1e-6},
    UnitOf{"ms", Dimension::time, 1e-3},
    UnitOf{"s", Dimension::time, 1.0},
    UnitOf{"min", Dimension::time, 60.0},
    UnitOf{"h", Dimension::time, 3600.0},
    UnitOf{"j", Dimension::energy, 1.0},
    UnitOf{"kj", Dimension::energy, 1e3},
    UnitOf{"mj", Dimension::energy, 1e6},
    UnitOf{"kwh", Dimension::energy, 3.6e6},
};

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

template <class Table>
auto find(const Table& table, std::string_view name) {
  return std::find_if(
      table.begin(), table.end(), [&](const auto& one) { return one.name == name; });
}

struct NameAndUnit {
  std::string name;
  std::string unit;
};

/// "time_ms", "time (ms)" and "time [ms]" as time and ms.
NameAndUnit split(const std::string& header) {
  const std::string text = lower(header);
  const std::size_t bracket = text.find_first_of("([");
  if (bracket != std::string::npos && bracket > 0) {
    const std::size_t close = text.find_first_of(")]", bracket);
    const std::size_t last = text.find_last_not_of(" \t", bracket - 1);
    if (close != std::string::npos && last != std::string::npos) {
      return {text.substr(0, last + 1), text.substr(bracket + 1, close - bracket - 1)};
    }
  }
  const std::size_t underline = text.rfind('_');
  if (underline != std::string::npos && find(units, text.substr(underline + 1)) != units.end()) {
    return {text.substr(0, underline), text.substr(underline + 1)};
  }
  return {text, ""};
}

std::string unit_names(Dimension dimension) {
  std::string names;
  for (const UnitOf& unit : units) {
    if (unit.dimension == dimension) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  }
  return names;
}

int whole(const decide::Observation& row, const TableColumn& column, double value) {
  if (value != std::floor(value) || value < 0.0 || value > most_count) {
    throw UserError(fmt::format("{}: column '{}' is {:g}, not an integer from 0 to {:g}",
                                row.place,
                                column.name,
                                value,
                                most_count));
  }
  return static_cast<int>(value);
}

void put_part(decide::Observation& row, decide::TimePart part, double seconds) {
  row.parts_s[static_cast<std::size_t>(part)] = seconds;
}

}  // namespace

std::optional<TableColumn> table_column(const std::string& header, const std::string& place) {
  const NameAndUnit parts = split(header);
  const auto name = find(known, parts.name);
  if (name == known.end()) return std::nullopt;
  TableColumn column{name->meaning, header, parts.unit, 1.0};
  if (name->dimension == Dimension::none) return column;
  const auto unit = find(units, parts.unit);
  if (unit == units.end() || unit->dimension != name->dimension) {
    throw UserError(
        fmt::format("{}: column '{}' has no unit; write it into the header, as {}_{} "
                    "(known: {})",
                    place,
                    header,
                    parts.name,
                    name->dimension == Dimension::time ? "s" : "j",
                    unit_names(name->dimension)));
  }
  column.factor = unit->factor;
  return column;
}

std::string known_columns() {
  return "p (or gpus, ranks, nodes, workers), time_s, compute_s, comm_s, idle_s, io_s, repeat, "
         "quality, work (or items, tokens), energy_j; times in us, ms, s, min or h";
}

void put(decide::Observation& row, const TableColumn& column, double value) {
  if (!std::isfinite(value)) {
    throw UserError(
        fmt::format("{}: column '{}' is not a finite number; leave the cell empty for "
                    "a value that is missing",
                    row.place,
                    column.name));
  }
  const double base = value * column.factor;
  switch (column.meaning) {
    case ColumnMeaning::count:
      row.count = whole(row, column, value);
      break;
    case ColumnMeaning::repeat:
      row.repeat = whole(row, column, value);
      break;
    case ColumnMeaning::time:
      row.time_s = base;
      break;
    case ColumnMeaning::compute:
      put_part(row, decide::TimePart::compute, base);
      break;
    case ColumnMeaning::communication:
      put_part(row, decide::TimePart::communication, base);
      break;
    case ColumnMeaning::idle:
      put_part(row, decide::TimePart::idle, base);
      break;
    case ColumnMeaning::io:
      put_part(row, decide::TimePart::io, base);
      break;
    case ColumnMeaning::quality:
      row.quality = base;
      break;
    case ColumnMeaning::work:
      row.work = base;
      break;
    case ColumnMeaning::energy:
      row.energy_j = base;
      break;
  }
}

}  // namespace scaleworth::cli
