// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a scaling table: refused with one line, or rows that a decision can be made on.
#include "src/cli/input/table_input.h"
#include "src/core/error.h"
#include "src/model/decision/decision.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void decide_on(const scaleworth::cli::TableFile& file) {
  using namespace scaleworth;
  if (file.table.rows.empty()) std::abort();
  int last = 0;
  for (const model::TableRow& row : file.table.rows) {
    if (row.count <= last || !(row.time.value.value() > 0.0)) std::abort();
    last = row.count;
  }
  model::DecisionRequest request;
  request.metrics.prices = model::Prices{DollarsPerSecond(1.0), DollarsPerSecond(0.5)};
  model::decide_table(file.table, request);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace scaleworth;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* file : {"table.csv", "table.toml", "table.json"}) {
    try {
      decide_on(cli::parse_table(text, file));
    } catch (const UserError&) {
    }
  }
  return 0;
}
