// SPDX-License-Identifier: Apache-2.0
/// What the traced program is told, and that the capture library reads it back.
#include "src/cli/measure/traced_process.h"
#include "src/core/error.h"
#include "tests/catch.h"

#include <limits>
#include <map>

namespace scaleworth::cli {
namespace {

using Given = std::map<std::string, std::string>;

Given environment_of(const TraceOptions& options, const Given& present) {
  const auto made = traced_environment(
      options, "/data/job", "/lib/inject.so", "abc", [&](const char* name) -> const char* {
        const auto found = present.find(name);
        return found == present.end() ? nullptr : found->second.c_str();
      });
  return {made.variables.begin(), made.variables.end()};
}

trace::CaptureSettings read_back(const Given& variables, std::vector<std::string>& problems) {
  return trace::from_variables(
      [&](const char* name) -> const char* {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      problems);
}

TEST_CASE("the capture library reads what the command said", "[trace]") {
  TraceOptions options;
  options.steps = "3:9";
  options.duration = "2.5";
  options.capture_range = "epoch";
  options.cupti_library = "/opt/libcupti.so.13";
  std::vector<std::string> problems;
  const auto settings = read_back(environment_of(options, {{"SLURM_JOB_ID", "77"}}), problems);
  REQUIRE(problems.empty());
  REQUIRE(settings.directory == "/data/job");
  REQUIRE(settings.run == "77");
  REQUIRE(settings.invocation == "abc");
  REQUIRE(settings.cupti == "/opt/libcupti.so.13");
  REQUIRE(settings.window.steps == std::pair(3, 9));
  REQUIRE(settings.window.duration_s == 2.5);
  REQUIRE(settings.window.range == "epoch");
  REQUIRE_FALSE(settings.window.profiler_api);
}

TEST_CASE("a library whose path NCCL would cut is said", "[trace]") {
  const auto warnings = [](std::size_t length) {
    const auto nothing = [](const char*) -> const char* { return nullptr; };
    return traced_environment({}, "/job", "/" + std::string(length - 1, 'x'), "abc", nothing)
        .warnings;
  };
  REQUIRE(warnings(254).empty());
  REQUIRE(warnings(255).size() == 1);
  REQUIRE(contains(warnings(255).front(), "longer than 254 characters"));
}

TEST_CASE("without a launcher's job the invocation is the run", "[trace]") {
  std::vector<std::string> problems;
  REQUIRE(read_back(environment_of({}, {{"TORCHELASTIC_RUN_ID", "none"}}), problems).run == "abc");
}

TEST_CASE("pods that meet at one address are one run", "[trace]") {
  std::vector<std::string> problems;
  const Given made = environment_of({}, {{"MASTER_ADDR", "job-0"}, {"MASTER_PORT", "29500"}});
  REQUIRE(read_back(made, problems).run == "job-0:29500");
}

TEST_CASE("cudaProfilerApi is no range", "[trace]") {
  TraceOptions options;
  options.capture_range = "cudaProfilerApi";
  std::vector<std::string> problems;
  const auto settings = read_back(environment_of(options, {}), problems);
  REQUIRE(settings.window.profiler_api);
  REQUIRE(settings.window.range.empty());
}

TEST_CASE("tools that were there are named: they do not see this run", "[trace]") {
  const Given made = environment_of(
      {}, {{"CUDA_INJECTION64_PATH", "/other.so"}, {"NCCL_PROFILER_PLUGIN", "none"}});
  REQUIRE(made.at("CUDA_INJECTION64_PATH") == "/lib/inject.so");
  REQUIRE(made.at("NCCL_PROFILER_PLUGIN") == "/lib/inject.so");
}

TEST_CASE("steps may have no end, but must have a beginning before it", "[trace]") {
  REQUIRE(trace::parse_steps("4:") == std::pair(4, std::numeric_limits<std::int32_t>::max()));
  REQUIRE_FALSE(trace::parse_steps("9:3"));
  REQUIRE_FALSE(trace::parse_steps(":3"));
  REQUIRE_FALSE(trace::parse_steps("4"));
  REQUIRE_FALSE(trace::parse_duration("-1"));
  REQUIRE_FALSE(trace::parse_duration("1 hour"));
}

TEST_CASE("variables that nobody can read are named and left out", "[trace]") {
  std::vector<std::string> problems;
  const auto settings = read_back(
      {{"SCALEWORTH_TRACE_STEPS", "all"}, {"SCALEWORTH_TRACE_DURATION_S", "long"}}, problems);
  REQUIRE(problems.size() == 2);
  REQUIRE_FALSE(settings.window.steps);
}

TEST_CASE("a capture library that is not where it is said to be is refused", "[trace]") {
  REQUIRE_THROWS_AS(find_capture_library("/nowhere/libscaleworth_inject.so"), UserError);
}

}  // namespace
}  // namespace scaleworth::cli
