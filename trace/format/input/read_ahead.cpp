// SPDX-License-Identifier: Apache-2.0
#include "trace/format/input/read_ahead.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace scaleworth::trace {

namespace {

constexpr std::size_t blocks = 8;
constexpr std::size_t block_bytes = bytes_read_ahead / blocks;

/// One thread fills its blocks, another empties them. A block belongs to the filler until it is
/// counted as filled and to the emptier until it is counted as emptied. Who sleeps is woken for
/// half of the blocks at once: where processors are scarce each waking costs a turn in their queue.
class BlockQueue {
 public:
  /// Fills blocks until `source` ends, throws, or nobody wants more.
  void fill_from(ByteSource& source, const std::stop_token& stop) {
    std::exception_ptr failure;
    try {
      while (wait_for_room(stop)) {
        Block& block = ring_[filled_ % blocks];
        block.bytes.resize(block_bytes);
        block.size = source.read(block.bytes);
        if (!publish(block.size == block_bytes)) return;
      }
      return;
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    failure_ = failure;
    ended_ = true;
    changed_.notify_one();
  }

  /// Some bytes into `buffer`; none at the end. Throws what the source threw, behind its last byte.
  std::size_t take(std::span<char> buffer) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return emptied_ < filled_ || ended_; });
    if (emptied_ == filled_) {
      if (failure_) std::rethrow_exception(failure_);
      return 0;
    }
    lock.unlock();
    const Block& block = ring_[emptied_ % blocks];
    const auto bytes = std::min(buffer.size(), block.size - taken_);
    std::copy_n(block.bytes.begin() + static_cast<std::ptrdiff_t>(taken_), bytes, buffer.begin());
    taken_ += bytes;
    if (taken_ < block.size) return bytes;
    taken_ = 0;
    lock.lock();
    ++emptied_;
    if (filled_ - emptied_ == blocks / 2) changed_.notify_one();
    return bytes;
  }

 private:
  struct Block {
    std::vector<char> bytes;
    std::size_t size = 0;
  };

  bool wait_for_room(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [&] { return filled_ - emptied_ < blocks; }) &&
           !stop.stop_requested();
  }

  /// False after the last block. An empty block is none: the other side takes "no bytes" for the
  /// end.
  bool publish(bool more) {
    const std::scoped_lock lock(mutex_);
    if (ring_[filled_ % blocks].size > 0) ++filled_;
    ended_ = !more;
    if (ended_ || filled_ - emptied_ >= blocks / 2) changed_.notify_one();
    return more;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::array<Block, blocks> ring_;
  std::size_t filled_ = 0;   // blocks, since the beginning
  std::size_t emptied_ = 0;  // likewise
  std::size_t taken_ = 0;    // bytes of the block that is being emptied; the emptier's
  bool ended_ = false;
  std::exception_ptr failure_;
};

class ReadAheadSource final : public ByteSource {
 public:
  explicit ReadAheadSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  const std::string& name() const override { return source_->name(); }
  const std::string& damage() const override { return damage_; }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size() && !ended_) {
      const auto left = buffer.subspan(filled);
      filled += thread_.joinable() ? take(left) : read_here(left);
    }
    return filled;
  }

 private:
  std::size_t read_here(std::span<char> buffer) {
    const auto wanted = buffer.first(std::min(buffer.size(), left_here_));
    const auto got = source_->read(wanted);
    left_here_ -= got;
    if (got < wanted.size()) {
      end();
    } else if (left_here_ == 0) {
      start();
    }
    return got;
  }

  std::size_t take(std::span<char> buffer) {
    const auto got = queue_.take(buffer);
    if (got == 0) {
      thread_.join();
      end();
    }
    return got;
  }

  void start() {
    try {
      thread_ =
          std::jthread([this](const std::stop_token& stop) { queue_.fill_from(*source_, stop); });
    } catch (const std::system_error&) {  // the limit on threads is reached
      left_here_ = std::numeric_limits<std::size_t>::max();
    }
  }

  void end() {
    ended_ = true;
    damage_ = source_->damage();
  }

  std::unique_ptr<ByteSource> source_;
  std::string damage_;
  std::size_t left_here_ = bytes_before_reading_ahead;
  bool ended_ = false;
  BlockQueue queue_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace

std::unique_ptr<ByteSource> read_ahead(std::unique_ptr<ByteSource> source) {
  if (std::thread::hardware_concurrency() == 1) return source;
  return std::make_unique<ReadAheadSource>(std::move(source));
}

}  // namespace scaleworth::trace
