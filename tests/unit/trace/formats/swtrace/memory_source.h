// SPDX-License-Identifier: Apache-2.0
/// Bytes of a test as a file.
#pragma once

#include "trace/formats/byte_source.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace scaleworth::trace::recording {

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& name() const override { return name_; }
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size() - position_);
    std::copy_n(bytes_.data() + position_, count, buffer.data());
    position_ += count;
    return count;
  }
  const std::string& damage() const override { return damage_; }

 private:
  std::string name_ = "rank0.swtrace";
  std::string bytes_;
  std::string damage_;
  std::size_t position_ = 0;
};

}  // namespace scaleworth::trace::recording
