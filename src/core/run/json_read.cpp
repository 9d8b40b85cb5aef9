// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "src/core/run/bounded_json.h"
#include "src/core/run/json.h"
#include "src/core/run/run_path.h"
#include "src/core/run/status.h"

#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

}  // namespace scaleworth
