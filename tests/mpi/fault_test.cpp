// SPDX-License-Identifier: Apache-2.0
/// Jobs of real ranks that we start ourselves and that end badly.
#include "probes/host/ranks/self_launch.h"
#include "src/core/process.h"
#include "tests/catch.h"

#include <csignal>
#include <string>
#include <variant>

using namespace scaleworth;
using namespace scaleworth::probes::host;
using namespace std::chrono_literals;

namespace {

SelfLaunch job_with(const std::string& fault) {
  SelfLaunch job;
  job.ranks = 2;
  job.usable_cores = 1;  // other tests run beside this one
  job.program = SCALEWORTH_FAULT_PROGRAM;
  job.arguments = {fault};
  job.timeout = 40s;
  return job;
}

}  // namespace

TEST_CASE("a rank killed in a measurement ends the job and is named", "[fault]") {
  REQUIRE(self_launch(job_with("die")) ==
          Finding(FindingId::killed_by_signal, Finding(FindingId::rank_number, 1), 9, "Killed"));
}

TEST_CASE("a rank that stands still ends the job through a watchdog", "[fault]") {
  const auto failure = self_launch(job_with("stall"));
  // Which rank's watchdog is first is open: neither can know who stands still.
  REQUIRE(failure);
  REQUIRE(failure->id == FindingId::ended_with_code);
  REQUIRE(failure->arguments.at(1) == 1);
}

// Last: a received signal stays received.
TEST_CASE("our SIGINT lets all ranks finish in order", "[fault]") {
  install_interrupt_handlers();
  SelfLaunch job = job_with("measure");
  job.launcher = std::get<std::string>(find_launcher(job.launcher));
  std::string errors;
  const ChildEnding ending =
      run_child(launch_command(job, inspect_launch_host()),
                {.timeout = job.timeout, .end_signal = SIGUSR1, .on_stderr = [&](auto text) {
                   errors += text;
                   const bool begun = errors.find("measuring") != std::string::npos;
                   if (begun && interrupt_signal() == 0) std::raise(SIGINT);
                 }});
  REQUIRE(ending.forwarded == SIGINT);
  REQUIRE(ending.exit_code == 0);
  REQUIRE(errors.find("rank 0 interrupted") != std::string::npos);
  REQUIRE(errors.find("rank 1 interrupted") != std::string::npos);
}
