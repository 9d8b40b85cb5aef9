// SPDX-License-Identifier: Apache-2.0
/// Files as wholes: never half of one, whatever happens while they are written; read within bounds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace scaleworth {
/// Files are the user's alone to read: a run says much about a machine and a job.

/// Replaces `path` by `contents` as one step: temporary file, fsync, rename, fsync of the
/// directory. Throws UserError naming path, cause and remedy; `path` is then as before.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

enum class Existing { append, refuse };

/// Appends whole or not at all; throws UserError as above. `refuse`: the file must not exist yet.
void append_to_file(const std::filesystem::path& path,
                    std::string_view contents,
                    Existing existing);

/// A file in memory that other processes of this user can write to by its path, while it lives.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  /// Where the system has no such files, one that keeps nothing.
  std::string path() const;
  std::uintmax_t size() const;

 private:
  int descriptor_;
};

/// Creates the directory and its parents. Throws UserError as above.
void make_directory(const std::filesystem::path& path);

/// The contents of a file or pipe. Throws UserError beginning with `name` when it cannot be read,
/// and ending in `limit` when it has more than `most` bytes.
std::string read_whole(const std::string& path,
                       const std::string& name,
                       std::uintmax_t most,
                       const std::string& limit);
}  // namespace scaleworth
