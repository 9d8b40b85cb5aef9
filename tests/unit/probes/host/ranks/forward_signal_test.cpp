// SPDX-License-Identifier: Apache-2.0
/// A program of its own, because a received signal stays received.
#include "probes/host/ranks/self_launch.h"
#include "src/core/process.h"
#include "tests/catch.h"

#include <csignal>
#include <string>

using namespace scaleworth;
using namespace scaleworth::probes::host;

TEST_CASE("our own SIGINT reaches the child as its end signal, and it may finish in order",
          "[forward signal]") {
  install_interrupt_handlers();
  std::string errors;
  const ChildEnding ending =
      run_child({"/bin/sh",
                 "-c",
                 "trap 'echo finished >&2; exit 4' USR1; echo ready >&2; "
                 "while true; do sleep 0.01; done"},
                {.timeout = {}, .end_signal = SIGUSR1, .on_stderr = [&](std::string_view text) {
                   if (errors.empty()) std::raise(SIGINT);
                   errors += text;
                 }});
  REQUIRE(ending.forwarded == SIGINT);
  REQUIRE(ending.exit_code == 4);
  REQUIRE(errors.ends_with("finished\n"));
}
