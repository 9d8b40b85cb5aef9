// SPDX-License-Identifier: Apache-2.0
/// Table, run, recordings, attribution JSON, regimes -> table, request; cells as read, the column
/// table, selection.
#pragma once

#include "src/core/attribution.h"
#include "src/core/error.h"
#include "src/model/decision/scaling_table.h"
#include "src/model/decision/sensitivity.h"

#include <cstddef>
#include <optional>
#include <variant>

namespace scaleworth::cli {
using namespace model;

/// Nothing, a number (of a format that has them), or text.
using RawCell = std::variant<std::monostate, double, std::string>;

struct RawRow {
  std::string place;           // "table.csv:3", for messages
  std::vector<RawCell> cells;  // one per column
};

/// A table as it stands in a file, before its columns mean anything.
struct RawTable {
  std::string file;
  std::string place;  // of the header
  std::vector<std::string> columns;
  std::vector<RawRow> rows;
};

/// As it would be written: "0.5", "16B"; empty for nothing.
std::string cell_text(const RawCell& cell);

/// What of a file is the table.
struct TableSelection {
  std::vector<std::string> where;   // "params=16B": only rows with this cell
  std::vector<std::string> rename;  // "load=p": a column under another header
};

struct TableFile {
  ScalingTable table;
  std::vector<std::string> ignored;  // columns that mean nothing here
};

/// The table in `text`, by the name of `file` or its beginning TOML or JSON, else one header line,
/// which may be a comment, over cells that commas, semicolons, tabs or bars divide; at most 100000
/// rows and 1000 columns. Throws UserError with file, row and column for anything else, and for
/// what `assemble` refuses.
TableFile parse_table(std::string_view text,
                      const std::string& file,
                      const TableSelection& selection = {});

/// As `parse_table`; a folder or a run.json is one of our own runs. With `scaling` declared the
/// table is of that, and a run's steps are those. Throws UserError for a file that cannot be read
/// or exceeds 16 MiB (TOML: 4 MiB, a run: 1 GiB).
TableFile read_table(const std::string& path,
                     const TableSelection& selection = {},
                     std::optional<Scaling> scaling = {});

/// In the order of the column table.
enum class Meaning {
  count,
  repeat,
  time,
  compute,
  communication,
  idle,
  host,
  io,
  quality,
  work,
  throughput,
  energy,
  energy_per_work,
  power,
  price,
  latency,
  tensor,
  pipeline,
  context,
  data,
  expert,
  batch,
  replica_batch,
  micro_batch,
  microbatches,
  sequence_length,
  steps,
  identity  // which program, model or machine a row is of
};

/// What a number of a column is of, where its name says so.
enum class Per { unstated, step, run };

struct TableColumn {
  Meaning meaning = Meaning::count;
  std::string name;        // as in the file
  std::string unit;        // "ms", empty for pure numbers
  double factor = 1.0;     // of base units
  std::size_t choice = 0;  // of several columns of one meaning the one with the least is taken
  Per per = Per::unstated;
  bool per_rank = false;  // a throughput of one rank
  bool flops = false;     // a throughput in FLOP/s
  bool relative = false;  // a throughput in parts of an unknown peak
  bool nodes = false;     // a count of nodes
  bool load = false;      // a count of users or requests, not of machines
  std::string latency;    // "ttft_p99"
};

/// Of "time_ms", "comm (s)", "idle [h]", "# GPUs", "tok_per_s_per_gpu" ... in any case; absent for
/// a name that means nothing here. Throws UserError, beginning with `place`, for a time, an energy
/// or a latency without a unit, and for "mj", which may be mega or milli.
std::optional<TableColumn> table_column(const std::string& header, const std::string& place);

std::string known_columns();

/// One per column of a table; absent for one that is left out.
using Columns = std::vector<std::optional<TableColumn>>;

/// The rows of a scaling table. Throws UserError with place and column for a cell that is no finite
/// number, or no integer from 0 to 1e6 where one belongs, and for a count that is missing. Loads of
/// up to six decimals are counted in their greatest common unit, which becomes the column's factor.
std::vector<TableRow> built_rows(const RawTable& table, Columns& columns);

TableKind kind_of(const Columns& columns);

/// The table with columns renamed and the rows wanted. Throws UserError naming those there are.
RawTable select(RawTable table, const TableSelection& selection);

struct ChosenColumns {
  Columns columns;
  std::vector<std::string> ignored;  // fit for a message
};

/// One column per meaning. Throws UserError for a header as in `parse_table`.
ChosenColumns choose_columns(const RawTable& table);

/// "params_B differs between rows (1.7, 3.6 ...)" of the first column that says which program or
/// machine a row is of; absent where all rows are of one.
std::optional<Remark> identity_remark(const RawTable& table, const ChosenColumns& chosen);

/// Whether a count stands twice, in a table that does not name its repeats. Throws UserError where
/// such rows differ in what is no measurement, with that column.
bool has_repeats(const RawTable& table, const ChosenColumns& chosen);

/// What an input is. `answer`: our JSON for other programs; `results`: of nccl-tests; `other`:
/// nothing known, or a pipe, which can be read but once.
enum class InputKind { table, run, recordings, attribution, answer, page, results, other };

/// By its beginning: `other` for what is neither JSON nor HTML.
InputKind kind_of_content(std::string_view text);

/// By name and beginning: a folder without run.json and a pattern that is no file are recordings.
InputKind input_kind(const std::string& input);

/// Throws UserError where `input` is for other commands than `command`, with their names.
void refuse_foreign(const std::string& input, std::string_view command);

/// What `read` returns; where it throws UserError, that of `refuse_foreign` if there is one.
template <class Read>
auto read_for(std::string_view command, const std::vector<std::string>& inputs, Read read) {
  try {
    return read();
  } catch (const UserError&) {
    for (const std::string& input : inputs) refuse_foreign(input, command);
    throw;
  }
}

/// A job by its recordings, or as attribute --format json wrote it. Throws UserError naming the
/// input that cannot be read or attributed.
Attribution attributed_job(const std::string& input);

/// Recordings of one job, one count each: what `scaleworth attribute` takes, or the JSON that it
/// wrote. Throws UserError naming the input that cannot be read or attributed.
ScalingTable recordings_table(const std::vector<std::string>& inputs,
                              std::optional<Scaling> declared);

/// Ways to pay, from the [[regime]] tables of a TOML file. Throws UserError with the line.
std::vector<Regime> parse_regimes(std::string_view text, const std::string& file);
}  // namespace scaleworth::cli
