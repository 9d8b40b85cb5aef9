// SPDX-License-Identifier: Apache-2.0
/// The few kinds of fields of Protocol Buffers that a timeline needs, as bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace scaleworth::trace {

/// A message under construction; `clear` keeps its memory.
class ProtobufMessage {
 public:
  void clear() { bytes_.clear(); }
  std::string_view bytes() const { return bytes_; }

  void number(std::uint32_t field, std::uint64_t value) {
    tag(field, 0);
    varint(value);
  }
  /// For fields of type int32 and int64: negative ones take ten bytes.
  void signed_number(std::uint32_t field, std::int64_t value) {
    number(field, static_cast<std::uint64_t>(value));
  }
  void fixed(std::uint32_t field, std::uint64_t value) {
    tag(field, 1);
    for (int shift = 0; shift < 64; shift += 8) bytes_ += static_cast<char>(value >> shift);
  }
  void real(std::uint32_t field, double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    fixed(field, bits);
  }
  void text(std::uint32_t field, std::string_view value) {
    tag(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const ProtobufMessage& value) { text(field, value.bytes()); }

 private:
  void tag(std::uint32_t field, std::uint32_t type) { varint(field << 3U | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace scaleworth::trace
