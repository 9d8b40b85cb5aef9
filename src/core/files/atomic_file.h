// SPDX-License-Identifier: Apache-2.0
/// Files as wholes: never half of one, whatever happens while they are written; read within bounds.
#pragma once

#include "src/core/non_copyable.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth {
/// Files are the user's alone to read: a run says much about a machine and a job.

/// A file that takes its name only when it is whole. Until then it has no name, or, where the file
/// system knows no such files, one in the same folder that nobody can foresee; it goes with this
/// object, and without a name with the process, however that ends.
class NewFile : NonCopyable {
 public:
  enum class Readers { user, as_umask };
  /// Throws UserError naming `path`, cause and remedy, as all of them.
  explicit NewFile(std::filesystem::path path, Readers readers = Readers::user);
  ~NewFile();

  int descriptor() const { return descriptor_; }
  void write(std::string_view contents);
  /// Replaces what has the name: fsync, rename, fsync of the directory. To be called once.
  void commit();
  /// Throws for the last error of the system.
  [[noreturn]] void fail() const;

 private:
  /// Calls `take` with free names in temporary_ until it is true.
  bool for_free_name(const std::function<bool()>& take);

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: it has no name
  int descriptor_ = -1;
};

/// Replaces `path` by `contents` as one step. Throws UserError as above; `path` is then as before.
void write_file_atomically(const std::filesystem::path& path, std::string_view contents);

enum class Existing { append, refuse };

/// Appends whole or not at all; throws UserError as above. `refuse`: the file must not exist yet.
void append_to_file(const std::filesystem::path& path,
                    std::string_view contents,
                    Existing existing);

/// A file in memory that other processes of this user can write to by its path, while it lives.
class MemoryFile : NonCopyable {
 public:
  MemoryFile();
  ~MemoryFile();
  /// Where the system has no such files, one that keeps nothing.
  std::string path() const;
  std::uintmax_t size() const;

 private:
  int descriptor_;
};

/// Creates the directory and its parents. Throws UserError as above.
void make_directory(const std::filesystem::path& path);

/// Where a file of ours may lie for a program at `program`, best first: beside it, and in
/// lib/scaleworth below the three folders above it (an installation's prefix, a build tree).
std::vector<std::filesystem::path> installed_candidates(const std::filesystem::path& program,
                                                        const std::string& name);
/// The first of them for this program that is there; empty for none.
std::filesystem::path find_installed(const std::string& name);

/// The contents of a file or pipe. Throws UserError beginning with `name` when it cannot be read,
/// and ending in `limit` when it has more than `most` bytes.
std::string read_whole(const std::string& path,
                       const std::string& name,
                       std::uintmax_t most,
                       const std::string& limit);
}  // namespace scaleworth
