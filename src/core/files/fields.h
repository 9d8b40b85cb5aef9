// SPDX-License-Identifier: Apache-2.0
/// JSON read within bounds; one list of members per struct, from which its JSON and the schema of
/// that JSON follow.
///
///   void campaign(Fields& json, const Campaign& one) {
///     json("work", one.name, or_null);
///     json.members("rate_flop_per_s", one.rate, "gpus", one.gpus);
///     json.array("steps", one.steps, step);  // void step(Fields&, const Step&)
///   }
#pragma once

#include "src/core/estimate.h"
#include "src/core/figures/setting.h"
#include "src/core/finding.h"
#include "src/core/span.h"
#include "src/core/units.h"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>

#include <nlohmann/json_fwd.hpp>

namespace scaleworth {
/// The document in `text`, which may be truncated, hostile or enormous. Throws UserError, one line
/// with `where` (a file name), line, byte and remedy, for anything but one complete JSON document
/// of finite numbers, nested at most 16 times, whose estimated size, checked while it grows, is at
/// most `memory_bytes`.
nlohmann::json parse_bounded_json(std::string_view text,
                                  const std::string& where,
                                  std::size_t memory_bytes = std::size_t{2} << 30);

/// What the key of a quantity ends with.
template <class V>
inline constexpr std::string_view unit_ending = "";
template <>
inline constexpr std::string_view unit_ending<Seconds> = "_s";
template <>
inline constexpr std::string_view unit_ending<std::chrono::nanoseconds> = "_ns";
template <>
inline constexpr std::string_view unit_ending<Bytes> = "_bytes";
template <>
inline constexpr std::string_view unit_ending<BytesPerSecond> = "_bytes_per_s";
template <>
inline constexpr std::string_view unit_ending<FlopPerSecond> = "_flop_per_s";
template <>
inline constexpr std::string_view unit_ending<FlopPerByte> = "_flop_per_byte";
template <>
inline constexpr std::string_view unit_ending<SecondsPerByte> = "_s_per_byte";
template <class V>
inline constexpr std::string_view unit_ending<std::optional<V>> = unit_ending<V>;
template <class V>
inline constexpr std::string_view unit_ending<Estimate<V>> = unit_ending<V>;

struct FieldOptions {
  bool or_null = false;          // an empty text or a number that is not finite is null
  const char* one_of = nullptr;  // the texts that there are, separated by '|'
  bool by_word = false;          // of a vocabulary its word in place of its key
  const char* sentence = "";     // what the schema says of it, of members that are data

  /// Of a member among several.
  template <class V>
  constexpr std::pair<V&, FieldOptions> operator()(V& value) const {
    return {value, *this};
  }
};

constexpr FieldOptions or_null{.or_null = true};
constexpr FieldOptions by_word{.by_word = true};
constexpr FieldOptions one_of(const char* texts) {
  return {.one_of = texts};
}

/// Its text: objects and arrays on a line each where they fit, flat arrays always. Bytes that are
/// no UTF-8 become U+FFFD.
std::string json_text(const nlohmann::ordered_json& value);

/// What heads a document and its schema; no "kind" where that is null.
struct JsonHead {
  int schema_version;
  const char* kind;
};

/// A document or its schema under construction, member by member in the order of the calls. A
/// schema takes the types alone: elements and absent objects are described by their default value.
/// What a member means stands in docs/*.schema.json, written by hand.
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
  void operator()(std::string_view key, const V& value, const FieldOptions& options = {}) {
    key_ = key;
    put(value, options);
  }
  /// Of `or_null(value)`.
  template <class V>
  void operator()(std::string_view key, const std::pair<V&, FieldOptions>& value) {
    (*this)(key, value.first, value.second);
  }
  /// Several in a line: a key, its value, the next key, ...
  template <class V, class... Rest>
  void members(std::string_view key, const V& value, const Rest&... rest) {
    (*this)(key, value);
    if constexpr (sizeof...(rest) > 0) members(rest...);
  }
  /// `members(json)`.
  template <std::invocable<Fields&> Members>
  void object(std::string_view key, Members members) {
    key_ = key;
    begin("object", nullptr, false);
    members(*this);
    end();
  }
  /// `members(json)`, or null where it is not there; the schema calls `members` all the same.
  template <std::invocable<Fields&> Members>
  void object_if(bool there, std::string_view key, Members members) {
    key_ = key;
    if (is_null(there)) return;
    begin("object", nullptr, true);
    members(*this);
    end();
  }
  /// `members(json, value)`; null for an absent one.
  template <class V, class Members>
  void object(std::string_view key, const V& value, Members members) {
    key_ = key;
    struct_of(address(value), members, is_optional<V>);
  }
  /// `members(json, element)` for each element of a vector; null for an absent one.
  template <class V, class Members>
  void array(std::string_view key, const V& values, Members members) {
    key_ = key;
    list(address(values), true, is_optional<V>, [&](const auto& one) {
      struct_of(&one, members, false);
    });
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
  void named(const char* name);

  /// The document; takes it out.
  nlohmann::ordered_json take();
  std::string text();
  std::string schema();

 private:
  using Leaf = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string_view>;
  struct State;

  template <class V>
  static constexpr const char* type_name() {
    if (std::is_same_v<V, bool>) return "boolean";
    if (std::is_convertible_v<V, std::string_view> || Vocabulary<V>) return "string";
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
    } else if constexpr (Vocabulary<V>) {
      return std::string_view(key_of(value));
    } else if constexpr (requires { value.value(); }) {
      return value.value();
    } else {
      return std::int64_t{value.count()};  // nanoseconds
    }
  }
  template <class V>
  static constexpr bool is_optional = requires(V value) {
    value.has_value();
  };
  template <class V>
  static const V* address(const V& value) {
    return &value;
  }
  template <class V>
  static const V* address(const std::optional<V>& value) {
    return value ? &*value : nullptr;
  }
  template <class V>
  void put(const V& value, const FieldOptions& options) {
    write(address(value), options, is_optional<V>);
  }

