// SPDX-License-Identifier: Apache-2.0
/// A file that appears under its name only when it is whole, and that has a largest size.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct gzFile_s;

namespace scaleworth::trace {

/// Thrown by OutputFile: the file would grow beyond its limit.
struct OutputTooLarge {};

class OutputFile {
 public:
  /// Writes to `path` + ".part", compressed when `path` ends in ".gz". Throws UserError.
  OutputFile(const std::string& path, std::uint64_t most_bytes);
  /// Removes the part unless `commit` was called.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Throws OutputTooLarge, and UserError when the disk is full.
  void write(std::string_view bytes);
  /// Puts the file into its place; returns its size. Throws as `write` does.
  std::uint64_t commit();

 private:
  void flush();
  [[noreturn]] void fail() const;

  struct Close {
    void operator()(gzFile_s* file) const;
  };
  std::string path_;
  std::string part_;
  std::uint64_t most_bytes_;
  std::string buffer_;
  std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace scaleworth::trace
