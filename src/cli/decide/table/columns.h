// SPDX-License-Identifier: Apache-2.0
/// What the columns of a scaling table mean, by name and unit in the header.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace scaleworth::cli {

enum class ColumnMeaning {
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
  ColumnMeaning meaning = ColumnMeaning::count;
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

/// "time_ms", "comm (s)", "idle [h]", "# GPUs", "energy_kj", "tok_per_s_per_gpu", "p99_ttft_ms",
/// ... in any case; absent for a name that means nothing here. Throws UserError, beginning with
/// `place`, for a time, an energy or a latency without a unit, and for "mj", which may be mega or
/// milli.
std::optional<TableColumn> table_column(const std::string& header, const std::string& place);

/// Of several columns with this meaning one is taken and the others are left; of any other meaning
/// only one may stand.
bool may_choose(ColumnMeaning meaning);

/// The known names, for help and messages.
std::string known_columns();

}  // namespace scaleworth::cli
