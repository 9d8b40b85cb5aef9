// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/byte_source.h"

#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

namespace scaleworth::trace {
namespace {
/// How much of the compressed stream is in memory at a time.
inline constexpr std::size_t compressed_piece_bytes = 256 * 1024;

constexpr std::string_view gzip_magic = "\x1f\x8b\x08";
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::string path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) fail("cannot be opened");
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override { ::close(file_); }

  const std::string& name() const override { return path_; }
  const std::string& damage() const override { return damage_; }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const auto got = ::read(file_, buffer.data() + filled, buffer.size() - filled);
      if (got == 0) break;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("cannot be read");
      filled += static_cast<std::size_t>(got);
    }
    return filled;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw UserError(fmt::format(
        "{} {}: {}. Check the path and its permissions.", path_, what, std::strerror(errno)));
  }

  std::string path_;
  std::string damage_;
  int file_;
};

/// gzip, of one member or several after each other, to the end of `stored`.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> stored)
      : stored_(std::move(stored)), input_(compressed_piece_bytes) {
    constexpr int gzip_with_largest_window = 15 + 16;
    if (inflateInit2(&stream_, gzip_with_largest_window) != Z_OK)
      throw UserError(fmt::format("{}: there is no memory to decompress it", name()));
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  const std::string& name() const override { return stored_->name(); }
  const std::string& damage() const override { return damage_; }

  std::size_t read(std::span<char> buffer) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    // One call to inflate takes 32 bits of length.
    std::size_t left = buffer.size();
    while (left > 0 && !ended_) {
      if (stream_.avail_in == 0) refill();
      stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(left, 1U << 30U));
      const auto asked = stream_.avail_out;
      if (!ended_) inflate_some();
      left -= asked - stream_.avail_out;
    }
    return buffer.size() - left;
  }

 private:
  void refill() {
    const auto got = stored_->read(input_);
    read_ += got;
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(got);
    if (got > 0) return;
    ended_ = true;
    if (!stored_->damage().empty()) {
      damage_ = stored_->damage();
    } else if (inside_member_) {
      damage_ = fmt::format("the gzip stream ends early, at its byte {}", read_);
    }
  }

  void inflate_some() {
    if (!inside_member_ && members_ > 0 && !another_member()) return;
    inside_member_ = true;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      inside_member_ = false;
      ++members_;
      inflateReset(&stream_);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      ended_ = true;
      damage_ = fmt::format("the gzip stream is damaged at its byte {} ({})",
                            read_ - stream_.avail_in,
                            stream_.msg != nullptr ? stream_.msg : "no further word of zlib");
    }
  }

  /// Behind the last member writers pad with zeros, and some tools append what is not gzip.
  bool another_member() {
    if (*stream_.next_in == 0x1f) return true;
    if (*stream_.next_in != 0)
      damage_ = fmt::format("what follows the gzip stream at byte {} is not gzip and was not read",
                            read_ - stream_.avail_in);
    ended_ = true;
    return false;
  }

  std::unique_ptr<ByteSource> stored_;
  std::vector<char> input_;
  z_stream stream_{};
  std::string damage_;
  std::uint64_t read_ = 0;
  int members_ = 0;
  bool inside_member_ = true;  // an empty stream is no gzip either
  bool ended_ = false;
};

/// zstd, of one frame or several after each other, to the end of `stored`.
struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> stored)
      : stored_(std::move(stored)), input_(compressed_piece_bytes), context_(ZSTD_createDCtx()) {
    if (!context_) throw UserError(fmt::format("{}: there is no memory to decompress it", name()));
  }

  const std::string& name() const override { return stored_->name(); }
  const std::string& damage() const override { return damage_; }

  std::size_t read(std::span<char> buffer) override {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    while (out.pos < out.size && !ended_) {
      // What the context still holds comes out before more is put in.
      if (in_.pos == in_.size && !held_back_ && !refill()) break;
      const std::size_t status = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(status) != 0) {
        ended_ = true;
        damage_ = fmt::format("the zstd stream is damaged at its byte {} ({})",
                              read_ - (in_.size - in_.pos),
                              ZSTD_getErrorName(status));
      }
      inside_frame_ = status != 0;
      held_back_ = inside_frame_ && out.pos == out.size;
    }
    return out.pos;
  }

 private:
  bool refill() {
    const auto got = stored_->read(input_);
    read_ += got;
    in_ = {input_.data(), got, 0};
    if (got > 0) return true;
    ended_ = true;
    if (!stored_->damage().empty()) {
      damage_ = stored_->damage();
    } else if (inside_frame_) {
      damage_ = fmt::format("the zstd stream ends early, at its byte {}", read_);
    }
    return false;
  }

  std::unique_ptr<ByteSource> stored_;
  std::vector<char> input_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  ZSTD_inBuffer in_{};
  std::string damage_;
  std::uint64_t read_ = 0;
  bool inside_frame_ = true;
  bool held_back_ = false;
  bool ended_ = false;
};
}  // namespace

PeekedSource::PeekedSource(std::unique_ptr<ByteSource> source, std::size_t bytes)
    : source_(std::move(source)), front_(bytes, '\0') {
  front_.resize(source_->read(front_));
}

std::size_t PeekedSource::read(std::span<char> buffer) {
  const auto held = front().substr(0, buffer.size());
  std::copy(held.begin(), held.end(), buffer.begin());
  taken_ += held.size();
  if (taken_ < front_.size()) return held.size();
  return held.size() + source_->read(buffer.subspan(held.size()));
}

std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> stored) {
  // Each turn takes one layer off; more than a few are no accident.
  constexpr int most_layers = 4;
  for (int layer = 0; layer < most_layers; ++layer) {
    auto peeked = std::make_unique<PeekedSource>(std::move(stored), zstd_magic.size());
    if (peeked->front().starts_with(gzip_magic)) {
      stored = std::make_unique<GzipSource>(std::move(peeked));
    } else if (peeked->front() == zstd_magic) {
      stored = std::make_unique<ZstdSource>(std::move(peeked));
    } else {
      stored = std::move(peeked);
      return layer == 0 ? std::move(stored) : read_ahead(std::move(stored));
    }
  }
  return read_ahead(std::move(stored));
}

std::unique_ptr<ByteSource> open_byte_source(const std::string& path) {
  return decompressed(std::make_unique<FileSource>(path));
}

namespace {
constexpr std::size_t blocks = 8;
constexpr std::size_t block_bytes = bytes_read_ahead / blocks;

/// One thread fills its blocks, another empties them. A block belongs to the filler until it is
/// counted as filled and to the emptier until it is counted as emptied. Who sleeps is woken for
/// half of the blocks at once: where processors are scarce each waking costs a turn in their queue.
class BlockQueue {
 public:
  /// Fills blocks until `source` ends, throws, or no more is wanted.
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
