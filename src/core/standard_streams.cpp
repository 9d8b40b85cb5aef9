// SPDX-License-Identifier: Apache-2.0
#include "src/core/standard_streams.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace scaleworth {
namespace {
constexpr int patience_ms = 1000;  // with a stream that takes nothing now

/// While it lives SIGPIPE does not reach this thread, and none that came meanwhile stays behind.
class PipeSignalBlock {
 public:
  PipeSignalBlock() noexcept {
    sigset_t waiting;
    sigpending(&waiting);
    was_waiting_ = sigismember(&waiting, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlock() {
    constexpr timespec now{};
    if (!was_waiting_)
      while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  PipeSignalBlock(const PipeSignalBlock&) = delete;
  PipeSignalBlock& operator=(const PipeSignalBlock&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_waiting_ = false;
};
}  // namespace

void keep_standard_descriptors() noexcept {
  // The wrong way round: reading from stdin and writing to the others fails, as on a closed one.
  for (const auto& [descriptor, mode] :
       {std::pair(STDIN_FILENO, O_WRONLY), {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDONLY}}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    const int opened = open("/dev/null", mode);  // the lowest number that is free
    if (opened < 0 || opened == descriptor) continue;
    dup2(opened, descriptor);
    close(opened);
  }
}

void write_error(std::string_view text) noexcept {
  const PipeSignalBlock block;
  const int before = errno;
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
      if (poll(&ready, 1, patience_ms) <= 0) break;
    } else if (errno != EINTR) {
      break;
    }
  }
  errno = before;
}
}  // namespace scaleworth
