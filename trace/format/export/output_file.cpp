// SPDX-License-Identifier: Apache-2.0
#include "trace/format/export/output_file.h"

#include "src/core/error.h"
#include "src/core/interrupt.h"

#include <filesystem>

#include <fmt/format.h>
#include <zlib.h>

namespace scaleworth::trace {
namespace {

constexpr std::size_t piece = 1 << 20;

}  // namespace

void OutputFile::Close::operator()(gzFile_s* file) const {
  gzclose(file);
}

OutputFile::OutputFile(const std::string& path, std::uint64_t most_bytes)
    : path_(path), part_(path + ".part"), most_bytes_(most_bytes) {
  // zlib's mode T writes what it is given, so that one path serves both kinds.
  file_.reset(gzopen(part_.c_str(), path.ends_with(".gz") ? "wb6" : "wbT"));
  if (!file_) fail();
  buffer_.reserve(piece + (piece >> 4U));
}

OutputFile::~OutputFile() {
  file_.reset();
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

void OutputFile::fail() const {
  throw UserError(
      fmt::format("{} cannot be written: check the folder, its rights and its space", path_));
}

void OutputFile::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= piece) flush();
}

void OutputFile::flush() {
  check_interrupt();
  if (!buffer_.empty() &&
      gzwrite(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size())) == 0)
    fail();
  buffer_.clear();
  if (static_cast<std::uint64_t>(gzoffset(file_.get())) > most_bytes_) throw OutputTooLarge{};
}

std::uint64_t OutputFile::commit() {
  flush();
  if (gzclose(file_.release()) != Z_OK) fail();
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(part_, error);
  if (!error && size > most_bytes_) throw OutputTooLarge{};
  if (!error) std::filesystem::rename(part_, path_, error);
  if (error) fail();
  return size;
}

}  // namespace scaleworth::trace
