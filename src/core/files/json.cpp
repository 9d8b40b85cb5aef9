// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/json.h"

#include "src/core/error.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace scaleworth {
namespace {
using nlohmann::json;

// What one value, one text and one key of the document cost beside their characters (sizes of
// nlohmann_json 3.11 on 64 bits, rounded up; a value has 16 bytes, up to three times that while its
// array grows).
constexpr std::size_t value_cost = 48;
constexpr std::size_t text_cost = 64;
constexpr std::size_t key_cost = 96;

/// Receives the parser's events and builds the document; counts as it goes.
class Builder {
 public:
  Builder(std::string_view text, const std::string& where, const JsonLimits& limits)
      : text_(text), where_(where), limits_(limits) {}

  bool null() { return add(nullptr, value_cost); }
  bool boolean(bool value) { return add(value, value_cost); }
  bool number_integer(std::int64_t value) { return add(value, value_cost); }
  bool number_unsigned(std::uint64_t value) { return add(value, value_cost); }
  bool number_float(double value, const std::string&) { return add(value, value_cost); }
  bool string(std::string& value) {
    const std::size_t cost = text_cost + value.size();
    return add(std::move(value), cost);
  }
  bool binary(json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(json::object()); }
  bool start_array(std::size_t) { return open(json::array()); }
  bool key(std::string& value) {
    spend(key_cost + value.size());
    key_ = std::move(value);
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t position, const std::string&, const json::exception& error) {
    const bool overflow = dynamic_cast<const json::out_of_range*>(&error) != nullptr;
    const char* cause = "is not JSON";
    if (overflow) cause = "has a number beyond the range of a double";
    if (position > text_.size()) cause = "ends too early (truncated)";
    fail(position, cause);
  }
  json take() { return std::move(root_); }

 private:
  [[noreturn]] void fail(std::size_t position, const char* cause) const {
    const std::size_t byte = std::min(position, text_.size());
    const auto line = 1 + std::count(text_.begin(), text_.begin() + byte, '\n');
    throw UserError(
        fmt::format("{}: {} at line {}, byte {}; restore the file or write it again with the "
                    "program that made it",
                    where_,
                    cause,
                    line,
                    byte));
  }
  void spend(std::size_t cost) {
    memory_ += cost;
    if (memory_ <= limits_.memory_bytes) return;
    throw UserError(
        fmt::format("{}: would take more than {} MiB of memory; it is no file of this program, "
                    "give another one",
                    where_,
                    limits_.memory_bytes >> 20));
  }
  json* insert(json&& value, std::size_t cost) {
    spend(cost);
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    return &(parent[key_] = std::move(value));
  }
  bool add(json&& value, std::size_t cost) {
    insert(std::move(value), cost);
    return true;
  }
  bool open(json&& container) {
    if (open_.size() >= limits_.nesting) {
      throw UserError(fmt::format(
          "{}: nested deeper than {} levels; it is no file of this program, give another one",
          where_,
          limits_.nesting));
    }
    open_.push_back(insert(std::move(container), text_cost));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& where_;
  JsonLimits limits_;
  json root_;
  std::vector<json*> open_;  // stays valid: only the innermost container grows
  std::string key_;
  std::size_t memory_ = 0;
};
}  // namespace

json parse_bounded_json(std::string_view text, const std::string& where, const JsonLimits& limits) {
  Builder builder(text, where, limits);
  json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}
}  // namespace scaleworth
