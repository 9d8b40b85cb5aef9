// SPDX-License-Identifier: Apache-2.0
/// What processes of one job on GPUs tell each other, as text and back.
#pragma once

#include "probes/rendezvous.h"
#include "src/core/error.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace scaleworth::gpu {
/// Plain values are their bytes, strings and vectors their length and their elements, what may be
/// absent stands behind a mark: readable on machines of the same byte order. The fields of a type
/// are listed once for both ways: `void list(RankMessage& message, Type& one)`, in the namespace of
/// this class.
class RankMessage {
 public:
  RankMessage() = default;  // writes
  explicit RankMessage(std::string_view text) : reading_(true), rest_(text) {}

  template <class... Values>
  void operator()(Values&... values) {
    (take(values), ...);
  }
  std::string text() { return std::move(written_); }
  /// Throws ProbeFailure where less or more was read than there is.
  void require_end() const {
    if (!rest_.empty()) refuse();
  }

 private:
  template <class Value>
  void take(Value& value) {
    if constexpr (requires { list(*this, value); }) {
      list(*this, value);
    } else if constexpr (requires { value.has_value(); }) {
      std::uint8_t there = value.has_value() ? 1 : 0;
      take(there);
      if (reading_ && there != 0) value.emplace();
      if (there != 0) take(*value);
    } else if constexpr (std::is_trivially_copyable_v<Value>) {
      take_bytes(&value, sizeof(value));
    } else {
      std::uint64_t count = value.size();
      take(count);
      if (reading_ && count > rest_.size()) refuse();  // an element has at least one byte
      value.resize(count);
      for (auto& element : value) take(element);
    }
  }
  void take_bytes(void* value, std::size_t bytes) {
    if (!reading_) {
      written_.append(static_cast<const char*>(value), bytes);
      return;
    }
    if (bytes > rest_.size()) refuse();
    std::memcpy(value, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }
  [[noreturn]] static void refuse() {
    throw ProbeFailure("a rank's report is cut off: do all ranks run the same build?");
  }

  bool reading_ = false;
  std::string written_;
  std::string_view rest_;
};

template <class Value>
std::string message_text(Value value) {
  RankMessage message;
  message(value);
  return message.text();
}

/// Throws ProbeFailure for anything else than such a text.
template <class Value>
Value read_message(std::string_view text) {
  RankMessage message(text);
  Value value{};
  message(value);
  message.require_end();
  return value;
}

/// What every process of `meeting` tells, in the order of their ranks.
template <class Value>
std::vector<Value> tell_all(probes::Rendezvous& meeting, const Value& own) {
  return mapped(meeting.all_gather(message_text(own)), read_message<Value>);
}
}  // namespace scaleworth::gpu
