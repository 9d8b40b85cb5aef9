// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/process/output_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace scaleworth::gpu {

OutputFile::~OutputFile() {
  abandon();
}

void OutputFile::abandon() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

std::string OutputFile::create(const std::string& directory, const std::string& stem) {
  constexpr int most_tries = 1000;  // a process id comes back, or exec keeps it
  std::string path;
  for (int attempt = 1; attempt <= most_tries; ++attempt) {
    path =
        directory + "/" + stem + (attempt == 1 ? "" : "-" + std::to_string(attempt)) + ".swtrace";
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor_ >= 0) return {};
    if (errno != EEXIST) break;
  }
  return path + ": " + std::strerror(errno);
}

std::string OutputFile::append(std::string_view bytes) {
  std::string_view left = bytes;
  while (!left.empty()) {
    const ssize_t written = ::write(descriptor_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const std::string reason = std::strerror(written < 0 ? errno : ENOSPC);
      // Half a frame would hide all that comes after it.
      const bool restored = ::ftruncate(descriptor_, static_cast<off_t>(whole_bytes_)) == 0 &&
                            ::lseek(descriptor_, static_cast<off_t>(whole_bytes_), SEEK_SET) >= 0;
      if (!restored) abandon();
      return reason;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  whole_bytes_ += bytes.size();
  return {};
}

}  // namespace scaleworth::gpu
