// SPDX-License-Identifier: Apache-2.0
#include "src/cli/trace/child.h"

#include "src/core/error.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace scaleworth::cli {
namespace {

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

sigset_t set_of_waited_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : passed_on) ::sigaddset(&set, signal);
  ::sigaddset(&set, SIGCHLD);
  return set;
}

[[noreturn]] void become(const std::vector<std::string>& command,
                         const trace::Variables& variables,
                         const sigset_t& mask,
                         int report) {
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> copies = command;
  std::vector<char*> words;
  words.reserve(copies.size() + 1);
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  std::signal(SIGXFSZ, SIG_DFL);  // ours is ignored, and that would be inherited
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::execvp(words.front(), words.data());
  const int error = errno;
  static_cast<void>(!::write(report, &error, sizeof(error)));
  ::_exit(127);
}

/// The error number of a failed exec; 0 when the program runs.
int exec_error(int report) {
  int error = 0;
  ssize_t bytes = 0;
  do {
    bytes = ::read(report, &error, sizeof(error));
  } while (bytes < 0 && errno == EINTR);
  return bytes == sizeof(error) ? error : 0;
}

int wait_for(pid_t child, const sigset_t& waited) {
  while (true) {
    siginfo_t info{};
    const int signal = ::sigwaitinfo(&waited, &info);
    if (signal > 0 && signal != SIGCHLD) {
      const bool from_terminal = info.si_code == SI_KERNEL;
      if (!from_terminal) ::kill(child, signal);
    }
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
  }
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& command, const trace::Variables& variables) {
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0)
    throw UserError(std::string("no pipe for the program: ") + std::strerror(errno));
  const sigset_t waited = set_of_waited_signals();
  sigset_t before;
  std::signal(SIGCHLD, SIG_DFL);  // ignored, children would leave no status
  ::pthread_sigmask(SIG_BLOCK, &waited, &before);
  const pid_t child = ::fork();
  if (child == 0) become(command, variables, before, report[1]);
  ::close(report[1]);
  const int error = child < 0 ? errno : exec_error(report[0]);
  ::close(report[0]);
  const int status = child < 0 ? 0 : wait_for(child, waited);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    throw UserError(command.front() + " cannot be run: " + std::strerror(error) +
                    "; give the program and its arguments after --");
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace scaleworth::cli
