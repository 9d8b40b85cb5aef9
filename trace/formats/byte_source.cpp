// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/byte_source.h"

#include "src/core/error.h"
#include "src/core/process.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <future>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

namespace scaleworth::trace {
namespace {
/// How much of the compressed stream is in memory at a time.
constexpr std::size_t compressed_piece_bytes = 256 * 1024;

constexpr std::string_view gzip_magic = "\x1f\x8b\x08";
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::string path) : path_(std::move(path)) {
    // A signal ends the wait for the other end of a pipe.
    while ((file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) < 0 && errno == EINTR)
      check_interrupt();
    if (file_ < 0) fail("cannot be opened");
  }
  ~FileSource() override { ::close(file_); }

  const std::string& name() const override { return path_; }
  const std::string& damage() const override { return damage_; }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      check_interrupt();
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
    throw UserError(
        "{} {}: {}. Check the path and its permissions.", path_, what, std::strerror(errno));
  }

  std::string path_;
  std::string damage_;
  int file_ = -1;
};

/// Recordings compress to a tenth or a fiftieth. What grows a thousandfold, through all layers of
/// compression, was made to fill a memory or a disk.
constexpr std::uint64_t most_growth = 1000;
constexpr std::uint64_t always_allowed = std::uint64_t{256} << 20U;

/// What is made of a compressed stream, of one part or several after each other, to its end.
/// `stored_bytes`: read so far of what was stored, below all layers of compression.
class DecompressedSource : public ByteSource {
 public:
  const std::string& name() const override { return stored_->name(); }
  const std::string& damage() const override { return damage_; }

 protected:
  using Count = std::shared_ptr<std::uint64_t>;

  DecompressedSource(std::unique_ptr<ByteSource> stored, Count stored_bytes, bool lowest)
      : stored_(std::move(stored)),
        input_(compressed_piece_bytes),
        stored_bytes_(std::move(stored_bytes)),
        lowest_(lowest) {}

  /// To be called with what each read gives.
  std::size_t given(std::size_t bytes, std::string_view format) {
    written_ += bytes;
    if (written_ > std::max(always_allowed, most_growth * *stored_bytes_) && !ended_)
      end_damaged(format, read_, "it grows more than a thousandfold, as no recording does");
    return bytes;
  }

  [[noreturn]] void refuse_memory() const {
    throw UserError("{}: there is no memory to decompress it", name());
  }

  /// The next piece in `input_`; none at the end, which is damage `inside` of a part.
  std::size_t refill(bool inside, std::string_view format) {
    const auto got = stored_->read(input_);
    read_ += got;
    if (lowest_) *stored_bytes_ += got;
    if (got > 0) return got;
    ended_ = true;
    if (!stored_->damage().empty()) {
      damage_ = stored_->damage();
    } else if (inside) {
      damage_ = fmt::format("the {} stream ends early, at its byte {}", format, read_);
    }
    return 0;
  }

  void end_damaged(std::string_view format, std::uint64_t at, std::string_view why) {
    ended_ = true;
    damage_ = fmt::format("the {} stream is damaged at its byte {} ({})", format, at, why);
  }

  std::unique_ptr<ByteSource> stored_;
  std::vector<char> input_;
  std::string damage_;
  std::uint64_t read_ = 0;  // of the compressed stream
  bool ended_ = false;

 private:
  std::uint64_t written_ = 0;
  Count stored_bytes_;
  bool lowest_;
};

