// SPDX-License-Identifier: Apache-2.0
/// JSON read back by the lists of members that Fields writes it by: a list that is generic in the
/// first parameter and the struct serves both.
///
///   constexpr auto campaign = [](auto& json, auto& one) {
///     json("work", one.name, or_null);
///     json.members("rate_flop_per_s", one.rate, "gpus", one.gpus);
///     json.array("steps", one.steps, step);
///   };
#pragma once

#include "src/core/files/fields.h"
#include "src/core/files/toml_table.h"
#include "src/core/run.h"
#include "src/core/whole_number.h"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

namespace scaleworth {
/// A value and how it was reached, so that an error can say where it stands.
class JsonReader {
 public:
  /// Of a document: its file, and what to do where it is damaged. With `lenient` a member that is
  /// absent leaves what it would have been read into, as files of older versions need it.
  JsonReader(const nlohmann::json& value,
             std::string_view file,
             const char* remedy,
             bool lenient = false)
      : value_(value), key_(file), remedy_(remedy), lenient_(lenient) {}
  JsonReader(const nlohmann::json& value,
             const JsonReader& parent,
             std::string_view key,
             std::size_t index = 0)
      : value_(value),
        parent_(&parent),
        key_(key),
        index_(index),
        remedy_(parent.remedy_),
        lenient_(parent.lenient_) {}

  // As Fields. What a list computes, which cannot be assigned, is not read.

  template <class V>
  void operator()(std::string_view key, V&& value, const FieldOptions& options = {}) const {
    if constexpr (can_be_read<V>) {
      if (!has(key)) return;
      const JsonReader one = member(key);
      if (!options.or_null || !one.is_null()) one.read(value, options);
    }
  }
  /// Of `or_null(value)`.
  template <class V>
  void operator()(std::string_view key, std::pair<V&, FieldOptions>&& value) const {
    (*this)(key, value.first, value.second);
  }
  template <class V, class... Rest>
  void members(std::string_view key, V&& value, Rest&&... rest) const {
    (*this)(key, std::forward<V>(value));
    if constexpr (sizeof...(rest) > 0) members(std::forward<Rest>(rest)...);
  }
  template <std::invocable<const JsonReader&> Members>
  void object(std::string_view key, Members members) const {
    if (!has(key)) return;
    const JsonReader inside = member(key);
    members(inside);
  }
  template <class V, class Members>
  void object(std::string_view key, V& value, Members members) const {
    if constexpr (can_be_read<V&>) {
      if (has(key)) member(key).read_object(value, members);
    }
  }
  template <class V, class Members>
  void array(std::string_view key, V& values, Members members) const {
    if constexpr (can_be_read<V&>) {
      if (!has(key)) return;
      values.clear();
      member(key).each([&](const JsonReader& one) { members(one, values.emplace_back()); });
    }
  }
  void named(const char*) const {}

  [[noreturn]] void fail(const std::string& problem) const {
    const JsonReader* root = this;
    while (root->parent_ != nullptr) root = root->parent_;
    throw UserError("{}: {}: {}; {}", root->key_, path(), problem, remedy_);
  }
  JsonReader member(std::string_view key) const {
    require(value_.is_object(), "an object");
    const auto found = value_.find(std::string(key));
    if (found == value_.end()) fail(fmt::format("lacks \"{}\"", key));
    return {*found, *this, key};
  }
  bool contains(std::string_view key) const {
    return value_.is_object() && value_.contains(std::string(key));
  }
  bool is_null() const { return value_.is_null(); }
  /// Calls `read(key, member)` for each member of an object.
  template <class Read>
  void members(Read read) const {
    require(value_.is_object(), "an object");
    for (const auto& [key, item] : value_.items()) read(key, JsonReader(item, *this, key));
  }
  /// Calls `read(element)` for each element of an array.
  template <class Read>
  void each(Read read) const {
    require(value_.is_array(), "an array");
    for (std::size_t i = 0; i < value_.size(); ++i) read(JsonReader(value_[i], *this, "", i));
  }
  std::string text() const { return as<std::string>(value_.is_string(), "a string"); }
  /// Of the schema, from 1 to `newest`.
  int version(int newest) const {
    require(value_.is_number_integer(), "an integer");
    if (number() > newest) {
      throw UserError(
          "{}: schema version {} is newer than {}, the newest that this scaleworth "
          "reads; update scaleworth",
          parent_->key_,
          value_.dump(),
          newest);
    }
    if (number() < 1) fail("schema versions start at 1");
    return value_.get<int>();
  }

