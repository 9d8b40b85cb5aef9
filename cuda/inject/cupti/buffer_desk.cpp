// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/cupti/buffer_desk.h"

#include <cstring>
#include <utility>

#include <sys/mman.h>

namespace scaleworth::gpu {

std::uint8_t* BufferDesk::new_buffer(int flags) const {
  void* memory = ::mmap(
      nullptr, buffer_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return static_cast<std::uint8_t*>(memory);
}

void BufferDesk::prepare(std::size_t buffers) {
  for (std::size_t i = 0; i < buffers; ++i) {
    std::uint8_t* buffer = new_buffer(MAP_POPULATE);
    if (buffer == nullptr) return;
    const std::scoped_lock lock(mutex_);
    free_.push_back(buffer);
  }
}

std::uint8_t* BufferDesk::give() {
  FilledBuffer taken;
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      std::uint8_t* buffer = free_.back();
      free_.pop_back();
      return buffer;
    }
    if (filled_.size() >= most_waiting_) {
      taken = filled_.front();
      filled_.pop_front();
      discarded_bytes_ += taken.bytes;
    }
  }
  if (taken.data == nullptr) return new_buffer(0);
  std::memset(taken.data, 0, taken.bytes);
  return taken.data;
}

void BufferDesk::take(FilledBuffer buffer) {
  if (buffer.data == nullptr) return;
  const std::scoped_lock lock(mutex_);
  if (buffer.bytes == 0) {
    free_.push_back(buffer.data);
  } else {
    filled_.push_back(buffer);
  }
}

std::optional<FilledBuffer> BufferDesk::next() {
  const std::scoped_lock lock(mutex_);
  if (filled_.empty()) return std::nullopt;
  const FilledBuffer buffer = filled_.front();
  filled_.pop_front();
  return buffer;
}

void BufferDesk::put_back(FilledBuffer buffer) {
  std::memset(buffer.data, 0, buffer.bytes);
  const std::scoped_lock lock(mutex_);
  free_.push_back(buffer.data);
}

std::uint64_t BufferDesk::take_discarded_bytes() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(discarded_bytes_, 0);
}

}  // namespace scaleworth::gpu
