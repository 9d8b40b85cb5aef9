// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/atomic_file.h"

#include "src/core/error.h"
#include "src/core/process.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace scaleworth {
namespace {
namespace fs = std::filesystem;

const char* remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose another output directory";
    case EFBIG:
      return "raise the file size limit (ulimit -f) or choose another output directory";
    case EEXIST:
      return "choose another output directory";
    default:
      return "choose an output directory that you may write to";
  }
}

[[noreturn]] void fail(const fs::path& path, int error) {
  throw UserError("cannot write {}: {}; {}", path.string(), std::strerror(error), remedy(error));
}

/// A file descriptor that is closed when it goes out of scope; calls interrupted by a signal go on.
class File {
 public:
  File(const fs::path& path, int flags)
      : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  bool write_all(std::string_view contents) {
    while (!contents.empty()) {
      const ssize_t written = ::write(descriptor_, contents.data(), contents.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      contents.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  bool sync() {
    int result = 0;
    do {
      result = fsync(descriptor_);
    } while (result != 0 && errno == EINTR);
    // Pipes and some network file systems cannot sync; that is no loss of data.
    return result == 0 || errno == EINVAL || errno == ENOTSUP;
  }
  /// Network file systems report a full disk as late as here.
  bool close() {
    if (descriptor_ < 0) return true;
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    return result == 0 || errno == EINTR;
  }

 private:
  int descriptor_;
};

void sync_directory(const fs::path& directory) {
  File folder(directory.empty() ? fs::path(".") : directory, O_RDONLY | O_DIRECTORY);
  if (folder.is_open()) folder.sync();  // best effort: the rename itself has happened
}
}  // namespace

void write_file_atomically(const fs::path& path, std::string_view contents) {
  const fs::path temporary =
      path.parent_path() / fmt::format(".{}.{}.tmp", path.filename().string(), getpid());
  unlink(temporary.c_str());  // of a process that was killed, or of somebody who guessed the name
  File file(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (!file.is_open()) fail(path, errno);
  if (!file.write_all(contents) || !file.sync() || !file.close() ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(temporary.c_str());
    fail(path, error);
  }
  sync_directory(path.parent_path());
}

void append_to_file(const fs::path& path, std::string_view contents, Existing existing) {
  const int exclusive = existing == Existing::refuse ? O_EXCL : 0;
  File file(path, O_WRONLY | O_CREAT | O_APPEND | exclusive);
  struct stat before {};
  if (!file.is_open() || fstat(file.descriptor(), &before) != 0) fail(path, errno);
  if (file.write_all(contents)) return;
  const int error = errno;
  // Shortening needs no space; should even that fail, the last line of the file is a partial one.
  if (ftruncate(file.descriptor(), before.st_size) != 0) {
    throw UserError("cannot write {}: {}, and its last line is now incomplete; {}",
                    path.string(),
                    std::strerror(error),
                    remedy(error));
  }
  if (existing == Existing::refuse) unlink(path.c_str());
  fail(path, error);
}

MemoryFile::MemoryFile() : descriptor_(memfd_create("scaleworth", MFD_CLOEXEC)) {}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string MemoryFile::path() const {
  return descriptor_ < 0 ? "/dev/null" : fmt::format("/proc/{}/fd/{}", getpid(), descriptor_);
}

std::uintmax_t MemoryFile::size() const {
  std::error_code trouble;
  const std::uintmax_t size = fs::file_size(path(), trouble);
  return trouble ? 0 : size;
}

void make_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail(path, error.value());
  if (!fs::is_directory(path, error)) fail(path, ENOTDIR);
}

std::string read_whole(const std::string& path,
                       const std::string& name,
                       std::uintmax_t most,
                       const std::string& limit) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::string piece(1 << 16, '\0');  // a pipe does not say its size
  std::error_code ignored;
  bool large = fs::file_size(path, ignored) > most && !ignored;
  while (file && !large) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    large = text.size() > most;
  }
  if (large) throw UserError("{}: more than {} bytes{}", name, most, limit);
  if (file.eof()) return text;
  // Only where it cut this short: what was measured before an interrupt is read to be kept.
  if (errno == EINTR) check_interrupt();
  throw UserError("{}: {}", name, std::strerror(errno));
}
}  // namespace scaleworth
