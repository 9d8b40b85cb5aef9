// SPDX-License-Identifier: Apache-2.0
#include "trace/format/frameworks/dialect.h"

#include "src/core/toml/table.h"
#include "trace/format/json/number.h"

#include <algorithm>

// Defined by an assembler file that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_timelines[];
extern const char scaleworth_asset_timelines_end[];
}

namespace scaleworth::trace {

namespace {

constexpr std::int64_t most_ranks = 1'000'000;  // of one kind; beyond is no rank's number

TimelineDialect read_dialect(toml_file::Table& table) {
  TimelineDialect dialect;
  dialect.name = table.text("name");
  dialect.known_by = table.texts("known_by");
  if (dialect.known_by.empty())
    table.refuse("known_by needs a name by which such files are told from others");
  dialect.track = table.text("track");
  if (dialect.track.find("{pipeline}") == std::string::npos)
    table.refuse("track needs {pipeline}, the number of the pipeline stage", "track");
  dialect.step = table.text("step");
  if (dialect.step.empty() || dialect.step.size() > 60)
    table.refuse("step is the name of an argument, of at most 60 letters", "step");
  dialect.communication = table.texts("communication");
  dialect.host = table.texts("host");
  for (auto& operation : table.tables("operation")) {
    const auto name = operation.text("name");
    const auto kind = attribution::parse_collective_kind(operation.text("collective"));
    if (!kind) operation.refuse("is no kind of communication", "collective");
    dialect.collectives[name] = *kind;
    operation.finish();
  }
  table.finish();
  return dialect;
}

/// Takes the digits at the front of `text`; absent when there are none or too many.
std::optional<std::int32_t> take_number(std::string_view& text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = parse_integer(text.substr(0, digits));
  if (!value || *value >= most_ranks) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<std::int32_t>(*value);
}

}  // namespace

std::vector<TimelineDialect> parse_timelines(std::string_view toml, const std::string& origin) {
  auto root = toml_file::Table::parse(toml, origin);
  std::vector<TimelineDialect> dialects;
  for (auto& table : root.tables("timeline")) dialects.push_back(read_dialect(table));
  root.finish();
  return dialects;
}

std::vector<TimelineDialect> built_in_timelines() {
  const std::string_view toml(
      scaleworth_asset_timelines,
      static_cast<std::size_t>(scaleworth_asset_timelines_end - scaleworth_asset_timelines));
  return parse_timelines(toml, "timelines.toml");
}

const TimelineDialect* find_timeline(const std::vector<TimelineDialect>& dialects,
                                     std::string_view front) {
  for (const auto& dialect : dialects) {
    const auto occurs = [&](const std::string& name) {
      return front.find('"' + name + '"') != std::string_view::npos;
    };
    if (std::all_of(dialect.known_by.begin(), dialect.known_by.end(), occurs)) return &dialect;
  }
  return nullptr;
}

std::optional<TrackName> parse_track(std::string_view pattern, std::string_view name) {
  TrackName track;
  while (!pattern.empty()) {
    const auto brace = std::min(pattern.find('{'), pattern.size());
    if (!name.starts_with(pattern.substr(0, brace))) return std::nullopt;
    name.remove_prefix(brace);
    pattern.remove_prefix(brace);
    if (pattern.empty()) break;
    const auto close = std::min(pattern.find('}'), pattern.size() - 1);
    const auto field = pattern.substr(0, close + 1);
    pattern.remove_prefix(field.size());
    if (field == "{class}") {
      // Up to what follows it in the pattern.
      const auto literal = pattern.substr(0, pattern.find('{'));
      const auto end = literal.empty() ? name.size() : name.find(literal);
      if (end == std::string_view::npos) return std::nullopt;
      track.track_class = name.substr(0, end);
      name.remove_prefix(end);
      continue;
    }
    const auto number = take_number(name);
    if (!number) return std::nullopt;
    if (field == "{pipeline}") track.pipeline = *number;
    if (field == "{tensor}") track.tensor = *number;
    if (field == "{data}") track.data = *number;
  }
  if (!name.empty()) return std::nullopt;
  return track;
}

}  // namespace scaleworth::trace
