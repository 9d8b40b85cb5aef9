// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "tests/catch.h"
#include "tests/unit/core/run_builder.h"

using namespace scaleworth;

TEST_CASE("a whole run lacks nothing, a skipped probe included", "[run]") {
  Run run;
  run.complete = true;
  run.probes.resize(2);
  run.probes[0].status = ProbeStatus::measured;
  run.probes[1].status = ProbeStatus::skipped;
  REQUIRE(missing(run).empty());
}

TEST_CASE("a killed run says what was not reached, cut short and failed", "[run]") {
  Run run = full_run();
  run.complete = false;
  run.interruption.clear();
  run.probes.push_back({"step.training", ProbeStatus::pending, "", 0.0, {full_point()}, {}, {}});
  run.probes.push_back({"roofline.gemm", ProbeStatus::pending, "", 0.0, {}, {}, {}});
  REQUIRE(missing(run) ==
          std::vector<std::string>{"the run did not finish: it was killed, or it is still going on",
                                   "comm.collectives failed, 0 points kept: rank 1 was lost",
                                   "step.training was cut short, 1 point kept",
                                   "roofline.gemm was asked for and not reached"});
}

TEST_CASE("an interrupted run gives its reason", "[run]") {
  Run run;
  run.interruption = "interrupted by signal 2";
  REQUIRE(missing(run) == std::vector<std::string>{"the run ended early: interrupted by signal 2"});
}

TEST_CASE("each status has a word that is read back", "[run]") {
  REQUIRE(probe_status(probe_status_name(ProbeStatus::pending)) == ProbeStatus::pending);
  REQUIRE(probe_status(probe_status_name(ProbeStatus::skipped)) == ProbeStatus::skipped);
  REQUIRE_FALSE(probe_status("unknown"));
}
