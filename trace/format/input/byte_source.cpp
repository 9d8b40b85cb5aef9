// SPDX-License-Identifier: Apache-2.0
#include "trace/format/input/byte_source.h"

#include "src/core/error.h"
#include "trace/format/input/compressed.h"
#include "trace/format/input/read_ahead.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace scaleworth::trace {

namespace {

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
      stored = gzip_source(std::move(peeked));
    } else if (peeked->front() == zstd_magic) {
      stored = zstd_source(std::move(peeked));
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

}  // namespace scaleworth::trace
