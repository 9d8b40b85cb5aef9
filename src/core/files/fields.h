// SPDX-License-Identifier: Apache-2.0
/// One list of members per struct; its JSON and the schema of that JSON follow from it.
///
///   void campaign(Fields& json, const Campaign& one) {
///     json("time_s", one.time, "On all GPUs, without restarts.");
///     json.array("steps", one.steps, step);  // void step(Fields&, const Step&)
///   }
#pragma once

#include "src/core/estimate.h"
#include "src/core/span.h"

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace scaleworth {
struct FieldOptions {
  bool or_null = false;          // an empty text or a number that is not finite is null
  const char* one_of = nullptr;  // the texts that there are, separated by '|'
};

constexpr FieldOptions or_null{.or_null = true};
constexpr FieldOptions one_of(const char* texts) {
  return {.one_of = texts};
}

/// What heads a document: its schema's "$id", "title" and "description", and its first members; no
/// "kind" where that is null.
struct JsonHead {
  const char* id;
  const char* title;
  const char* sentence;
  int schema_version;
  const char* kind;
};

/// A document or its schema under construction, member by member in the order of the calls. A
/// schema takes the types alone: an element of every array and every absent object is described
/// by its default value. Keys carry the unit, the sentence of the schema says the rest.
class Fields {
 public:
  enum class Make { document, schema };
  Fields(Make make, const JsonHead& head);
  ~Fields();
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  /// A number (quantities in base units, times in nanoseconds), text, truth or rank, one of several
  /// of these, a vector or a map of them, an interval or an estimate; null for an absent one.
  template <class V>
  void operator()(std::string_view key,
                  const V& value,
                  std::string_view sentence = "",
                  const FieldOptions& options = {}) {
    key_ = key;
    put(value, sentence, options);
  }
  template <class V>
  void operator()(std::string_view key, const V& value, const FieldOptions& options) {
    (*this)(key, value, "", options);
  }

  /// `members(json)`.
  template <std::invocable<Fields&> Members>
  void object(std::string_view key, Members members, std::string_view sentence = "") {
    key_ = key;
    begin_object(sentence, false);
    members(*this);
    end();
  }
  /// `members(json)`, or null where it is not there; the schema calls `members` all the same.
  template <std::invocable<Fields&> Members>
  void object_if(bool there,
                 std::string_view key,
                 Members members,
                 std::string_view sentence = "") {
    key_ = key;
    if (make_ == Make::document && !there) return leaf("object", {}, "", {}, true);
    begin_object(sentence, true);
    members(*this);
    end();
  }
  /// `members(json, value)`.
  template <class T, std::invocable<Fields&, const T&> Members>
  void object(std::string_view key,
              const T& value,
              Members members,
              std::string_view sentence = "") {
    object(
        key, [&](Fields& json) { members(json, value); }, sentence);
  }
  template <class T, std::invocable<Fields&, const T&> Members>
  void object(std::string_view key,
              const std::optional<T>& value,
              Members members,
              std::string_view sentence = "") {
    const auto of_value = [&](Fields& json) { members(json, value ? *value : T{}); };
    object_if(value.has_value(), key, of_value, sentence);
  }
  /// `members(json, element)` for each element.
  template <class T, std::invocable<Fields&, const T&> Members>
  void array(std::string_view key,
             const std::vector<T>& values,
             Members members,
             std::string_view sentence = "") {
    elements(key, &values, members, sentence, false);
  }
  /// The same, or null.
  template <class T, std::invocable<Fields&, const T&> Members>
  void array(std::string_view key,
             const std::optional<std::vector<T>>& values,
             Members members,
             std::string_view sentence = "") {
    elements(key, values ? &*values : nullptr, members, sentence, true);
  }
  /// `members(json)` only where they are `there`; the schema describes them without requiring them.
  template <std::invocable<Fields&> Members>
  void members_if(bool there, Members members) {
    if (make_ == Make::document && !there) return;
    require(false);
    members(*this);
    require(true);
  }
  /// Of the object whose members follow: the schema describes it once, under this name.
  void named(const char* name, const char* sentence = "");

  /// The document; takes it out.
  nlohmann::ordered_json take();
  /// The schema as text.
  std::string schema();

 private:
  using Leaf = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string_view>;
  struct State;

  template <class V>
  static constexpr const char* type_name() {
    if (std::is_same_v<V, bool>) return "boolean";
    if (std::is_convertible_v<V, std::string_view>) return "string";
    if (std::is_floating_point_v<V> || requires(V v) { v.value() * 1.0; }) return "number";
    return "integer";
  }
  template <class V>
  static Leaf leaf_of(const V& value) {
    if constexpr (std::is_same_v<V, bool> || std::is_floating_point_v<V>) {
      return value;
    } else if constexpr (std::is_integral_v<V>) {
      return static_cast<std::int64_t>(value);
    } else if constexpr (std::is_same_v<V, Rank>) {
      return std::int64_t{value.index};
    } else if constexpr (std::is_convertible_v<V, std::string_view>) {
      return std::string_view(value);
    } else if constexpr (requires { value.value(); }) {
      return value.value();
    } else {
      return std::int64_t{value.count()};  // nanoseconds
    }
  }
  template <class V>
  void put(const V& value, std::string_view sentence, const FieldOptions& options) {
    leaf(type_name<V>(), leaf_of(value), sentence, options, false);
  }
  template <class V>
  void put(const std::optional<V>& value, std::string_view sentence, const FieldOptions& options) {
    leaf(type_name<V>(), value ? leaf_of(*value) : Leaf{}, sentence, options, true);
  }
  template <class... V>
  void put(const std::variant<V...>& value,
           std::string_view sentence,
           const FieldOptions& options) {
    any_of<V...>(&value, sentence, options, false);
  }
  template <class... V>
  void put(const std::optional<std::variant<V...>>& value,
           std::string_view sentence,
           const FieldOptions& options) {
    any_of<V...>(value ? &*value : nullptr, sentence, options, true);
  }
  template <class... V>
  void any_of(const std::variant<V...>* value,
              std::string_view sentence,
              const FieldOptions& options,
              bool null) {
    std::string names;
    if (make_ == Make::schema) ((names += names.empty() ? "" : "|", names += type_name<V>()), ...);
    const auto held = [](const auto& one) { return leaf_of(one); };
    leaf(names.c_str(), value ? std::visit(held, *value) : Leaf{}, sentence, options, null);
  }
  template <class V>
  void put(const Interval<V>& value, std::string_view sentence, const FieldOptions&) {
    object(
        key_, [&](Fields& json) { json.interval(value); }, sentence);
  }
  template <class V>
  void put(const std::optional<Interval<V>>& value,
           std::string_view sentence,
           const FieldOptions&) {
    const auto ends = [](Fields& json, const Interval<V>& one) { json.interval(one); };
    object(key_, value, ends, sentence);
  }
  template <class V>
  void put(const Estimate<V>& value, std::string_view sentence, const FieldOptions&) {
    object(
        key_, [&](Fields& json) { json.estimate(value); }, sentence);
  }
  template <class V>
  void put(const std::optional<Estimate<V>>& value,
           std::string_view sentence,
           const FieldOptions&) {
    const auto ends = [](Fields& json, const Estimate<V>& one) { json.estimate(one); };
    object(key_, value, ends, sentence);
  }
  template <class V>
  void put(const std::vector<V>& values, std::string_view sentence, const FieldOptions& options) {
    list(values, sentence, options, false);
  }
  template <class V>
  void put(const std::optional<std::vector<V>>& values,
           std::string_view sentence,
           const FieldOptions& options) {
    if (make_ == Make::document && !values) return leaf("array", {}, "", {}, true);
    list(values ? *values : std::vector<V>{}, sentence, options, true);
  }
  template <class V>
  void list(const std::vector<V>& values,
            std::string_view sentence,
            const FieldOptions& options,
            bool null) {
    begin_list("array", "items", sentence, null);
    if (make_ == Make::schema) put(V{}, "", options);
    if (make_ == Make::document) {
      for (const V& value : values) put(value, "", options);
    }
    end();
  }
  template <class V>
  void put(const std::map<std::string, V>& values,
           std::string_view sentence,
           const FieldOptions& options) {
    by_name<V>(values, sentence, options);
  }
  template <class V>
  void put(const std::vector<std::pair<std::string, V>>& values,
           std::string_view sentence,
           const FieldOptions& options) {
    by_name<V>(values, sentence, options);
  }
  template <class V, class Pairs>
  void by_name(const Pairs& values, std::string_view sentence, const FieldOptions& options) {
    begin_list("object", "additionalProperties", sentence, false);
    if (make_ == Make::schema) put(V{}, "", options);
    if (make_ == Make::document) {
      for (const auto& [key, value] : values) (*this)(key, value, options);
    }
    end();
  }
  template <class T, class Members>
  void elements(std::string_view key,
                const std::vector<T>* values,
                Members members,
                std::string_view sentence,
                bool null) {
    key_ = key;
    if (make_ == Make::document && values == nullptr) return leaf("array", {}, "", {}, true);
    begin_list("array", "items", sentence, null);
    const auto one = [&](const T& value) {
      begin_object("", false);
      members(*this, value);
      end();
    };
    if (make_ == Make::schema) one(T{});
    if (make_ == Make::document) {
      for (const T& value : *values) one(value);
    }
    end();
  }
  template <class V>
  void interval(const Interval<V>& value) {
    (*this)("low", value.low);
    (*this)("high", value.high);
  }
  template <class V>
  void estimate(const Estimate<V>& value) {
    const auto end_of = [&](V Interval<V>::*end) {
      return value.interval ? std::optional<V>((*value.interval).*end) : std::nullopt;
    };
    named("estimate", "A number with its 95 % interval.");
    (*this)("value", value.value, or_null);
    (*this)("low", end_of(&Interval<V>::low));
    (*this)("high", end_of(&Interval<V>::high));
    (*this)("samples", value.samples);
  }

  /// `type`: one or several, separated by '|'.
  void leaf(const char* type,
            const Leaf& value,
            std::string_view sentence,
            const FieldOptions& options,
            bool null);
  void begin_object(std::string_view sentence, bool null);
  /// Values of one kind: an array, or an object whose keys are not known.
  void begin_list(const char* type, const char* of_each, std::string_view sentence, bool null);
  /// Whether the schema requires the members that follow.
  void require(bool required);
  void end();

  Make make_;
  std::string key_;  // a copy: keys may be temporary
  std::unique_ptr<State> state_;
};

/// The schema of the document that `members(json)` writes under `head`.
template <std::invocable<Fields&> Members>
std::string schema_of(const JsonHead& head, Members members) {
  Fields json(Fields::Make::schema, head);
  members(json);
  return json.schema();
}
}  // namespace scaleworth
