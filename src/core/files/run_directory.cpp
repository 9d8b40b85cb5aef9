// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/run_directory.h"

#include "src/core/error.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
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

/// Takes the members of an object by the same list that `Fields` writes them by.
class Reader {
 public:
  explicit Reader(const Node& node) : node_(node) {}

  template <class V>
  void operator()(const char* key, V& value, const char*, const FieldOptions& options = {}) const {
    read(node_.member(key), value, options);
  }
  template <class V>
  void operator()(const char* key, V& value, const FieldOptions& options = {}) const {
    read(node_.member(key), value, options);
  }
  template <class T, class Members>
  void array(const char* key, std::vector<T>& values, Members members, const char* = "") const {
    node_.member(key).each([&](const Node& item) {
      const Reader one(item);
      members(one, values.emplace_back());
    });
  }

 private:
  static void read(const Node& node, std::string& value, const FieldOptions& options) {
    if (!options.or_null || !node.value().is_null()) value = node.text();
  }
  static void read(const Node& node, bool& value, const FieldOptions&) { value = node.flag(); }
  static void read(const Node& node, double& value, const FieldOptions&) { value = node.number(); }
  static void read(const Node& node, Value& value, const FieldOptions&) {
    value = read_value(node);
  }
  static void read(const Node& node, std::optional<Value>& value, const FieldOptions&) {
    if (!node.value().is_null()) value = read_value(node);
  }
  static void read(const Node& node, ProbeStatus& value, const FieldOptions&) {
    const std::optional<ProbeStatus> status = probe_status(node.text());
    if (!status) node.fail("is none of pending, measured, skipped, failed");
    value = *status;
  }
  template <class V>
  static void read(const Node& node, std::vector<V>& values, const FieldOptions& options) {
    values.reserve(node.value().size());
    node.each([&](const Node& item) { read(item, values.emplace_back(), options); });
  }
  template <class V>
  static void read(const Node& node,
                   std::map<std::string, V>& values,
                   const FieldOptions& options) {
    node.each_member(
        [&](const std::string& key, const Node& item) { read(item, values[key], options); });
  }

  const Node& node_;
};

// The members of run.json, one list per struct: read by `Reader`, written and described by
// `Fields`.

constexpr auto section_fields = [](auto& fields, auto& section) {
  fields("name", section.name);
  fields.array("facts", section.facts, [](auto& members, auto& fact) {
    members("name", fact.name);
    members("value", fact.value, "null: could not be had, for the reason in source.");
    members("source", fact.source, "Where the value was read, or why there is none.");
  });
};

constexpr auto point_fields = [](auto& fields, auto& point) {
  fields("parameters", point.parameters, "The setting.");
  fields("amounts", point.amounts, "Exactly known amounts of one sample: FLOPs, bytes, tokens.");
  fields("samples",
         point.samples,
         "Series by name, in the order taken; the same index is the same repetition.");
  fields("stop_reason", point.stop_reason, "Why sampling ended.", or_null);
  fields("warnings", point.warnings);
};

void status_field(const Reader& fields, ProbeStatus& status) {
  fields("status", status);
}

void status_field(Fields& fields, ProbeStatus status) {
  fields("status",
         probe_status_name(status),
         "pending: asked for, not finished before the run ended.",
         one_of("pending|measured|skipped|failed"));
}

constexpr auto probe_fields = [](auto& fields, auto& probe) {
  fields("name", probe.name);
  status_field(fields, probe.status);
  fields("reason", probe.reason, "Why it was skipped or failed.", or_null);
  fields("duration_s", probe.duration_s);
  fields("losses",
         probe.losses,
         "Discarded samples, dropped records, unattributed time; units in the names.");
  fields("warnings", probe.warnings);
  fields.array("points", probe.points, point_fields, "Raw samples taken at one setting each.");
};

constexpr auto run_fields = [](auto& fields, auto& run) {
  fields("tool_version", run.tool_version);
  fields("git_revision", run.git_revision);
  fields("started_at", run.started_at, "ISO 8601, UTC.");
  fields("command_line", run.command_line);
  fields("suite", run.suite, "How thorough the run was: quick or standard.");
  fields(
      "complete", run.complete, "false until the last probe has ended; a killed run stays false.");
  fields("interruption", run.interruption, "Why the run ended early.", or_null);
  fields("warnings", run.warnings);
  fields("files", run.files, "Files beside run.json, relative to its directory.");
  fields.array("environment", run.environment, section_fields);
  fields.array("probes", run.probes, probe_fields, "Every probe that was asked for.");
};

constexpr JsonHead run_head{
    "run.schema.json",
    "run.json of scaleworth",
    "What one invocation measured: environment, probes with their outcomes, raw samples, losses. "
    "Statistics are never stored; they are recomputed from the samples. Units are in the names: _s "
    "seconds, _ns nanoseconds, _bytes bytes. A value that could not be had is null.",
    run_schema_version,
    nullptr};

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
  const Reader reader(root);
  run_fields(reader, run);
  const Node files = root.member("files");
  for (std::size_t i = 0; i < run.files.size(); ++i) {
    if (stays_inside(run.files[i])) continue;
    Node(files.value()[i], files, i).fail("names a file outside the run directory");
  }
  return run;
}

namespace {
using nlohmann::ordered_json;

// Levels that are broken into lines: run, probes, probe, points. Deeper values fill one line each.
constexpr int broken_levels = 4;

void require_finite(double number, const std::string& place) {
  if (std::isfinite(number)) return;
  throw ProbeFailure(
      fmt::format("{} is {}: the measurement is broken and is not recorded", place, number));
}

void require_finite(const Value& value, const std::string& place) {
  if (const double* number = std::get_if<double>(&value)) require_finite(*number, place);
}

void require_finite(const Run& run) {
  for (const FactSection& section : run.environment) {
    for (const Fact& fact : section.facts) {
      if (fact.value) require_finite(*fact.value, fact.name);
    }
  }
  for (const ProbeRecord& probe : run.probes) {
    require_finite(probe.duration_s, probe.name + " duration_s");
    for (const auto& [name, loss] : probe.losses) require_finite(loss, name);
    for (const Point& point : probe.points) scaleworth::require_finite(point);
  }
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
  require_finite(run);
  Fields fields(Fields::Make::document, run_head);
  run_fields(fields, run);
  std::string text;
  print(text, fields.take(), 0);
  text += '\n';
  return text;
}

std::string run_schema() {
  return schema_of(run_head, [run = Run{}](Fields& fields) { run_fields(fields, run); });
}

void require_finite(const Point& point) {
  for (const auto& [name, value] : point.parameters) require_finite(value, name);
  for (const auto& [name, number] : point.amounts) require_finite(number, name);
  for (const auto& [name, series] : point.samples) {
    const auto broken = std::ranges::find_if_not(series, [](double x) { return std::isfinite(x); });
    if (broken == series.end()) continue;
    require_finite(*broken, fmt::format("{}[{}]", name, broken - series.begin()));
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
