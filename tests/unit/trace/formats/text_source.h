// SPDX-License-Identifier: Apache-2.0
/// Text as a stream of bytes, and the public recordings where they are at hand.
#pragma once

#include "trace/formats/byte_source.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace scaleworth::testing {

/// Hands out `text`; what a file with these bytes would.
class TextSource final : public trace::ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  const std::string& name() const override { return name_; }
  const std::string& damage() const override { return damage_; }
  std::size_t read(std::span<char> buffer) override {
    const auto bytes = std::min(buffer.size(), text_.size() - taken_);
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(taken_), bytes, buffer.begin());
    taken_ += bytes;
    return bytes;
  }

 private:
  std::string text_;
  std::string name_ = "text";
  std::string damage_;
  std::size_t taken_ = 0;
};

/// The path of a public recording; absent when there are none on this machine.
inline std::optional<std::string> public_recording(const std::string& path) {
  const std::string whole = std::string(SCALEWORTH_RECORDINGS) + "/" + path;
  if (std::filesystem::exists(whole)) return whole;
  return std::nullopt;
}

}  // namespace scaleworth::testing
