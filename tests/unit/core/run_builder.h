// SPDX-License-Identifier: Apache-2.0
/// A run in which every member has a value, for tests that write and read runs.
#pragma once

#include "src/core/run.h"

namespace scaleworth {

inline Point full_point() {
  Point point;
  point.setting = {{Parameter::isa, Isa::avx2},
                   {Parameter::workers, std::int64_t{2}},
                   {Parameter::library, std::string("a library")},
                   {Parameter::nontemporal, true}};
  point.amounts = {{Metric::flops, 1e9}};
  point.samples = {{Metric::wall_s, {0.1, 1.0 / 3.0, 5e-324}}, {Metric::cpu_s, {0.1, 0.2, 0.3}}};
  point.samples[Metric::cpu_s].sampling = {Sampling::Kind::mean, 20, 1e-8};
  point.stop_reason = {{FindingId::sampling_converged, Finding(FindingId::median_within, 0.01)}};
  point.warnings = {{FindingId::samples_rise, 0.05, 12, 1e-4}};
  return point;
}

inline Run full_run() {
  Run run;
  run.tool_version = "0.1.0";
  run.git_revision = "abc";
  run.started_at = "2026-11-21T09:11:00Z";
  run.command_line = {"scaleworth", "bench"};
  run.suite = "quick";
  run.complete = true;
  run.interruption = Finding(FindingId::stated, "interrupted by signal 2");
  run.environment = {
      {"cpu", {{"cores", Value(std::int64_t{2}), "hwloc"}, {"clock", std::nullopt, "hidden"}}}};
  run.placement = RankPlacement{16, 2, true};
  run.gpu_links = {{0, 1, LinkKind::nvlink, 18}};
  run.probes = {
      {"roofline.compute", ProbeStatus::measured, std::nullopt, 1.5, {full_point()}, {}, {}},
      {"comm.collectives",
       ProbeStatus::failed,
       Finding(FindingId::stated, "rank 1 was lost"),
       0.25,
       {},
       {{FindingId::stated, "one \"odd\" size"}},
       {{"discarded_samples", 3.0}}}};
  run.warnings = {{FindingId::oversubscribed, 4, 2}};
  run.files = {"trace.json"};
  return run;
}

}  // namespace scaleworth
