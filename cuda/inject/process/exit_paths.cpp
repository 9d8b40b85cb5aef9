// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/process/exit_paths.h"

#include "cuda/inject/session/session.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include <pthread.h>

namespace scaleworth::gpu {
namespace {

constexpr std::array watched{SIGTERM, SIGINT};
std::array<struct sigaction, watched.size()> earlier_actions{};

void end_recording() {
  Session* session = Session::existing();
  if (session != nullptr) session->finish();
}

void in_child() {
  Session* session = Session::existing();
  if (session != nullptr) session->forked();
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const auto index = static_cast<std::size_t>(signal == watched[0] ? 0 : 1);
  const struct sigaction& earlier = earlier_actions[index];
  Session* session = Session::existing();
  if ((earlier.sa_flags & SA_SIGINFO) != 0) {
    if (session != nullptr) session->hurry();
    earlier.sa_sigaction(signal, info, context);
  } else if (earlier.sa_handler != SIG_DFL) {
    if (session != nullptr) session->hurry();
    earlier.sa_handler(signal);
  } else if (session != nullptr) {
    session->finish_by_signal(signal);
  } else {
    std::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  errno = error;
}

void watch(std::size_t index) {
  struct sigaction& earlier = earlier_actions[index];
  if (::sigaction(watched[index], nullptr, &earlier) != 0) return;
  if ((earlier.sa_flags & SA_SIGINFO) == 0 && earlier.sa_handler == SIG_IGN) return;
  struct sigaction ours {};
  ours.sa_sigaction = &on_signal;
  ours.sa_mask = earlier.sa_mask;
  // A program with a handler of its own may count on its calls being interrupted, as Python does
  // for Ctrl-C; one without must not notice that it lives on for a moment.
  const bool has_handler = (earlier.sa_flags & SA_SIGINFO) != 0 || earlier.sa_handler != SIG_DFL;
  ours.sa_flags =
      SA_SIGINFO |
      (has_handler ? earlier.sa_flags & (SA_ONSTACK | SA_NODEFER | SA_RESTART) : SA_RESTART);
  static_cast<void>(::sigaction(watched[index], &ours, nullptr));
}

}  // namespace

void watch_exit_paths() {
  static std::atomic<bool> watching{false};
  if (watching.exchange(true)) return;  // a handler chained to itself would never return
  static_cast<void>(std::atexit(&end_recording));
  static_cast<void>(::pthread_atfork(nullptr, nullptr, &in_child));
  for (std::size_t i = 0; i < watched.size(); ++i) watch(i);
}

}  // namespace scaleworth::gpu
