// SPDX-License-Identifier: Apache-2.0
/// The files in a tar archive, one after the other, as it streams by.
#pragma once

#include "trace/format/input/byte_source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace scaleworth::trace {

/// Reads ustar, pax (paths and sizes) and GNU's long names. Folders, links and devices are passed
/// over.
class TarReader {
 public:
  /// `archive` must outlive the reader.
  explicit TarReader(ByteSource& archive);

  /// The next regular file, named "archive:path"; null at the end. What was not read of the one
  /// before is passed over; that one must not be read any more.
  std::unique_ptr<ByteSource> next();
  /// Why the archive ended early, with the position; empty when it did not.
  const std::string& damage() const { return damage_; }

  /// True for the first 512 bytes or more of an archive.
  static bool recognizes(std::string_view front);

 private:
  class Member;
  struct Header;

  std::optional<Header> read_header();
  std::string read_text(std::uint64_t size);
  std::size_t read(std::span<char> buffer);
  void skip(std::uint64_t bytes);

  ByteSource& archive_;
  std::uint64_t position_ = 0;   // in the archive
  std::uint64_t remaining_ = 0;  // of the member, without padding
  std::uint64_t padding_ = 0;    // behind it
  std::string damage_;
};

}  // namespace scaleworth::trace
