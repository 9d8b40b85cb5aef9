// SPDX-License-Identifier: Apache-2.0
/// The buffers that CUPTI fills: a pool of zeroed memory with a bounded backlog, and the filled
/// ones in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace scaleworth::gpu {

struct FilledBuffer {
  std::uint8_t* data = nullptr;
  std::size_t bytes = 0;  // that CUPTI wrote
};

/// Used by the application's threads and CUPTI's (give, take) and the writer (next, put_back).
/// Nothing but memory is touched under its lock.
class BufferDesk {
 public:
  /// At most `most_waiting` filled buffers wait for the writer. Those that CUPTI holds, one for
  /// each thread of the program that works with CUDA, come on top of them.
  BufferDesk(std::size_t bytes_per_buffer, std::size_t most_waiting)
      : buffer_bytes_(bytes_per_buffer), most_waiting_(most_waiting) {}

  /// Makes `buffers` of them before anybody waits for their pages.
  void prepare(std::size_t buffers);
  /// A zeroed buffer. Never refuses while there is memory, because that crashes CUPTI before CUDA
  /// 12.9: while as many filled ones wait as may, it takes the oldest of them, whose records are
  /// lost and counted. Null when memory is short.
  std::uint8_t* give();
  std::size_t buffer_bytes() const { return buffer_bytes_; }
  /// CUPTI's filled buffer; an empty one goes back at once.
  void take(FilledBuffer buffer);

  /// The oldest filled buffer, for the writer; absent when there is none.
  std::optional<FilledBuffer> next();
  /// Zeroes what was written and makes the buffer free.
  void put_back(FilledBuffer buffer);

  /// Bytes of records that were given up since the last call.
  std::uint64_t take_discarded_bytes();

 private:
  std::uint8_t* new_buffer(int flags) const;

  const std::size_t buffer_bytes_;
  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::vector<std::uint8_t*> free_;
  std::deque<FilledBuffer> filled_;
  std::uint64_t discarded_bytes_ = 0;
};

}  // namespace scaleworth::gpu
