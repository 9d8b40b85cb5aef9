// SPDX-License-Identifier: Apache-2.0
#include "src/core/error.h"
#include "trace/format/input/compressed.h"

#include <vector>

#include <fmt/format.h>
#include <zstd.h>

namespace scaleworth::trace {

namespace {

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

std::unique_ptr<ByteSource> zstd_source(std::unique_ptr<ByteSource> stored) {
  return std::make_unique<ZstdSource>(std::move(stored));
}

}  // namespace scaleworth::trace