/// gzip, whose parts are members.
class GzipSource final : public DecompressedSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> stored, Count stored_bytes, bool lowest)
      : DecompressedSource(std::move(stored), std::move(stored_bytes), lowest) {
    constexpr int gzip_with_largest_window = 15 + 16;
    if (inflateInit2(&stream_, gzip_with_largest_window) != Z_OK) refuse_memory();
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(std::span<char> buffer) override {
    stream_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    // One call to inflate takes 32 bits of length.
    std::size_t left = buffer.size();
    while (left > 0 && !ended_) {
      if (stream_.avail_in == 0) {
        stream_.avail_in = static_cast<uInt>(refill(inside_member_, "gzip"));
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      }
      stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(left, 1U << 30U));
      const auto asked = stream_.avail_out;
      if (!ended_) inflate_some();
      left -= asked - stream_.avail_out;
    }
    return given(buffer.size() - left, "gzip");
  }

 private:
  void inflate_some() {
    if (!inside_member_ && members_ > 0 && !another_member()) return;
    inside_member_ = true;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      inside_member_ = false;
      ++members_;
      inflateReset(&stream_);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      end_damaged("gzip",
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

  z_stream stream_{};
  int members_ = 0;
  bool inside_member_ = true;  // an empty stream is no gzip either
};

/// zstd, whose parts are frames.
class ZstdSource final : public DecompressedSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> stored, Count stored_bytes, bool lowest)
      : DecompressedSource(std::move(stored), std::move(stored_bytes), lowest),
        context_(ZSTD_createDCtx(), &ZSTD_freeDCtx) {
    if (!context_) refuse_memory();
  }

  std::size_t read(std::span<char> buffer) override {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    while (out.pos < out.size && !ended_) {
      // What the context still holds comes out before more is put in.
      if (in_.pos == in_.size && !held_back_) {
        in_ = {input_.data(), refill(inside_frame_, "zstd"), 0};
        if (ended_) break;
      }
      const std::size_t status = ZSTD_decompressStream(context_.get(), &out, &in_);
      if (ZSTD_isError(status) != 0)
        end_damaged("zstd", read_ - (in_.size - in_.pos), ZSTD_getErrorName(status));
      inside_frame_ = status != 0;
      held_back_ = inside_frame_ && out.pos == out.size;
    }
    return given(out.pos, "zstd");
  }

 private:
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
  ZSTD_inBuffer in_{};
  bool inside_frame_ = true;
  bool held_back_ = false;
};

/// Reads the next block on a thread of its own while the caller empties one. A thread for each
/// block costs some tens of microseconds, the block takes milliseconds to decompress.
class ReadAheadSource final : public ByteSource {
 public:
  explicit ReadAheadSource(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  const std::string& name() const override { return source_->name(); }
  const std::string& damage() const override { return damage_; }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size() && !ended_) {
      const auto left = buffer.subspan(filled);
      filled += left_here_ > 0 ? read_here(left) : take(left);
    }
    return filled;
  }

 private:
  /// A short stream needs no thread.
  std::size_t read_here(std::span<char> buffer) {
    const auto wanted = buffer.first(std::min(buffer.size(), left_here_));
    const auto got = source_->read(wanted);
    left_here_ -= got;
    if (got < wanted.size()) {
      end();
    } else if (left_here_ == 0) {
      start_next();
    }
    return got;
  }

  /// Some bytes into `buffer`; none at the end. Throws what the source threw, behind its last byte.
  std::size_t take(std::span<char> buffer) {
    if (taken_ == block_.size()) {
      if (last_) end();
      if (ended_) return 0;
      block_ = next_.get();
      taken_ = 0;
      last_ = block_.size() < block_bytes;
      if (!last_) start_next();
    }
    const auto taken =
        std::span(block_).subspan(taken_).first(std::min(buffer.size(), block_.size() - taken_));
    std::ranges::copy(taken, buffer.begin());
    taken_ += taken.size();
    return taken.size();
  }

  void start_next() {
    const auto fill = [this] {
      std::vector<char> block(block_bytes);
      block.resize(source_->read(block));
      return block;
    };
    try {
      next_ = std::async(std::launch::async, fill);
    } catch (const std::system_error&) {  // the limit on threads is reached
      next_ = std::async(std::launch::deferred, fill);
    }
  }

  void end() {
    ended_ = true;
    damage_ = source_->damage();
  }

  static constexpr std::size_t block_bytes = bytes_read_ahead / 2;

  std::unique_ptr<ByteSource> source_;
  std::string damage_;
  std::size_t left_here_ = bytes_before_reading_ahead;
  bool ended_ = false;
  bool last_ = false;        // no block follows
  std::vector<char> block_;  // that is being emptied
  std::size_t taken_ = 0;    // bytes of it
  // Shared: an exception is thrown at each read. The last member, whose thread uses the others.
  std::shared_future<std::vector<char>> next_;
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
  const auto stored_bytes = std::make_shared<std::uint64_t>(0);
  for (int layer = 0; layer < most_layers; ++layer) {
    auto peeked = std::make_unique<PeekedSource>(std::move(stored), zstd_magic.size());
    if (peeked->front().starts_with(gzip_magic)) {
      stored = std::make_unique<GzipSource>(std::move(peeked), stored_bytes, layer == 0);
    } else if (peeked->front() == zstd_magic) {
      stored = std::make_unique<ZstdSource>(std::move(peeked), stored_bytes, layer == 0);
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

std::unique_ptr<ByteSource> read_ahead(std::unique_ptr<ByteSource> source) {
  if (std::thread::hardware_concurrency() == 1) return source;
  return std::make_unique<ReadAheadSource>(std::move(source));
}
}  // namespace scaleworth::trace
