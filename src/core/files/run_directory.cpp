// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/run_directory.h"

#include "src/core/error.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/json.h"
#include "src/core/run.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace scaleworth {
namespace {
using nlohmann::json;

constexpr const char* remedy = "restore the file or measure again";

/// A key as part of a message: short, and without line breaks or terminal sequences.
std::string printable(std::string_view key) {
  std::string text(key.substr(0, 80));
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

/// A value and how it was reached, so that an error can say where it stands.
class Node {
 public:
  Node(const json& value, const std::string& where) : value_(value), where_(where) {}
  Node(const json& value, const Node& parent, std::string_view key)
      : value_(value), where_(parent.where_), parent_(&parent), key_(key) {}
  Node(const json& value, const Node& parent, std::size_t index)
      : value_(value), where_(parent.where_), parent_(&parent), index_(index) {}

  const json& value() const { return value_; }

  [[noreturn]] void fail(const std::string& problem) const {
    throw UserError(fmt::format("{}: {}: {}; {}", where_, path(), problem, remedy));
  }
  void require(bool right_type, const char* expected) const {
    if (!right_type) fail(fmt::format("expected {}, found {}", expected, value_.type_name()));
  }
  Node member(const char* key) const {
    require(value_.is_object(), "an object");
    const auto found = value_.find(key);
    if (found == value_.end()) fail(fmt::format("lacks \"{}\"", key));
    return {*found, *this, key};
  }
  /// Calls `read(node)` for each element of an array.
  template <class Read>
  void each(Read read) const {
    require(value_.is_array(), "an array");
    for (std::size_t i = 0; i < value_.size(); ++i) read(Node(value_[i], *this, i));
  }
  /// Calls `read(key, node)` for each member of an object.
  template <class Read>
  void each_member(Read read) const {
    require(value_.is_object(), "an object");
    for (const auto& [key, item] : value_.items()) read(key, Node(item, *this, key));
  }
  double number() const {
    require(value_.is_number(), "a number");
    return value_.get<double>();
  }
  std::string text() const {
    require(value_.is_string(), "a string");
    return value_.get<std::string>();
  }
  std::string text_or_null() const { return value_.is_null() ? std::string() : text(); }
  bool flag() const {
    require(value_.is_boolean(), "true or false");
    return value_.get<bool>();
  }

 private:
  std::string path() const {
    if (parent_ == nullptr) return "the document";
    const std::string own = parent_is_array() ? std::to_string(index_) : printable(key_);
    return parent_->parent_ == nullptr ? "/" + own : parent_->path() + "/" + own;
  }
  bool parent_is_array() const { return parent_->value_.is_array(); }

  const json& value_;
  const std::string& where_;
  const Node* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

std::vector<std::string> texts(const Node& node) {
  std::vector<std::string> result;
  node.each([&](const Node& item) { result.push_back(item.text()); });
  return result;
}

std::vector<double> numbers(const Node& node) {
  std::vector<double> result;
  result.reserve(node.value().size());
  node.each([&](const Node& item) { result.push_back(item.number()); });
  return result;
}

std::map<std::string, double> named_numbers(const Node& node) {
  std::map<std::string, double> result;
  node.each_member([&](const std::string& key, const Node& item) { result[key] = item.number(); });
  return result;
}

Value read_value(const Node& node) {
  const json& value = node.value();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>();
  // An integer beyond 64 bits is a double, as any reader of JSON would take it.
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return value.get<double>();
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return node.number();
}

Point read_point(const Node& node) {
  Point point;
  node.member("parameters").each_member([&](const std::string& key, const Node& item) {
    point.parameters[key] = read_value(item);
  });
  point.amounts = named_numbers(node.member("amounts"));
  node.member("samples").each_member(
      [&](const std::string& key, const Node& item) { point.samples[key] = numbers(item); });
  point.stop_reason = node.member("stop_reason").text_or_null();
  point.warnings = texts(node.member("warnings"));
  return point;
}

ProbeRecord read_probe(const Node& node) {
  ProbeRecord probe;
  probe.name = node.member("name").text();
  const Node status = node.member("status");
  const std::optional<ProbeStatus> known = probe_status(status.text());
  if (!known) status.fail("is none of pending, measured, skipped, failed");
  probe.status = *known;
  probe.reason = node.member("reason").text_or_null();
  probe.duration_s = node.member("duration_s").number();
  probe.losses = named_numbers(node.member("losses"));
  probe.warnings = texts(node.member("warnings"));
  node.member("points").each([&](const Node& item) { probe.points.push_back(read_point(item)); });
  return probe;
}

FactSection read_section(const Node& node) {
  FactSection section;
  section.name = node.member("name").text();
  node.member("facts").each([&](const Node& item) {
    const Node value = item.member("value");
    Fact fact;
    fact.name = item.member("name").text();
    if (!value.value().is_null()) fact.value = read_value(value);
    fact.source = item.member("source").text();
    section.facts.push_back(std::move(fact));
  });
  return section;
}

std::vector<std::string> read_files(const Node& node) {
  std::vector<std::string> files;
  node.each([&](const Node& item) {
    std::string name = item.text();
    if (!stays_inside(name)) item.fail("names a file outside the run directory");
    files.push_back(std::move(name));
  });
  return files;
}

int read_version(const Node& node, const std::string& where) {
  node.require(node.value().is_number_integer(), "an integer");
  if (node.number() > run_schema_version) {
    throw UserError(
        fmt::format("{}: schema version {} is newer than {}, the newest that this scaleworth "
                    "reads; update scaleworth",
                    where,
                    node.value().dump(),
                    run_schema_version));
  }
  if (node.number() < 1) node.fail("schema versions start at 1");
  return node.value().get<int>();
}
}  // namespace

Run run_from_json(std::string_view text, const std::string& where) {
  const json document = parse_bounded_json(text, where);
  const Node root(document, where);
  Run run;
  run.schema_version = read_version(root.member("schema_version"), where);
  run.tool_version = root.member("tool_version").text();
  run.git_revision = root.member("git_revision").text();
  run.started_at = root.member("started_at").text();
  run.command_line = texts(root.member("command_line"));
  run.suite = root.member("suite").text();
  run.complete = root.member("complete").flag();
  run.interruption = root.member("interruption").text_or_null();
  run.warnings = texts(root.member("warnings"));
  run.files = read_files(root.member("files"));
  root.member("environment").each([&](const Node& item) {
    run.environment.push_back(read_section(item));
  });
  root.member("probes").each([&](const Node& item) { run.probes.push_back(read_probe(item)); });
  return run;
}

namespace {
using nlohmann::ordered_json;

// Levels that are broken into lines: run, probes, probe, points. Deeper values fill one line each.
constexpr int broken_levels = 4;

double finite(double number, const std::string& place) {
  if (std::isfinite(number)) return number;
  throw ProbeFailure(
      fmt::format("{} is {}: the measurement is broken and is not recorded", place, number));
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json value_json(const Value& value, const std::string& name) {
  if (const double* number = std::get_if<double>(&value)) return finite(*number, name);
  return std::visit([](const auto& held) { return ordered_json(held); }, value);
}

ordered_json numbers_json(const std::map<std::string, double>& numbers) {
  ordered_json result = ordered_json::object();
  for (const auto& [name, number] : numbers) result[name] = finite(number, name);
  return result;
}

ordered_json series_json(const std::string& name, const std::vector<double>& series) {
  ordered_json result = ordered_json::array();
  for (std::size_t i = 0; i < series.size(); ++i) {
    result.push_back(std::isfinite(series[i]) ? series[i]
                                              : finite(series[i], fmt::format("{}[{}]", name, i)));
  }
  return result;
}

ordered_json point_json(const Point& point) {
  ordered_json parameters = ordered_json::object();
  for (const auto& [name, value] : point.parameters) parameters[name] = value_json(value, name);
  ordered_json samples = ordered_json::object();
  for (const auto& [name, series] : point.samples) samples[name] = series_json(name, series);
  return {{"parameters", std::move(parameters)},
          {"amounts", numbers_json(point.amounts)},
          {"samples", std::move(samples)},
          {"stop_reason", text_or_null(point.stop_reason)},
          {"warnings", point.warnings}};
}

ordered_json probe_json(const ProbeRecord& probe) {
  ordered_json points = ordered_json::array();
  for (const Point& point : probe.points) points.push_back(point_json(point));
  return {{"name", probe.name},
          {"status", probe_status_name(probe.status)},
          {"reason", text_or_null(probe.reason)},
          {"duration_s", finite(probe.duration_s, probe.name + " duration_s")},
          {"losses", numbers_json(probe.losses)},
          {"warnings", probe.warnings},
          {"points", std::move(points)}};
}

ordered_json section_json(const FactSection& section) {
  ordered_json facts = ordered_json::array();
  for (const Fact& fact : section.facts) {
    facts.push_back({{"name", fact.name},
                     {"value", fact.value ? value_json(*fact.value, fact.name) : nullptr},
                     {"source", fact.source}});
  }
  return {{"name", section.name}, {"facts", std::move(facts)}};
}

ordered_json run_json(const Run& run) {
  ordered_json environment = ordered_json::array();
  for (const FactSection& section : run.environment) environment.push_back(section_json(section));
  ordered_json probes = ordered_json::array();
  for (const ProbeRecord& probe : run.probes) probes.push_back(probe_json(probe));
  return {{"schema_version", run_schema_version},
          {"tool_version", run.tool_version},
          {"git_revision", run.git_revision},
          {"started_at", run.started_at},
          {"command_line", run.command_line},
          {"suite", run.suite},
          {"complete", run.complete},
          {"interruption", text_or_null(run.interruption)},
          {"warnings", run.warnings},
          {"files", run.files},
          {"environment", std::move(environment)},
          {"probes", std::move(probes)}};
}

std::string compact(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void print(std::string& out, const ordered_json& value, int level) {
  const bool object = value.is_object();
  if (!value.is_structured() || value.empty() || level >= broken_levels ||
      (value.is_array() && !value.front().is_structured())) {
    out += compact(value);
    return;
  }
  const std::string indent(level + 1, ' ');
  out += object ? "{" : "[";
  const char* separator = "\n";
  for (const auto& [key, item] : value.items()) {
    out += separator + indent;
    if (object) out += compact(key) + ": ";
    print(out, item, level + 1);
    separator = ",\n";
  }
  out += "\n" + std::string(level, ' ') + (object ? "}" : "]");
}
}  // namespace

std::string run_to_json(const Run& run) {
  std::string text;
  print(text, run_json(run), 0);
  text += '\n';
  return text;
}

void require_finite(const Point& point) {
  for (const auto& [name, value] : point.parameters) {
    if (const double* number = std::get_if<double>(&value)) finite(*number, name);
  }
  for (const auto& [name, number] : point.amounts) finite(number, name);
  for (const auto& [name, series] : point.samples) {
    for (std::size_t i = 0; i < series.size(); ++i) {
      if (!std::isfinite(series[i])) finite(series[i], fmt::format("{}[{}]", name, i));
    }
  }
}

namespace {
namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30;
// 1 / 5 %: the pause between two saves in units of what one costs.
constexpr int pause_per_cost = 20;

[[noreturn]] void cannot_read(const fs::path& file, const std::string& cause) {
  throw UserError(fmt::format(
      "cannot read {}: {}; give a run directory or its run.json", file.string(), cause));
}

std::string contents_of(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) cannot_read(file, std::strerror(error ? error.value() : ENOENT));
  if (!fs::is_regular_file(status)) cannot_read(file, "it is not a regular file");
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) cannot_read(file, error.message());
  if (size > largest_file) {
    cannot_read(file, fmt::format("{} MiB are more than the limit of 1 GiB", size >> 20));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(size, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size))) {
    cannot_read(file, std::strerror(errno));
  }
  return text;
}
}  // namespace

RunDirectory::RunDirectory(fs::path path, Seconds least_interval)
    : path_(std::move(path)), least_interval_(least_interval) {
  make_directory(path_);
  std::error_code error;
  if (fs::exists(path_ / run_file_name, error)) {
    throw UserError(fmt::format(
        "{} already holds a run; choose another directory or remove that one", path_.string()));
  }
}

RunDirectory::Milestone RunDirectory::milestone_of(const Run& run) {
  const auto ended = std::count_if(run.probes.begin(), run.probes.end(), [](const auto& probe) {
    return probe.status != ProbeStatus::pending;
  });
  return {static_cast<std::size_t>(ended), run.complete, run.interruption};
}

void RunDirectory::save(const Run& run) {
  const steady_clock::time_point start = steady_clock::now();
  Milestone milestone = milestone_of(run);
  if (saved_ == milestone && start < next_save_) return;
  write_file_atomically(path_ / run_file_name, run_to_json(run));
  saved_ = std::move(milestone);
  const steady_clock::time_point end = steady_clock::now();
  const std::chrono::duration<double> least(least_interval_.value());
  next_save_ = end + std::max(std::chrono::duration_cast<steady_clock::duration>(least),
                              pause_per_cost * (end - start));
}

fs::path RunDirectory::inside(const std::string& name) const {
  if (!stays_inside(name) || name == run_file_name) {
    throw std::invalid_argument("no file beside run.json: '" + name + "'");
  }
  return path_ / name;
}

void RunDirectory::append_rows(const std::string& name,
                               const std::vector<std::string>& header,
                               const std::vector<std::vector<std::string>>& rows) {
  const fs::path file = inside(name);
  const bool first = tables_.count(name) == 0;
  std::string lines = first ? csv_line(header) : std::string();
  for (const std::vector<std::string>& row : rows) {
    if (row.size() != header.size())
      throw std::invalid_argument("append_rows: a row of " + name + " does not match its header");
    lines += csv_line(row);
  }
  append_to_file(file, lines, first ? Existing::refuse : Existing::append);
  tables_.insert(name);
}

void RunDirectory::write_file(const std::string& name, std::string_view contents) {
  const fs::path file = inside(name);
  make_directory(file.parent_path());
  write_file_atomically(file, contents);
}

Run read_run(const fs::path& path) {
  std::error_code error;
  const fs::path file = fs::is_directory(path, error) ? path / run_file_name : path;
  return run_from_json(contents_of(file), file.string());
}

namespace {
std::string format_utc(std::chrono::system_clock::time_point time, const char* format) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}
}  // namespace

std::string utc_text(std::chrono::system_clock::time_point time) {
  return format_utc(time, "%Y-%m-%dT%H:%M:%SZ");
}

std::filesystem::path default_run_directory(std::chrono::system_clock::time_point time,
                                            std::string_view host) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  std::string name = format_utc(time, "%Y%m%dT%H%M%SZ-");
  for (const char c : host) name += allowed.find(c) == std::string_view::npos ? '-' : c;
  return std::filesystem::path("scaleworth-runs") / name;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

bool stays_inside(const std::string& name) {
  const std::filesystem::path path(name);
  return !name.empty() && path.is_relative() && path.has_filename() &&
         name.find('\0') == std::string::npos &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}
}  // namespace scaleworth
