// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/import_nccl_tests.h"
#include "src/core/files/toml_table.h"

#include <cctype>
#include <cmath>
#include <filesystem>
#include <set>

// Defined by an assembler file that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_imports[];
extern const char scaleworth_asset_imports_end[];
}

namespace scaleworth::cli {
namespace {
/// data/imports.toml, by plain names.
struct ForeignNames {
  std::map<std::string, ForeignValue> text;
  std::map<std::string, ForeignValue> json;
  std::map<std::string, std::string> header;
  std::map<std::string, Collective> collectives;
  std::string headings;  // as they are written, for messages
};

ForeignValue foreign_value(toml_file::Table& row) {
  const std::string name = row.text("name");
  ForeignValue value;
  value.parameter = parameter_of_key(name);
  value.metric = metric_of_key(name);
  value.largest_difference = name == "largest_difference";
  value.unit = row.optional_positive("unit").value_or(1.0);
  const bool known = value.parameter || value.metric || value.largest_difference;
  if (!known && name != "not_kept") row.refuse("no parameter and no metric of this name", "name");
  return value;
}

ForeignNames parse_foreign_names(std::string_view text) {
  toml_file::Table root = toml_file::Table::parse(text, "data/imports.toml");
  ForeignNames names;
  for (toml_file::Table& row : root.tables("collective")) {
    const auto collective = from_key<Collective>(row.text("name"));
    if (!collective) row.refuse("no collective of this name", "name");
    for (const std::string& one : row.texts("foreign"))
      names.collectives[plain_name(one)] = *collective;
  }
  for (toml_file::Table& row : root.tables("value")) {
    const ForeignValue value = foreign_value(row);
    for (const std::string& one : row.texts("text")) {
      names.text[plain_name(one)] = value;
      names.headings += (names.headings.empty() ? "" : ", ") + one;
    }
    for (const std::string& one : row.texts("json")) names.json[plain_name(one)] = value;
  }
  for (toml_file::Table& row : root.tables("header")) {
    const std::string name = row.text("name");
    for (const std::string& one : row.texts("foreign")) names.header[plain_name(one)] = name;
  }
  return names;
}

const ForeignNames& foreign_names() {
  static const ForeignNames names = parse_foreign_names(
      {scaleworth_asset_imports,
       static_cast<std::size_t>(scaleworth_asset_imports_end - scaleworth_asset_imports)});
  return names;
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '_' || c == '-' || c == ' ') continue;
    plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

const ForeignValue* text_column(std::string_view name) {
  return value_at(foreign_names().text, plain_name(name));
}

const ForeignValue* json_member(std::string_view name) {
  return value_at(foreign_names().json, plain_name(name));
}

std::string header_name(std::string_view foreign) {
  const auto* name = value_at(foreign_names().header, plain_name(foreign));
  return name == nullptr ? "" : *name;
}

std::optional<Collective> collective_of_program(std::string_view program) {
  for (const std::string_view ending : {"_mpi", "_perf"})
    if (program.ends_with(ending)) program.remove_suffix(ending.size());
  const auto* found = value_at(foreign_names().collectives, plain_name(program));
  if (found != nullptr) return *found;
  return from_key<Collective>(program);
}

std::string known_columns_of_tests() {
  return foreign_names().headings;
}

bool set_value(TestTiming& timing, const ForeignValue& value, std::optional<double> number) {
  const bool sound = number && std::isfinite(*number) && *number >= 0.0;
  // 100 us divided by a million is the nearest number to 1e-4 s; times 1e-6 it is not.
  const auto in_base_unit = [&](double printed) {
    return value.unit < 1.0 ? printed / (1.0 / value.unit) : printed * value.unit;
  };
  const std::optional<double> scaled = sound ? std::optional(in_base_unit(*number)) : std::nullopt;
  if (value.largest_difference) {
    timing.largest_difference = scaled;
  } else if (value.metric == Metric::time_s) {
    if (scaled && *scaled > 0.0) timing.time.assign(1, *scaled);
  } else if (value.metric == Metric::algorithm_bandwidth) {
    timing.algorithm_bandwidth = scaled;
  } else if (value.metric == Metric::bus_bandwidth) {
    timing.bus_bandwidth = scaled;
  } else if (value.metric == Metric::wrong_elements) {
    timing.wrong_elements = scaled;
  } else {
    return false;
  }
  return true;
}

bool is_consistent(std::int64_t bytes, const TestTiming& timing) {
  if (!timing.algorithm_bandwidth || timing.time.empty()) return true;
  const double time = timing.time.front();
  const double half = 0.51 * timing.time.sampling.resolution;
  const auto size = static_cast<double>(bytes);
  const double slack = 0.51 * timing.bandwidth_resolution + 1e-4 * *timing.algorithm_bandwidth;
  const double low = size / (time + half) - slack;
  const bool below = time <= half || *timing.algorithm_bandwidth <= size / (time - half) + slack;
  return *timing.algorithm_bandwidth >= low && below;
}

std::string library_version(std::int64_t code) {
  // 22809 is 2.28.9; before 2.9 the minor version had one digit: 2708 is 2.7.8.
  const std::int64_t scale = code < 10'000 ? 1000 : 10'000;
  return fmt::format("{}.{}.{}", code / scale, code % scale / 100, code % 100);
}

std::optional<Collective> collective_of_file(const std::string& file) {
  std::string name = plain_name(std::filesystem::path(file).filename().string());
  std::vector<std::pair<std::string, Collective>> known(foreign_names().collectives.begin(),
                                                        foreign_names().collectives.end());
  std::ranges::stable_sort(
      known, std::ranges::greater{}, [](const auto& one) { return one.first.size(); });
  std::set<Collective> found;
  for (const auto& [foreign, collective] : known) {
    for (auto at = name.find(foreign); at != std::string::npos; at = name.find(foreign)) {
      found.insert(collective);
      name.replace(at, foreign.size(), "|");
    }
  }
  return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
}

}  // namespace scaleworth::cli
