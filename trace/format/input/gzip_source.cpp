// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "trace/format/input/compressed.h"

#include <vector>

#include <fmt/format.h>
#include <zlib.h>

namespace scaleworth::trace {

namespace {

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

}  // namespace

std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> stored) {
  return std::make_unique<GzipSource>(std::move(stored));
}

}  // namespace scaleworth::trace
