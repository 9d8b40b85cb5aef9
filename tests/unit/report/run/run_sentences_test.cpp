// SPDX-License-Identifier: Apache-2.0
#include "report/run/run_report.h"
#include "src/core/run.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/scaling_run.h"

#include <algorithm>

using namespace scaleworth;
using namespace scaleworth::report;
using scaleworth::model::AnalysisOptions;
using scaleworth::testing::add_training;
using scaleworth::testing::LedgerTimes;
using scaleworth::testing::probe;
using scaleworth::testing::scattered;
using scaleworth::testing::whole_run;

namespace {

std::vector<Finding> findings_of_run(const Run& run, const AnalysisOptions& options) {
  return findings_of(run, model::analyse(run, options));
}

bool says(const std::vector<Finding>& findings, const std::string& text, bool warning) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.warning == warning && finding.text.find(text) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("the findings warn of an interrupted run and failed probes", "[sentences]") {
  Run run = whole_run();
  run.complete = false;
  run.interruption = "SIGINT";
  probe(run, probe_name::comm_collectives).status = ProbeStatus::failed;
  probe(run, probe_name::comm_collectives).reason = "rank 1 was lost";
  probe(run, probe_name::roofline_gemm).status = ProbeStatus::skipped;
  probe(run, probe_name::roofline_gemm).reason = "no OpenBLAS";
  const auto findings = findings_of_run(run, {});
  CHECK(says(findings, "not complete: SIGINT", true));
  CHECK(says(findings, "comm.collectives failed: rank 1 was lost", true));
  // Under "not measured", with the reason; it says nothing against what was measured.
  CHECK_FALSE(says(findings, "no OpenBLAS", true));
}

TEST_CASE("the findings warn of more ranks than workers and a slowed rank", "[sentences]") {
  Run run = whole_run();
  const LedgerTimes rank{10, 0, 0, 0, 10, 0, 0, {}};
  add_training(run, {"strong", 4, 1024, scattered(20), {2}, {rank, rank, rank, rank}});
  Point& last = probe(run, probe_name::step_training).points.back();
  last.setting.set(Parameter::straggler_rank, std::int64_t{3});
  last.setting.set(Parameter::straggler_per_mille, std::int64_t{2000});
  const auto findings = findings_of_run(run, {});
  CHECK(says(findings, "4 ranks share 2 workers", true));
  CHECK(says(findings, "rank 3 was slowed on purpose by a factor of 2", true));
}

TEST_CASE("a run with nothing measured has its warning", "[sentences]") {
  const auto findings = findings_of_run(Run{}, {});
  REQUIRE(findings.size() == 1);
  CHECK(findings.front().warning);
}

