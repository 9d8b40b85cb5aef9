// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table/row_builder.h"

#include "src/core/error.h"
#include "src/core/toml/node.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

using decide::Observation;
using toml_file::printable;

/// What a row needs before it is an observation.
struct Draft {
  Observation row;
  std::optional<double> steps;
  std::optional<double> replica_batch;
  std::optional<double> micro_batch;
  bool parts_per_step = false;
  bool parts_per_run = false;
};

[[noreturn]] void refuse(const std::string& place,
                         const TableColumn& column,
                         const std::string& what) {
  throw UserError(fmt::format("{}: column '{}' {}", place, printable(column.name), what));
}

double number_in(const RawCell& cell, const TableColumn& column, const std::string& place) {
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  const auto& text = std::get<std::string>(cell);
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && rest == end) return value;
  const bool starts_with_number = error == std::errc{} && rest != text.data();
  const std::string unit = column.unit.empty() ? "" : " (" + printable(column.unit) + ")";
  refuse(place,
         column,
         fmt::format("is '{}', not a number{}",
                     printable(text),
                     starts_with_number
                         ? fmt::format("; the header gives the unit{} for all its cells", unit)
                         : "; leave the cell empty for a value that is missing"));
}

int whole(double value, const TableColumn& column, const std::string& place) {
  if (value != std::floor(value) || value < 0.0 || value > most_count) {
    refuse(place, column, fmt::format("is {:g}, not an integer from 0 to {:g}", value, most_count));
  }
  return static_cast<int>(value);
}

void put_part(Draft& draft, decide::TimePart part, const TableColumn& column, double seconds) {
  draft.row.parts_s[static_cast<std::size_t>(part)] = seconds;
  draft.parts_per_step = draft.parts_per_step || column.per == Per::step;
  draft.parts_per_run = draft.parts_per_run || column.per == Per::run;
}

void put_integer(Draft& draft, const TableColumn& column, int value) {
  decide::Layout& layout = draft.row.facts.layout;
  switch (column.meaning) {
    case ColumnMeaning::count:
      draft.row.count = value;
      break;
    case ColumnMeaning::tensor:
      layout.tensor = value;
      break;
    case ColumnMeaning::pipeline:
      layout.pipeline = value;
      break;
    case ColumnMeaning::context:
      layout.context = value;
      break;
    case ColumnMeaning::data:
      layout.data = value;
      break;
    default:
      layout.expert = value;
      break;
  }
}

/// Numbers of the run as a whole; `value` in base units.
void put_number(Draft& draft, const TableColumn& column, double value) {
  Observation& row = draft.row;
  switch (column.meaning) {
    case ColumnMeaning::time:
      row.time_s = value;
      break;
    case ColumnMeaning::compute:
      put_part(draft, decide::TimePart::compute, column, value);
      break;
    case ColumnMeaning::communication:
      put_part(draft, decide::TimePart::communication, column, value);
      break;
    case ColumnMeaning::idle:
      put_part(draft, decide::TimePart::idle, column, value);
      break;
    case ColumnMeaning::host:
      put_part(draft, decide::TimePart::host, column, value);
      break;
    case ColumnMeaning::io:
      put_part(draft, decide::TimePart::io, column, value);
      break;
    case ColumnMeaning::quality:
      row.quality = value;
      break;
    case ColumnMeaning::work:
      row.work = value;
      break;
    case ColumnMeaning::throughput:
      row.throughput = value;
      break;
    case ColumnMeaning::energy:
      row.energy_j = value;
      break;
    default:
      row.energy_per_work_j = value;
      break;
  }
}

void put_fact(Draft& draft, const TableColumn& column, double value) {
  decide::RowFacts& facts = draft.row.facts;
  switch (column.meaning) {
    case ColumnMeaning::power:
      facts.power_w = value;
      break;
    case ColumnMeaning::price:
      facts.price = dollars_per_hour(value);
      break;
    case ColumnMeaning::latency:
      facts.latencies.push_back({column.latency, value});
      break;
    case ColumnMeaning::batch:
      facts.batch = value;
      break;
    case ColumnMeaning::replica_batch:
      draft.replica_batch = value;
      break;
    case ColumnMeaning::micro_batch:
      draft.micro_batch = value;
      break;
    case ColumnMeaning::microbatches:
      facts.microbatches = value;
      break;
    case ColumnMeaning::sequence_length:
      facts.sequence_length = value;
      break;
    default:
      draft.steps = value;
      break;
  }
}

