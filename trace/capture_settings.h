// SPDX-License-Identifier: Apache-2.0
/// What `scaleworth trace` passes to the capture library in the traced processes: by variables of
/// their environment, which whole process trees inherit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace scaleworth::trace {
/// When to record; everything from the start to the end of the process where nothing is said.
struct CaptureWindow {
  /// Steps first..last, by the NVTX ranges that name steps; both included.
  std::optional<std::pair<std::int32_t, std::int32_t>> steps{};
  std::optional<double> duration_s{};  // from the beginning of the recording
  bool profiler_api = false;           // between cudaProfilerStart and cudaProfilerStop
  std::string range{};                 // inside of NVTX ranges of this name; empty for none
};

struct CaptureSettings {
  std::string directory;   // of the files; empty: nothing is recorded
  std::string run;         // equal in all processes of one job
  std::string invocation;  // equal in all processes of one run of the command
  std::string cupti;       // library to use; empty: searched
  CaptureWindow window;
  int period_ms = 1000;  // between two writes: what a SIGKILL may lose
};

/// A process's place in its job by a launcher's variables.
struct RankFacts {
  std::string rank;  // empty without a launcher
  std::string world_size;
  std::string source;  // "RANK"
};

/// From the first of torchrun's, Open MPI's, Slurm's and PMI's variables that is there; a Slurm
/// task counts only inside of a job step. `value` gives a variable's value, or null.
RankFacts rank_facts(const std::function<const char*(const char*)>& value);

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The variables for the traced program that say this, beside those that name the library.
Variables to_variables(const CaptureSettings& settings);

/// Reads them again; `value` gives a variable's value, or null. What cannot be read is left at its
/// default and named in `problems`.
CaptureSettings from_variables(const std::function<const char*(const char*)>& value,
                               std::vector<std::string>& problems);

/// "3:9" or "3:" (without end): absent when it is neither, or ends before it begins.
std::optional<std::pair<std::int32_t, std::int32_t>> parse_steps(const std::string& text);

/// A positive number of seconds.
std::optional<double> parse_duration(const std::string& text);

/// What --capture-range says for cudaProfilerStart and cudaProfilerStop.
inline constexpr const char* profiler_api_word = "cudaProfilerApi";

/// Names of ranges that mean "one iteration": "ProfilerStep#12", "step 3", "train_iter_7", "batch".
struct StepName {
  std::string kind;                    // equal for all iterations: "ProfilerStep", "train_iter"
  std::optional<std::int32_t> number;  // as the name says it
  int preference = 0;                  // when a recording has several kinds: the smallest decides
  bool of_engine = false;              // an engine that serves requests names its iterations so
};

/// Absent when the name is something else, such as "optimizer_step" or "step_lr".
std::optional<StepName> parse_step_name(std::string_view name);
}  // namespace scaleworth::trace
