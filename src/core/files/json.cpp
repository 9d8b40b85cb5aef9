// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace scaleworth {
namespace {
using nlohmann::json;
using nlohmann::ordered_json;

// Bytes of one value, text and key beside their characters (nlohmann_json 3.11 on 64 bits, rounded
// up; a value has 16 bytes, up to three times that while its array grows).
constexpr std::size_t value_cost = 48;
constexpr std::size_t text_cost = 64;
constexpr std::size_t key_cost = 96;
constexpr int deepest_nesting = 16;  // nlohmann frees by recursion; ours have some 8 levels

/// A container that members are added to; in a schema, the rule of one.
struct Container {
  ordered_json value;
  std::string key;       // in the container around it
  const char* of_each;   // in the schema of a list: the keyword of its elements
  std::string name;      // see Fields::named
  ordered_json place;    // what stands for it where it is used
  bool required = true;  // of the members that follow
};

/// Of texts that are separated by '|'.
ordered_json list_of(const char* texts) {
  ordered_json list = ordered_json::array();
  for (const std::string_view one : split(texts, '|')) list.push_back(one);
  return list;
}

ordered_json types(const char* type, bool null) {
  ordered_json all = list_of(type);
  if (null) all.push_back("null");
  return all.size() == 1 ? all.front() : all;
}

/// Puts a member, an element or their rule where it belongs.
void add(Container& parent, bool schema, std::string_view key, ordered_json value) {
  const std::string name(key);
  if (!schema && parent.value.is_array()) {
    parent.value.push_back(std::move(value));
  } else if (!schema) {
    parent.value[name] = std::move(value);
  } else if (parent.of_each != nullptr) {
    parent.value[parent.of_each] = std::move(value);
  } else {
    if (parent.required) parent.value["required"].push_back(name);
    parent.value["properties"][name] = std::move(value);
  }
}
// A list of numbers stands on one line up to this many characters: longer ones are hard to read,
// and to compare in a version control system. Only looks depend on it.
constexpr std::size_t longest_line = 300;

std::string plain(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string bracketed(const ordered_json& value, const std::string& line) {
  return value.is_object() ? "{ " + line + " }" : "[" + line + "]";
}

/// What stands between its brackets on one line; absent, as soon as that is known, where it is too
/// long. `whole`: it may be as long as it is.
std::optional<std::string> one_line(const ordered_json& value, bool whole) {
  std::string line;
  for (const auto& [key, item] : value.items()) {
    line += (line.empty() ? "" : ", ") + (value.is_object() ? ordered_json(key).dump() + ": " : "");
    if (!item.is_structured() || item.empty()) {
      line += plain(item);
    } else {
      const auto inner = one_line(item, false);
      if (!inner) return std::nullopt;
      line += bracketed(item, *inner);
    }
    if (!whole && line.size() >= longest_line) return std::nullopt;
  }
  return line;
}

/// On one line where that fits, and a list of plain values always.
std::string spread(const ordered_json& value, const std::string& indent) {
  if (!value.is_structured() || value.empty()) return plain(value);
  const bool flat = value.is_array() && !value.front().is_structured();
  if (const auto line = one_line(value, flat)) return bracketed(value, *line);
  const bool object = value.is_object();
  std::string lines;
  for (const auto& [key, item] : value.items())
    lines += (lines.empty() ? "\n  " : ",\n  ") + indent +
             (object ? ordered_json(key).dump() + ": " : "") + spread(item, indent + "  ");
  return (object ? "{" : "[") + lines + "\n" + indent + (object ? "}" : "]");
}

ordered_json json_of(const Finding& finding);

struct ArgumentJson {
  ordered_json operator()(const std::vector<Finding>& findings) const {
    return findings.size() == 1 ? json_of(findings[0]) : ordered_json(mapped(findings, &json_of));
  }
  ordered_json operator()(const Estimate<double>& number) const {
    Fields json(Fields::Make::document, {0, nullptr});
    json("estimate", number);
    return json.take()["estimate"];
  }
  ordered_json operator()(const auto& value) const { return value; }
};

ordered_json json_of(const Finding& finding) {
  ordered_json json{{"id", finding_keys[index_of(finding.id)]},
                    {"arguments", ordered_json::array()}};
  for (const Argument& one : finding.arguments)
    json["arguments"].push_back(std::visit(ArgumentJson{}, one.value));
  return json;
}

constexpr const char* finding_schema = R"({
  "type": "object", "additionalProperties": false, "required": ["id", "arguments"],
  "properties": {"id": {"type": "string"}, "arguments": {"type": "array", "items": {"anyOf": [
    {"type": ["number", "string", "null"]},
    {"type": "object", "additionalProperties": false,
     "required": ["value", "low", "high", "samples"],
     "properties": {"value": {"type": "number"}, "samples": {"type": "integer"},
                    "low": {"type": ["number", "null"]}, "high": {"type": ["number", "null"]}}},
    {"$ref": "#/$defs/finding"},
    {"type": "array", "items": {"$ref": "#/$defs/finding"}}]}}}})";
}  // namespace

