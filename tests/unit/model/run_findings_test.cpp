// SPDX-License-Identifier: Apache-2.0
#include "src/core/run.h"
#include "src/model/analysis.h"
#include "tests/catch.h"
#include "tests/unit/model/decision/scaling_run.h"

#include <algorithm>

using namespace scaleworth;
using scaleworth::testing::add_training;
using scaleworth::testing::LedgerTimes;
using scaleworth::testing::probe;
using scaleworth::testing::scattered;
using scaleworth::testing::whole_run;

namespace {
model::RunFindings found(const Run& run) {
  return model::run_findings(run, model::analyse(run, {}));
}

bool warns(const model::RunFindings& findings, const Finding& of) {
  return std::ranges::count(findings.warnings, of) == 1;
}
}  // namespace

TEST_CASE("the findings warn of an interrupted run and failed probes", "[findings]") {
  Run run = whole_run();
  run.complete = false;
  const Finding signal(FindingId::stated, "SIGINT");
  const Finding lost(FindingId::stated, "rank 1 was lost");
  run.interruption = signal;
  probe(run, probe_name::comm_collectives).status = ProbeStatus::failed;
  probe(run, probe_name::comm_collectives).reason = lost;
  probe(run, probe_name::roofline_gemm).status = ProbeStatus::skipped;
  probe(run, probe_name::roofline_gemm).reason = Finding(FindingId::stated, "no OpenBLAS");
  const auto findings = found(run);
  CHECK(warns(findings, {FindingId::run_not_complete, signal}));
  CHECK(warns(findings, {FindingId::probe_failed_because, probe_name::comm_collectives, lost}));
  // The one skipped stands under "not measured"; it says nothing against what was measured.
  CHECK(std::ranges::none_of(findings.warnings, [](const Finding& of) {
    return !of.arguments.empty() && of.arguments.front() == probe_name::roofline_gemm;
  }));
}

TEST_CASE("the findings warn of more ranks than workers and a slowed rank", "[findings]") {
  Run run = whole_run();
  const LedgerTimes rank{10, 0, 0, 0, 10, 0, 0, {}};
  add_training(run, {"strong", 4, 1024, scattered(20), {2}, {rank, rank, rank, rank}});
  Point& last = probe(run, probe_name::step_training).points.back();
  last.setting.set(Parameter::straggler_rank, std::int64_t{3});
  last.setting.set(Parameter::straggler_per_mille, std::int64_t{2000});
  const auto findings = found(run);
  CHECK(warns(findings, {FindingId::ranks_share_workers, 4, 2, "strong"}));
  CHECK(std::ranges::count(findings.warnings, FindingId::mode_slowed, &Finding::id) == 1);
}

TEST_CASE("a run with nothing measured has its warning", "[findings]") {
  const auto findings = found(Run{});
  CHECK(findings.warnings == std::vector{Finding(FindingId::run_ended_early)});
  CHECK(findings.results.empty());
}