  // `value` is null for an absent one; `null` where it may be.

  template <class V>
  void write(const V* value, const FieldOptions& options, bool null) {
    if constexpr (Vocabulary<V>) {
      if (value && options.by_word)
        return leaf("string", std::string_view(word_of(*value)), options, null);
    }
    leaf(type_name<V>(), value ? leaf_of(*value) : Leaf{}, options, null);
  }
  template <class... V>
  void write(const std::variant<V...>* value, const FieldOptions& options, bool null) {
    std::string names;
    if (make_ == Make::schema) ((names += names.empty() ? "" : "|", names += type_name<V>()), ...);
    const auto held = [](const auto& one) { return leaf_of(one); };
    leaf(names.c_str(), value ? std::visit(held, *value) : Leaf{}, options, null);
  }
  template <class V>
  void write(const Interval<V>* value, const FieldOptions&, bool null) {
    const auto ends = [](Fields& json, const Interval<V>& one) {
      json("low", one.low);
      json("high", one.high);
    };
    struct_of(value, ends, null);
  }
  template <class V>
  void write(const Estimate<V>* value, const FieldOptions&, bool null) {
    const auto members = [](Fields& json, const Estimate<V>& one) {
      const auto end_of = [&](V Interval<V>::*end) {
        return one.interval ? std::optional<V>((*one.interval).*end) : std::nullopt;
      };
      json.named("estimate");
      json("value", one.value, or_null);
      json("low", end_of(&Interval<V>::low));
      json("high", end_of(&Interval<V>::high));
      json("samples", one.samples);
    };
    struct_of(value, members, null);
  }
  /// {"id": "samples_rise", "arguments": [...]}: numbers, null for none, texts, estimates, findings
  /// and lists of them.
  void write(const Finding* value, const FieldOptions&, bool null);
  template <class V>
  void write(const std::vector<V>* values, const FieldOptions& options, bool null) {
    list(values, true, null, [&](const V& value) { put(value, options); });
  }
  void write(const Series* samples, const FieldOptions& options, bool null) {
    write(static_cast<const std::vector<double>*>(samples), options, null);
  }
  template <class V>
  void write(const std::map<std::string, V>* values, const FieldOptions& options, bool null) {
    by_name(values, options, null);
  }
  template <class V>
  void write(const std::vector<std::pair<std::string, V>>* values,
             const FieldOptions& options,
             bool null) {
    by_name(values, options, null);
  }
  template <class Pairs>
  void by_name(const Pairs* values, const FieldOptions& options, bool null) {
    const auto one = [&](const auto& pair) { (*this)(pair.first, pair.second, options); };
    list(values, false, null, one);
  }

  template <class T, class Members>
  void struct_of(const T* value, Members& members, bool null) {
    if (is_null(value != nullptr)) return;
    begin("object", nullptr, null);
    if constexpr (std::is_default_constructible_v<T>) {
      static const T none{};
      members(*this, value ? *value : none);
    } else {
      members(*this, *value);
    }
    end();
  }
  /// `each(element)` for the elements of an array, or of an object whose keys are not known.
  template <class Range, class Each>
  void list(const Range* values, bool array, bool null, Each each) {
    if (is_null(values != nullptr)) return;
    begin(array ? "array" : "object", array ? "items" : "additionalProperties", null);
    if (make_ == Make::schema) {
      each(typename Range::value_type{});
    } else {
      for (const auto& value : *values) each(value);
    }
    end();
  }

  /// `type`: one or several, separated by '|'.
  void leaf(const char* type, const Leaf& value, const FieldOptions& options, bool null);
  /// In a document the null that stands for what is not there, and true.
  bool is_null(bool there);
  /// `of_each`: in the schema of a list the keyword of its elements; null for known members.
  void begin(const char* type, const char* of_each, bool null);
  /// Whether the schema requires the members that follow.
  void require(bool required);
  void end();

  Make make_;
  std::string key_;  // a copy: keys may be temporary
  std::unique_ptr<State> state_;
};

/// The parameters of a setting by their keys; the schema describes every one.
void put_setting(Fields& json, const char* key, const Setting& setting);

/// The schema of the document that `members(json)` writes under `head`.
template <std::invocable<Fields&> Members>
std::string schema_of(const JsonHead& head, Members members) {
  Fields json(Fields::Make::schema, head);
  members(json);
  return json.schema();
}
}  // namespace scaleworth
