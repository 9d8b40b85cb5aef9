// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/child_process.h"

#include "src/core/error.h"
#include "src/core/interrupt.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace scaleworth::probes::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int wake_ms = 100;
constexpr int cannot_start = 127;

/// Both ends of a pipe, closed when this goes.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw ProbeFailure(fmt::format("cannot open a pipe: {}", std::strerror(errno)));
    }
  }
  ~Pipe() {
    close(ends_[0]);
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Between fork and exec only async-signal-safe calls are allowed.
[[noreturn]] void become(char* const* arguments, int error_output, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(cannot_start);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(error_output, STDERR_FILENO);
  execv(arguments[0], arguments);
  constexpr std::string_view text = "scaleworth: the launcher cannot be started\n";
  (void)!write(STDERR_FILENO, text.data(), text.size());
  _exit(cannot_start);
}

pid_t start(const std::vector<std::string>& command, const Pipe& errors) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    throw ProbeFailure(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
  }
  if (child == 0) become(arguments.data(), errors.writer(), parent);
  setpgid(child, child);  // here too: a signal may have to be forwarded before it got that far
  return child;
}

/// Passes on what is there within `wait_ms`; false at the end of the stream.
bool pass_on(int reader, int wait_ms, const ChildOptions& options) {
  pollfd waiting{.fd = reader, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, wait_ms) <= 0) return true;
  std::array<char, 4096> piece{};
  const ssize_t length = read(reader, piece.data(), piece.size());
  if (length <= 0) return length < 0 && errno == EINTR;
  if (options.on_stderr) options.on_stderr({piece.data(), static_cast<std::size_t>(length)});
  return true;
}

/// Who has to be told to end, and when patience is over.
class Patience {
 public:
  Patience(pid_t child, const ChildOptions& options) : child_(child), options_(options) {}

  void watch(ChildEnding& ending) {
    const auto now = Clock::now();
    if (steps_ == 0) {
      ending.forwarded = interrupt_signal();
      ending.timed_out = options_.timeout && now - begin_ > *options_.timeout;
      if (ending.forwarded != 0 || ending.timed_out) press(options_.end_signal, now);
    } else if (now - last_ > options_.grace) {
      press(steps_ == 1 ? SIGTERM : SIGKILL, now);
    }
  }

 private:
  void press(int signal, Clock::time_point now) {
    kill(-child_, signal);
    last_ = now;
    ++steps_;
  }

  pid_t child_;
  const ChildOptions& options_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_;
  int steps_ = 0;
};

}  // namespace

ChildEnding run_child(const std::vector<std::string>& command, const ChildOptions& options) {
  Pipe errors;
  const pid_t child = start(command, errors);
  errors.close_writer();
  ChildEnding ending;
  Patience patience(child, options);
  bool open = true;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    if (open) {
      open = pass_on(errors.reader(), wake_ms, options);
    } else {
      poll(nullptr, 0, wake_ms);
    }
    patience.watch(ending);
  }
  // A grandchild may hold the pipe open: take what is there and do not wait for its end.
  fcntl(errors.reader(), F_SETFL, O_NONBLOCK);
  for (int i = 0; open && i < 64; ++i) open = pass_on(errors.reader(), 0, options);
  if (WIFSIGNALED(status)) {
    ending.signal = WTERMSIG(status);
  } else {
    ending.exit_code = WEXITSTATUS(status);
  }
  return ending;
}

}  // namespace scaleworth::probes::host