json parse_bounded_json(std::string_view text, const std::string& where, std::size_t memory_bytes) {
  std::size_t memory = 0;
  const auto count = [&](int depth, json::parse_event_t event, const json& value) {
    const bool begins =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (begins && depth >= deepest_nesting) {
      throw UserError(
          "{}: nested deeper than {} levels; it is no file of this program, give another one",
          where,
          deepest_nesting);
    }
    const bool is_key = event == json::parse_event_t::key;
    if (value.is_string())
      memory += (is_key ? key_cost : text_cost) + value.get_ref<const std::string&>().size();
    else if (begins || event == json::parse_event_t::value)
      memory += value_cost;
    if (memory > memory_bytes) {
      throw UserError(
          "{}: would take more than {} MiB of memory; it is no file of this program, "
          "give another one",
          where,
          memory_bytes >> 20);
    }
    return true;
  };
  const auto fail = [&](std::size_t position, const char* cause) {
    const std::size_t byte = std::min(position, text.size());
    throw UserError(
        "{}: {} at line {}, byte {}; restore the file or write it again with the "
        "program that made it",
        where,
        cause,
        1 + std::count(text.begin(), text.begin() + byte, '\n'),
        byte);
  };
  try {
    return json::parse(text, count);
  } catch (const json::parse_error& error) {
    fail(error.byte, error.byte > text.size() ? "ends too early (truncated)" : "is not JSON");
  } catch (const json::out_of_range& error) {
    const auto quoted = split(error.what(), '\'');  // "number overflow parsing '1e999'"
    fail(text.find(quoted.size() > 1 ? quoted[1] : ""),
         "has a number beyond the range of a double");
  }
  return {};
}

struct Fields::State {
  std::vector<Container> open;
  ordered_json named = ordered_json::object();
};

Fields::Fields(Make make, const JsonHead& head) : make_(make), state_(std::make_unique<State>()) {
  begin("object", nullptr, false);
  (*this)("schema_version", head.schema_version);
  if (head.kind != nullptr) (*this)("kind", head.kind, one_of(head.kind));
  if (make == Make::document) return;
  ordered_json& rule = state_->open.back().value;
  rule["properties"]["schema_version"].erase("type");
  rule["properties"]["schema_version"]["const"] = head.schema_version;
}
Fields::~Fields() = default;

