// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/byte_source.h"

#include <exception>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace scaleworth::trace {
namespace {
constexpr std::size_t header_bytes = 512;
constexpr std::size_t piece_bytes = 256 * 1024;
}  // namespace

/// The archive's bytes go into libarchive, those of one member after the other come out.
struct TarReader::Stream {
  explicit Stream(ByteSource& from) : archive(from) {
    archive_read_support_format_tar(reader.get());
    archive_read_support_format_zip_streamable(reader.get());
    judge(archive_read_open(reader.get(), this, nullptr, &Stream::give, nullptr));
  }

  static la_ssize_t give(::archive*, void* stream, const void** bytes) {
    auto& self = *static_cast<Stream*>(stream);
    *bytes = self.piece.data();
    try {
      return static_cast<la_ssize_t>(self.archive.read(self.piece));
    } catch (...) {
      self.failure = std::current_exception();
      return -1;
    }
  }

  /// False at the end, which a damage has as well. Throws what the source threw.
  bool judge(int status) {
    if (failure) std::rethrow_exception(failure);
    const bool damaged = status == ARCHIVE_RETRY || status < ARCHIVE_WARN;
    if (status != ARCHIVE_EOF && !damaged) return true;
    damage = archive.damage();
    if (damaged && damage.empty()) {
      const char* why = archive_error_string(reader.get());
      damage = fmt::format("the archive is damaged near its byte {} ({})",
                           archive_filter_bytes(reader.get(), -1),
                           why != nullptr ? why : "no further word of libarchive");
    }
    return false;
  }

  ByteSource& archive;
  std::vector<char> piece = std::vector<char>(piece_bytes);
  std::exception_ptr failure;  // of the source: none passes through C
  std::unique_ptr<::archive, decltype(&archive_read_free)> reader{archive_read_new(),
                                                                  &archive_read_free};
  std::string damage;
};

class TarReader::Member final : public ByteSource {
 public:
  Member(Stream& stream, std::string name) : stream_(stream), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  const std::string& damage() const override { return stream_.damage; }

  std::size_t read(std::span<char> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size() && (!rest_.empty() || refill())) {
      const auto taken = rest_.first(std::min(rest_.size(), buffer.size() - filled));
      std::ranges::copy(taken, buffer.begin() + filled);
      filled += taken.size();
      rest_ = rest_.subspan(taken.size());
    }
    return filled;
  }

 private:
  bool refill() {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    ended_ = ended_ ||
             !stream_.judge(archive_read_data_block(stream_.reader.get(), &bytes, &size, &offset));
    if (!ended_) rest_ = {static_cast<const char*>(bytes), size};
    return !ended_;
  }

  Stream& stream_;
  std::string name_;
  std::span<const char> rest_;
  bool ended_ = false;
};

TarReader::TarReader(ByteSource& archive) : stream_(std::make_unique<Stream>(archive)) {}
TarReader::~TarReader() = default;

const std::string& TarReader::damage() const {
  return stream_->damage;
}

bool TarReader::recognizes(std::string_view front) {
  constexpr std::size_t magic_at = 257;
  return front.starts_with("PK\x03\x04") ||
         (front.size() >= header_bytes && front.substr(magic_at, 5) == "ustar");
}

std::unique_ptr<ByteSource> TarReader::next() {
  archive_entry* entry = nullptr;
  while (stream_->damage.empty() &&
         stream_->judge(archive_read_next_header(stream_->reader.get(), &entry))) {
    const bool whole =
        archive_entry_hardlink(entry) == nullptr && archive_entry_sparse_count(entry) == 0;
    if (archive_entry_filetype(entry) != AE_IFREG || !whole) continue;
    const char* path = archive_entry_pathname(entry);
    return std::make_unique<Member>(
        *stream_, fmt::format("{}:{}", stream_->archive.name(), path != nullptr ? path : "?"));
  }
  return nullptr;
}
}  // namespace scaleworth::trace
