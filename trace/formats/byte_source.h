// SPDX-License-Identifier: Apache-2.0
/// A file's bytes from begin to end, decompressed, whatever it was stored in.
#pragma once

#include "src/core/non_copyable.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace scaleworth::trace {
/// Readers take one of these:
///   std::vector<Recording> read_kineto(ByteSource& source, const RuleTable& rules);
/// and return one recording per rank (a file may hold several), with Origin::file = name(), times
/// on the file's clock, events sorted. A truncated or damaged file gives what could be read, with
/// Recording::losses and a remark naming the position; UserError when nothing could be read.
class ByteSource : NonCopyable {
 public:
  virtual ~ByteSource() = default;
  /// For messages: the path, with the member's name after a colon for archives.
  virtual const std::string& name() const = 0;
  /// Fills `buffer` from the front; fewer bytes than asked for only at the end. A damaged
  /// compressed stream ends there and `damage` says so. Throws UserError when reading fails.
  virtual std::size_t read(std::span<char> buffer) = 0;
  /// Why the stream ended early, with the position; empty when it did not.
  virtual const std::string& damage() const = 0;
};

/// Opens `path`, plain, gzip or zstd by its first bytes. Throws UserError.
std::unique_ptr<ByteSource> open_byte_source(const std::string& path);

/// What `stored` holds once gzip or zstd is taken off, by its first bytes; `stored` itself
/// otherwise. For members of archives: compressed in what is compressed is taken apart too. What is
/// long is decompressed on a thread of its own, which alone reads `stored` while the result lives.
std::unique_ptr<ByteSource> decompressed(std::unique_ptr<ByteSource> stored);

/// A stream that can be looked into before it is read.
class PeekedSource final : public ByteSource {
 public:
  /// Holds the first bytes of `source`, at most `bytes`.
  PeekedSource(std::unique_ptr<ByteSource> source, std::size_t bytes);
  /// The first bytes of the stream, for as long as nothing was read.
  std::string_view front() const { return std::string_view(front_).substr(taken_); }
  const std::string& name() const override { return source_->name(); }
  std::size_t read(std::span<char> buffer) override;
  const std::string& damage() const override { return source_->damage(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string front_;
  std::size_t taken_ = 0;
};

// A stream whose bytes are made on a thread of their own, ahead of whoever takes them.

/// So much is read by the caller's own thread first: short streams need no other.
inline constexpr std::size_t bytes_before_reading_ahead = std::size_t{2} << 20;

/// The most that is read and not yet taken.
inline constexpr std::size_t bytes_read_ahead = std::size_t{2} << 20;

/// The same bytes, the same damage and the same exceptions at the same place as `source` itself.
/// The thread ends with the stream or with the object, whichever is first. Where there is but one
/// processor, or no thread can be had, the caller's thread does all.
std::unique_ptr<ByteSource> read_ahead(std::unique_ptr<ByteSource> source);

// The files in a tar or zip archive, one after the other, as it streams by.

/// Folders, links, devices and files with holes are passed over.
class TarReader {
 public:
  /// `archive` must outlive the reader. Throws what it throws.
  explicit TarReader(ByteSource& archive);
  ~TarReader();

  /// The next regular file, named "archive:path"; null at the end. What was not read of the one
  /// before is passed over; that one must not be read any more.
  std::unique_ptr<ByteSource> next();
  /// Why the archive ended early, with the position; empty when it did not.
  const std::string& damage() const;

  /// True for the first 512 bytes or more of a tar archive, and those of a zip.
  static bool recognizes(std::string_view front);

 private:
  class Member;
  struct Stream;

  std::unique_ptr<Stream> stream_;
};
}  // namespace scaleworth::trace