bool is_integer(ColumnMeaning meaning) {
  return meaning == ColumnMeaning::count ||
         (meaning >= ColumnMeaning::tensor && meaning <= ColumnMeaning::expert);
}

/// Parts of one step under a time of a run, or the other way round, brought to the time's basis.
void match_parts(Draft& draft, bool time_per_step) {
  const bool to_run = draft.parts_per_step && draft.row.time_s && !time_per_step;
  const bool to_step = draft.parts_per_run && draft.row.time_s && time_per_step;
  if (!to_run && !to_step) return;
  if (!draft.steps || !(*draft.steps > 0.0)) {
    throw UserError(fmt::format(
        "{}: the parts are of one {}, the time is of one {}; add a column steps with the number of "
        "steps of the run",
        draft.row.place,
        to_run ? "step" : "run",
        to_run ? "run" : "step"));
  }
  for (auto& part : draft.row.parts_s) {
    if (part) part = to_run ? *part * *draft.steps : *part / *draft.steps;
  }
}

/// Batch and microbatches from the batch of a replica and of a microbatch.
void complete_batch(Draft& draft) {
  decide::RowFacts& facts = draft.row.facts;
  const auto& replicas = facts.layout.data;
  if (!replicas || *replicas < 1) return;
  if (!facts.batch && draft.replica_batch) facts.batch = *draft.replica_batch * *replicas;
  const bool known = facts.batch && draft.micro_batch && *draft.micro_batch > 0.0;
  if (facts.microbatches || !known) return;
  facts.microbatches = *facts.batch / (*replicas * *draft.micro_batch);
}

}  // namespace

RowBuilder::RowBuilder(std::vector<std::optional<TableColumn>> columns)
    : columns_(std::move(columns)) {}

int RowBuilder::repeat_of(const RawCell& cell,
                          const TableColumn& column,
                          const std::string& place) {
  const auto* text = std::get_if<std::string>(&cell);
  const bool number = !text || text->find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (number) return whole(number_in(cell, column, place), column, place);
  return repeats_
      .emplace(*text, static_cast<int>(repeats_.size()) + static_cast<int>(most_count) + 1)
      .first->second;
}

Observation RowBuilder::build(const RawRow& raw) {
  Draft draft;
  draft.row.place = raw.place;
  bool per_rank = false;
  bool time_per_step = false;
  bool load = false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i] || columns_[i]->meaning == ColumnMeaning::identity) continue;
    const TableColumn& column = *columns_[i];
    const RawCell& cell = raw.cells[i];
    const bool empty = std::holds_alternative<std::monostate>(cell) || cell == RawCell{""};
    if (empty) {
      if (column.meaning == ColumnMeaning::count) refuse(raw.place, column, "is empty");
      continue;
    }
    if (column.meaning == ColumnMeaning::repeat) {
      draft.row.repeat = repeat_of(cell, column, raw.place);
      continue;
    }
    const double value = number_in(cell, column, raw.place);
    if (!std::isfinite(value) || !std::isfinite(value * column.factor)) {
      refuse(raw.place,
             column,
             "is not a finite number; leave the cell empty for a value that is missing");
    }
    per_rank = per_rank || column.per_rank;
    load = load || column.load;
    time_per_step =
        time_per_step || (column.meaning == ColumnMeaning::time && column.per == Per::step);
    if (is_integer(column.meaning)) {
      put_integer(draft, column, whole(value, column, raw.place));
    } else if (column.meaning <= ColumnMeaning::energy_per_work) {
      put_number(draft, column, value * column.factor);
    } else {
      put_fact(draft, column, value * column.factor);
    }
  }
  if (per_rank && !load && draft.row.throughput) {
    draft.row.throughput = *draft.row.throughput * draft.row.count;
  }
  match_parts(draft, time_per_step);
  complete_batch(draft);
  return draft.row;
}

decide::TableKind RowBuilder::kind() const {
  decide::TableKind kind;
  bool timed = false;
  bool parts_of_step = false;
  for (const auto& column : columns_) {
    if (!column) continue;
    const bool of_step = column->per == Per::step;
    if (column->load) kind.axis = decide::Axis::load;
    if (column->nodes) kind.axis = decide::Axis::nodes;
    if (column->meaning == ColumnMeaning::time) {
      timed = true;
      if (of_step) kind.basis = decide::TimeBasis::step;
    }
    parts_of_step = parts_of_step || (column->meaning == ColumnMeaning::compute && of_step);
  }
  if (!timed && parts_of_step) kind.basis = decide::TimeBasis::step;
  return kind;
}

}  // namespace scaleworth::cli
