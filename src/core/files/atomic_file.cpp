// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/atomic_file.h"

#include "src/core/error.h"
#include "src/core/process.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
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

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  throw UserError("cannot write {}: {}; {}", path.string(), std::strerror(error), remedy(error));
}

// Calls interrupted by a signal go on.

bool write_all(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool sync(int descriptor) {
  int result = 0;
  do {
    result = fsync(descriptor);
  } while (result != 0 && errno == EINTR);
  // Pipes and some network file systems cannot sync; that is no loss of data.
  return result == 0 || errno == EINVAL || errno == ENOTSUP;
}

/// A file descriptor that is closed when it goes out of scope.
class File : NonCopyable {
 public:
  File(const fs::path& path, int flags)
      : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

void sync_directory(const fs::path& directory) {
  File folder(directory.empty() ? fs::path(".") : directory, O_RDONLY | O_DIRECTORY);
  if (folder.is_open()) sync(folder.descriptor());  // best effort: the rename itself has happened
}
}  // namespace

NewFile::NewFile(fs::path path, Readers readers) : path_(std::move(path)) {
  const mode_t mode = readers == Readers::user ? 0600 : 0666;
  const fs::path parent = path_.parent_path();
  const fs::path folder = parent.empty() ? "." : parent;
  // It gets its name by the way to it in /proc.
  const bool nameless = access("/proc/self/fd", X_OK) == 0;
  if (nameless) descriptor_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  // What a file system without such files says, or a kernel: try with a name.
  if (!nameless ||
      (descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))) {
    for_free_name([&] {
      descriptor_ =
          open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
      return descriptor_ >= 0;
    });
    if (descriptor_ < 0) temporary_.clear();
  }
  if (descriptor_ < 0) fail();
}

NewFile::~NewFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void NewFile::fail() const {
  fail_to_write(path_, errno);
}

void NewFile::write(std::string_view contents) {
  if (!write_all(descriptor_, contents)) fail();
}

void NewFile::commit() {
  if (!sync(descriptor_)) fail();
  if (temporary_.empty()) {
    const std::string own = fmt::format("/proc/self/fd/{}", descriptor_);
    const bool named = for_free_name([&] {
      return linkat(AT_FDCWD, own.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    });
    if (!named) {
      temporary_.clear();
      fail();
    }
  }
  // Network file systems report a full disk as late as here.
  const int result = ::close(std::exchange(descriptor_, -1));
  if (result != 0 && errno != EINTR) fail();
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  temporary_.clear();
  sync_directory(path_.parent_path());
}

bool NewFile::for_free_name(const std::function<bool()>& take) {
  // Of 64 random bits: one more than once says that something else is wrong.
  constexpr int most_tries = 100;
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    std::uint64_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random)) return false;
    temporary_ = path_.parent_path() / fmt::format(".scaleworth-{:016x}.tmp", random);
    if (take()) return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

void write_file_atomically(const fs::path& path, std::string_view contents) {
  NewFile file(path);
  file.write(contents);
  file.commit();
}

void append_to_file(const fs::path& path, std::string_view contents, Existing existing) {
  const int exclusive = existing == Existing::refuse ? O_EXCL : 0;
  File file(path, O_WRONLY | O_CREAT | O_APPEND | exclusive);
  struct stat before {};
  if (!file.is_open() || fstat(file.descriptor(), &before) != 0) fail_to_write(path, errno);
  if (write_all(file.descriptor(), contents)) return;
  const int error = errno;
  // Shortening needs no space; should even that fail, the last line of the file is a partial one.
  if (ftruncate(file.descriptor(), before.st_size) != 0) {
    throw UserError("cannot write {}: {}, and its last line is now incomplete; {}",
                    path.string(),
                    std::strerror(error),
                    remedy(error));
  }
  if (existing == Existing::refuse) unlink(path.c_str());
  fail_to_write(path, error);
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
  if (error) fail_to_write(path, error.value());
  if (!fs::is_directory(path, error)) fail_to_write(path, ENOTDIR);
}

std::vector<fs::path> installed_candidates(const fs::path& program, const std::string& name) {
  fs::path folder = program.parent_path();
  std::vector<fs::path> candidates{folder / name};
  for (int level = 0; level < 3 && folder != folder.root_path(); ++level) {
    folder = folder.parent_path();
    candidates.push_back(folder / "lib" / "scaleworth" / name);
  }
  return candidates;
}

fs::path find_installed(const std::string& name) {
  std::error_code error;
  for (const fs::path& file : installed_candidates(fs::read_symlink("/proc/self/exe", error), name))
    if (fs::is_regular_file(file, error)) return file;
  return {};
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
