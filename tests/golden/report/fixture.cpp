// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/report/fixture.h"

#include "src/core/run.h"

namespace scaleworth::report::fixture {
namespace {

Point warned(const std::string& warning) {
  Point point;
  point.samples[Metric::wall_s] = {0.010, 0.010, 0.011};
  point.stop_reason = {{FindingId::stated, "time budget: 1.0 s spent after 3 samples"}};
  point.warnings = {{FindingId::stated, warning}};
  return point;
}

ProbeRecord probe(const std::string& name, ProbeStatus status, const std::string& reason = "") {
  ProbeRecord record;
  record.name = name;
  record.status = status;
  if (!reason.empty()) record.reason = Finding(FindingId::stated, reason);
  record.duration_s = status == ProbeStatus::measured ? 4.2 : 0.0;
  return record;
}

std::vector<FactSection> environment() {
  return {{"cpu",
           {{"model", Value{std::string("AMD EPYC 7B13")}, "/proc/cpuinfo"},
            {"isa", Value{std::string("sse2 avx fma avx2")}, "/proc/cpuinfo"},
            {"cores", Value{std::int64_t{2}}, "hwloc"},
            {"threads_per_core", Value{std::int64_t{1}}, "hwloc"},
            {"l1_data_cache_bytes", Value{std::int64_t{32768}}, "hwloc"},
            {"l1_data_cache_shared_by_cpus", Value{std::int64_t{1}}, "hwloc"},
            {"l2_cache_bytes", Value{std::int64_t{524288}}, "hwloc"},
            {"l2_cache_shared_by_cpus", Value{std::int64_t{1}}, "hwloc"},
            {"l3_cache_bytes", Value{std::int64_t{33554432}}, "hwloc"},
            {"l3_cache_shared_by_cpus", Value{std::int64_t{2}}, "hwloc"},
            {"base_frequency_hz", std::nullopt, "the hypervisor hides it"}}},
          {"memory", {{"total_bytes", Value{std::int64_t{25276514304}}, "/proc/meminfo"}}},
          {"software",
           {{"kernel", Value{std::string("Linux 6.1.0")}, "uname"},
            {"mpi", Value{std::string("Open MPI 4.1.4")}, "MPI_Get_library_version"}}},
          {"virtualisation", {{"hypervisor", Value{std::string("KVM")}, "CPUID"}}},
          {"load_during_run",
           {{"other_cpu_fraction", Value{0.01834}, "/proc/stat"},
            {"steal_fraction", Value{0.0131415926}, "/proc/stat"},
            {"watched_cpu_seconds", Value{388.880000000001}, "/proc/stat"}}},
          {"environment_variables", {{"OMP_NUM_THREADS", Value{std::string("2")}, "environment"}}}};
}

}  // namespace

Run complete_run() {
  Run run;
  run.tool_version = "0.1.0";
  run.git_revision = "0123abc";
  run.started_at = "2026-11-21T09:00:00Z";
  run.command_line = {"scaleworth", "bench", "--suite", "quick"};
  run.suite = "quick";
  run.complete = true;
  run.environment = environment();
  run.probes = {probe(probe_name::roofline_compute, ProbeStatus::measured),
                probe(probe_name::roofline_memory, ProbeStatus::measured),
                probe(probe_name::roofline_latency, ProbeStatus::measured),
                probe(probe_name::roofline_gemm, ProbeStatus::measured),
                probe(probe_name::comm_collectives, ProbeStatus::measured),
                probe(probe_name::step_training, ProbeStatus::measured),
                probe("roofline.gemm_bf16", ProbeStatus::skipped, "no bf16 here"),
                probe("comm.all_to_all", ProbeStatus::failed, "out of memory")};
  run.probes[1].points = {warned("drift: the second half is 3 % slower than the first"),
                          warned("drift: the second half is 3 % slower than the first")};
  run.probes[5].losses = {{"discarded_samples", 12.0}};
  run.warnings = {{FindingId::stated, "virtualisation steal was 1.8 % of the run"}};
  run.files = {"traces/strong_2.json"};
  return run;
}

Run interrupted_run() {
  Run run = complete_run();
  run.complete = false;
  run.interruption = Finding(FindingId::stated, "SIGINT after 21 s");
  for (std::size_t i = 5; i < run.probes.size(); ++i) {
    run.probes[i] = probe(run.probes[i].name, ProbeStatus::pending);
  }
  return run;
}

model::Analysis two_core_analysis(bool price) {
  model::Analysis analysis;
  if (price) analysis.assumptions.price_per_rank = dollars_per_hour(0.048);
  analysis.roofline = roofline();
  analysis.collectives = collectives();
  analysis.scaling = scaling(price);
  return analysis;
}

model::Analysis roofline_only() {
  model::Analysis analysis;
  analysis.roofline = roofline();
  return analysis;
}

RenderOptions options(Format format, bool details) {
  RenderOptions options;
  options.format = format;
  options.details = details;
  options.input = "scaleworth-runs/2026-11-21";
  return options;
}

}  // namespace scaleworth::report::fixture