void Fields::leaf(const char* type, const Leaf& value, const FieldOptions& options, bool null) {
  Container& parent = state_->open.back();
  if (make_ == Make::document) {
    ordered_json made = std::visit([](const auto& held) { return ordered_json(held); }, value);
    const auto* number = std::get_if<double>(&value);
    const auto* text = std::get_if<std::string_view>(&value);
    if (number != nullptr && !std::isfinite(*number)) made = nullptr;
    if (text != nullptr && text->empty() && options.or_null) made = nullptr;
    return add(parent, false, key_, std::move(made));
  }
  ordered_json rule = ordered_json::object();
  if (*options.sentence != '\0') {
    ordered_json& of = parent.of_each != nullptr ? parent.value : rule;  // of a list, not of each
    const ordered_json rest = std::exchange(of, {{"description", options.sentence}});
    of.update(rest);
  }
  null = null || options.or_null;
  if (options.one_of == nullptr) {
    rule["type"] = types(type, null);
  } else {
    rule["enum"] = list_of(options.one_of);
    if (null) rule["enum"].push_back(nullptr);
  }
  add(parent, true, key_, std::move(rule));
}

bool Fields::is_null(bool there) {
  if (make_ == Make::schema || there) return false;
  add(state_->open.back(), false, key_, nullptr);
  return true;
}

void Fields::begin(const char* type, const char* of_each, bool null) {
  const bool array = std::string_view(type) == "array";
  ordered_json value = array ? ordered_json::array() : ordered_json::object();
  if (make_ == Make::schema) value = {{"type", types(type, null)}};
  if (make_ == Make::schema && of_each == nullptr) {
    value["additionalProperties"] = false;
    value["required"] = ordered_json::array();
    value["properties"] = ordered_json::object();
  }
  state_->open.push_back({std::move(value), key_, of_each, "", {}});
}

void Fields::write(const Finding* value, const FieldOptions&, bool null) {
  if (is_null(value != nullptr)) return;
  Container& parent = state_->open.back();
  if (make_ == Make::document) return add(parent, false, key_, json_of(*value));
  ordered_json rule{{"$ref", "#/$defs/finding"}};
  if (null) rule = {{"anyOf", {rule, {{"type", "null"}}}}};
  add(parent, true, key_, std::move(rule));
  state_->named["finding"] = ordered_json::parse(finding_schema);
}

void Fields::require(bool required) {
  state_->open.back().required = required;
}

void Fields::named(const char* name) {
  if (make_ == Make::document) return;
  Container& open = state_->open.back();
  open.name = name;
  if (open.value["type"].is_array()) open.name += "_or_null";
  open.place["$ref"] = "#/$defs/" + open.name;
}

void Fields::end() {
  Container closed = std::move(state_->open.back());
  state_->open.pop_back();
  if (!closed.name.empty()) {
    state_->named[closed.name] = std::move(closed.value);
    closed.value = std::move(closed.place);
  }
  add(state_->open.back(), make_ == Make::schema, closed.key, std::move(closed.value));
}

ordered_json Fields::take() {
  return std::move(state_->open.front().value);
}

std::string json_text(const ordered_json& value) {
  return spread(value, "") + "\n";
}

std::string Fields::schema() {
  ordered_json whole = take();
  if (!state_->named.empty()) whole["$defs"] = std::move(state_->named);
  return json_text(whole);
}

std::string Fields::text() {
  return json_text(take());
}

void put_setting(Fields& json, const char* key, const Setting& setting) {
  const auto members = [&](Fields& of) {
    for (const ParameterInfo& about : all_parameters()) {
      of.members_if(setting.contains(about.id), [&](Fields& member) {
        const SettingValue* value = setting.find(about.id);
        const auto* symbol = value ? std::get_if<Symbol>(value) : nullptr;
        const std::string keys = listed(about.words, &Word::key, "|");
        FieldOptions options{.sentence = about.sentence};
        switch (about.type) {
          case ParameterType::count:
            return member(about.key, setting.count(about.id).value_or(0), options);
          case ParameterType::flag:
            return member(about.key, setting.flag(about.id), options);
          case ParameterType::text:
            return member(about.key, setting.text(about.id), options);
          case ParameterType::symbol:
            options.one_of = keys.c_str();
            return member(about.key, symbol ? symbol->key() : "", options);
        }
      });
    }
  };
  json.object(key, members);
}
}  // namespace scaleworth