  void read(std::string& value, const FieldOptions&) const { value = text(); }
  void read(bool& value, const FieldOptions&) const {
    value = as<bool>(value_.is_boolean(), "true or false");
  }
  void read(double& value, const FieldOptions&) const { value = number(); }
  void read(std::int64_t& value, const FieldOptions&) const {
    require(value_.is_number_integer(), "an integer");
    value = value_.get<std::int64_t>();
  }
  void read(int& value, const FieldOptions& options) const {
    std::int64_t whole = 0;
    read(whole, options);
    const auto number = whole_number<int>(whole);
    if (!number) fail(fmt::format("{} is out of range", whole));
    value = *number;
  }
  void read(SettingValue& value, const FieldOptions&) const {
    if (value_.is_string()) {
      value = text();
    } else if (value_.is_boolean()) {
      value = value_.get<bool>();
    } else {
      require(value_.is_number_integer(), "a whole number, a string or true or false");
      value = value_.get<std::int64_t>();
    }
  }
  /// Times of clocks that count from 1970, and lengths: the sum of two fits 64 bits.
  void read(std::chrono::nanoseconds& value, const FieldOptions&) const {
    const double time = number();
    if (std::abs(time) > 4e18) fail(fmt::format("{} is out of range", time));  // 2^63 is 9.2e18
    value = std::chrono::nanoseconds(value_.is_number_integer() ? value_.get<std::int64_t>()
                                                                : std::llround(time));
  }
  void read(Rank& value, const FieldOptions&) const {
    std::int64_t index = 0;
    read(index, {});
    const auto rank = rank_number(index);
    if (!rank) fail(fmt::format("{} is no rank", index));
    value = Rank{*rank};
  }
  template <Vocabulary E>
  void read(E& value, const FieldOptions& options) const {
    const auto names = options.by_word ? &Word::word : &Word::key;
    const auto* found = std::ranges::find(word_list<E>, std::string_view(text()), names);
    if (found == word_list<E>.end()) fail("is none of " + listed(word_list<E>, names));
    value = static_cast<E>(found - word_list<E>.begin());
  }
  void read(Value& value, const FieldOptions&) const {
    // An integer beyond 64 bits is a double, as any reader of JSON would take it.
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    if (value_.is_string()) {
      value = text();
    } else if (value_.is_boolean()) {
      value = value_.get<bool>();
    } else if (value_.is_number_integer() &&
               !(value_.is_number_unsigned() && value_.get<std::uint64_t>() > largest)) {
      value = value_.get<std::int64_t>();
    } else {
      value = number();
    }
  }
  /// Of one that this version does not know its name is kept.
  void read(Finding& value, const FieldOptions&) const {
    const std::string id = member("id").text();
    std::vector<Argument> arguments;
    member("arguments").each([&](const JsonReader& one) { arguments.push_back(one.argument()); });
    const auto* const known = std::ranges::find(finding_keys, std::string_view(id));
    value = {FindingId::finding_not_known, id};
    if (known == std::end(finding_keys)) return;
    value.id = static_cast<FindingId>(known - std::begin(finding_keys));
    value.arguments = std::move(arguments);
  }
  template <class V>
  void read(std::optional<V>& value, const FieldOptions& options) const {
    value.reset();
    if (!value_.is_null()) read(value.emplace(), options);
  }
  template <class V>
  void read(std::vector<V>& values, const FieldOptions& options) const {
    values.clear();
    values.reserve(value_.size());
    each([&](const JsonReader& one) { one.read(values.emplace_back(), options); });
  }
  template <class V>
  void read(std::map<std::string, V>& values, const FieldOptions& options) const {
    require(value_.is_object(), "an object");
    for (const auto& [key, item] : value_.items()) {
      JsonReader(item, *this, key).read(values[key], options);
    }
  }

 private:
  template <class V>
  static constexpr bool can_be_read =
      std::is_lvalue_reference_v<V> && !std::is_const_v<std::remove_reference_t<V>>;
  bool has(std::string_view key) const { return !lenient_ || contains(key); }
  template <class T>
  T as_read() const {
    T value;
    read(value, {});
    return value;
  }
  Argument argument() const {
    if (value_.is_string()) return text();
    if (value_.is_number_integer()) return value_.get<std::int64_t>();
    if (value_.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (value_.is_array()) return as_read<std::vector<Finding>>();
    if (contains("id")) return as_read<Finding>();
    if (!value_.is_object()) return number();
    Estimate<double> estimate{member("value").number(), std::nullopt, 0};
    if (!member("low").is_null())
      estimate.interval = {member("low").number(), member("high").number()};
    estimate.samples = saturated<std::uint32_t>(member("samples").number());
    return estimate;
  }
  template <class V, class Members>
  void read_object(V& value, Members& members) const {
    members(*this, value);
  }
  template <class V, class Members>
  void read_object(std::optional<V>& value, Members& members) const {
    value.reset();
    if (!is_null()) members(*this, value.emplace());
  }
  void require(bool right_type, const char* expected) const {
    if (!right_type) fail(fmt::format("expected {}, found {}", expected, value_.type_name()));
  }
  std::string path() const {
    if (parent_ == nullptr) return "the document";
    const std::string own = parent_->value_.is_array() ? std::to_string(index_)
                                                       : toml_file::printable(key_.substr(0, 80));
    return (parent_->parent_ == nullptr ? "" : parent_->path()) + "/" + own;
  }
  double number() const { return as<double>(value_.is_number(), "a number"); }
  template <class T>
  T as(bool right_type, const char* expected) const {
    require(right_type, expected);
    return value_.get<T>();
  }

  const nlohmann::json& value_;
  const JsonReader* parent_ = nullptr;
  std::string_view key_;  // in the parent; of the document the file's name
  std::size_t index_ = 0;
  const char* remedy_;
  bool lenient_;
};
}  // namespace scaleworth
