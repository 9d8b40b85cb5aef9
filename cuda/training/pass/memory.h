// SPDX-License-Identifier: Apache-2.0
/// Memory of the training step, taken once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scaleworth::gpu {

/// Lives as long as what was allocated. `allocate` returns zeros, aligned to 256 bytes.
class TrainingMemory {
 public:
  virtual ~TrainingMemory() = default;
  virtual void* allocate(std::size_t bytes) = 0;

  template <class T>
  T* make(std::int64_t count) {
    return static_cast<T*>(allocate(static_cast<std::size_t>(count) * sizeof(T)));
  }
};

/// Takes nothing and adds up what was asked for; addresses must not be followed.
class CountingMemory final : public TrainingMemory {
 public:
  void* allocate(std::size_t bytes) override {
    const std::size_t start = bytes_;
    bytes_ += (bytes + alignment - 1) / alignment * alignment;
    return reinterpret_cast<void*>(alignment + start);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t alignment = 256;
  std::size_t bytes_ = 0;
};

}  // namespace scaleworth::gpu
