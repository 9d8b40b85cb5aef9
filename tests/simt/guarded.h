// SPDX-License-Identifier: Apache-2.0
/// Memory of exactly the size that is asked for.
#pragma once

#include "tests/catch.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace scaleworth::simt {
/// Ends at a page that cannot be accessed; before it lie bytes that the destructor finds changed,
/// and before them such a page again. Starts as NaN: every bit set. Aligned to 16 bytes if the size
/// is.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes) : bytes_(bytes), page_(page_size()) {
    length_ = (bytes + page_ - 1) / page_ * page_ + page_;
    void* start = mmap(
        nullptr, length_ + page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<unsigned char*>(start);
    mprotect(start_ + page_, length_ - page_, PROT_READ | PROT_WRITE);
    restore_before();
    fill(0xFF);
  }
  GuardedMemory(GuardedMemory&& other) noexcept
      : bytes_(other.bytes_),
        page_(other.page_),
        length_(other.length_),
        start_(std::exchange(other.start_, nullptr)) {}
  GuardedMemory& operator=(GuardedMemory&&) = delete;
  ~GuardedMemory() {
    if (start_ == nullptr) return;
    const std::size_t changed = changed_before();
    munmap(start_, length_ + page_);
    if (changed != 0) FAIL_CHECK(changed << " bytes before a buffer were written");
  }

  unsigned char* data() const { return start_ + length_ - bytes_; }
  std::size_t size() const { return bytes_; }
  void fill(int byte) { std::memset(data(), byte, bytes_); }
  std::size_t changed_before() const {
    std::size_t changed = 0;
    for (unsigned char* p = start_ + page_; p != data(); ++p) changed += *p != before ? 1 : 0;
    return changed;
  }
  void restore_before() { std::memset(start_ + page_, before, length_ - page_ - bytes_); }

 private:
  static constexpr unsigned char before = 0xA5;
  static std::size_t page_size() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

  std::size_t bytes_;
  std::size_t page_;
  std::size_t length_ = 0;  // from the start to the end of the data
  unsigned char* start_ = nullptr;
};

template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count) : memory_(count * sizeof(T)) {}
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    std::copy(values.begin(), values.end(), data());
  }

  T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  std::size_t size() const { return memory_.size() / sizeof(T); }
  T& operator[](std::size_t i) const { return data()[i]; }
  std::vector<T> values() const { return {data(), data() + size()}; }

 private:
  GuardedMemory memory_;
};
}  // namespace scaleworth::simt
