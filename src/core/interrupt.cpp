// SPDX-License-Identifier: Apache-2.0
#include "src/core/interrupt.h"

#include <array>
#include <csignal>
#include <string>

namespace scaleworth {
namespace {

// A signal handler may only write to a lock-free global.
volatile std::sig_atomic_t received_signal =
    0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

extern "C" void remember_signal(int signal) {
  received_signal = signal;
  std::signal(signal, SIG_DFL);  // the second one is taken literally
}

}  // namespace

Interrupted::Interrupted(int signal)
    : std::runtime_error("interrupted by signal " + std::to_string(signal)), signal_(signal) {}

void install_interrupt_handlers() {
  for (const int signal : std::array{SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    struct sigaction action {};
    action.sa_handler = remember_signal;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);  // without SA_RESTART: a blocked read or wait returns
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

int interrupt_signal() {
  return received_signal;
}

void check_interrupt() {
  if (received_signal != 0) throw Interrupted(received_signal);
}

}  // namespace scaleworth
