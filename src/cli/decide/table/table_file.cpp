// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/table/table_file.h"

#include "src/cli/decide/table/row_builder.h"
#include "src/cli/decide/table/selection.h"
#include "src/core/error.h"
#include "src/core/run/run_directory.h"
#include "src/core/toml/table.h"
#include "src/model/decide/table/run_table.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

constexpr std::uintmax_t most_bytes = 16U << 20U;

std::string read_whole(const std::string& path) {
  std::error_code trouble;
  const std::uintmax_t size = std::filesystem::file_size(path, trouble);
  if (trouble) throw UserError(fmt::format("{}: {}", path, trouble.message()));
  if (size > most_bytes) {
    throw UserError(
        fmt::format("{}: {} bytes; a scaling table has at most {}", path, size, most_bytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) throw UserError(path + ": cannot be read");
  return text;
}

bool is_run(const std::string& path) {
  return std::filesystem::is_directory(path) ||
         std::filesystem::path(path).filename() == "run.json";
}

RawTable read_raw(const std::string& path) {
  if (path.ends_with(".toml")) return parse_toml(toml_file::read_small_file(path), path);
  const std::string text = read_whole(path);
  return path.ends_with(".json") ? parse_json(text, path) : parse_csv(text, path);
}

/// Ratios of a utilisation are those of throughputs; its times are of nothing.
std::string relative_remark(const ChosenColumns& chosen) {
  for (const auto& column : chosen.columns) {
    if (!column || !column->relative) continue;
    return fmt::format(
        "{} x count stands for the throughput, in parts of a peak: ratios hold, times and costs "
        "are "
        "relative",
        column->name);
  }
  return "";
}

}  // namespace

TableFile interpret_table(RawTable raw, const TableSelection& selection) {
  const RawTable table = select(std::move(raw), selection);
  const ChosenColumns chosen = choose_columns(table);
  RowBuilder builder(chosen.columns);
  std::vector<decide::Observation> rows;
  rows.reserve(table.rows.size());
  for (const RawRow& row : table.rows) rows.push_back(builder.build(row));
  decide::check_rows(rows, builder.kind().axis);
  refuse_twice(table, chosen);
  TableFile file{decide::assemble(rows, builder.kind()), chosen.ignored};
  const std::string identity = identity_remark(table, chosen);
  if (!identity.empty()) file.table.remarks.push_back(identity);
  const std::string relative = relative_remark(chosen);
  const bool timed = file.table.basis != decide::TimeBasis::work_unit;
  if (!relative.empty() && !timed) file.table.remarks.push_back(relative);
  return file;
}

TableFile parse_csv_table(std::string_view text, const std::string& file) {
  return interpret_table(parse_csv(text, file));
}

TableFile parse_toml_table(std::string_view text, const std::string& file) {
  return interpret_table(parse_toml(text, file));
}

TableFile parse_json_table(std::string_view text, const std::string& file) {
  return interpret_table(parse_json(text, file));
}

TableFile read_table(const std::string& path,
                     const TableSelection& selection,
                     std::optional<decide::Scaling> scaling) {
  if (is_run(path)) {
    if (!selection.where.empty() || !selection.rename.empty()) {
      throw UserError(
          "--where and --rename choose from a table; leave them out for a run directory");
    }
    return {decide::run_table(model::measured_modes(read_run(path)), scaling), {}};
  }
  TableFile file = interpret_table(read_raw(path), selection);
  if (scaling) file.table = decide::declare_scaling(std::move(file.table), *scaling);
  return file;
}

}  // namespace scaleworth::cli
