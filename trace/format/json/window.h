// SPDX-License-Identifier: Apache-2.0
/// The part of a byte stream that is in memory: it moves along, and grows for what does not fit.
#pragma once

#include "trace/format/input/byte_source.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace scaleworth::trace {

class JsonWindow {
 public:
  /// `bytes` in memory, growing to `most`.
  JsonWindow(ByteSource& source, std::size_t bytes, std::size_t most);

  /// What is in memory and not consumed. `front_slack` bytes before it and `back_slack` after it
  /// may be written to; `data` is its first byte. Valid until `more`.
  std::string_view rest() const { return {buffer_.data() + begin_, end_ - begin_}; }
  char* data() { return buffer_.data() + begin_; }
  static constexpr std::size_t front_slack = 1;
  static constexpr std::size_t back_slack = 128;  // simdjson reads 64 bytes beyond

  void consume(std::size_t bytes);
  /// Brings in more behind what is there; false when the stream has ended or the window is as
  /// large as it may become and full.
  bool more();
  bool ended() const { return ended_; }
  /// Of the first byte of `rest` in the stream.
  std::uint64_t position() const { return position_; }

 private:
  ByteSource& source_;
  std::size_t most_;
  std::vector<char> buffer_;
  std::size_t begin_ = front_slack;
  std::size_t end_ = front_slack;
  std::uint64_t position_ = 0;
  bool ended_ = false;
};

}  // namespace scaleworth::trace
