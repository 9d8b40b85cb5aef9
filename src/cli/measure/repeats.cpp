// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/self_launch.h"
#include "src/cli/measure/session.h"
#include "src/core/process.h"
#include "src/core/run.h"

#include <cstring>
#include <filesystem>

namespace scaleworth::cli {
namespace {
using host::ChildEnding;

/// A run that ended by itself says in its own run.json what failed.
std::optional<Finding> failure_of(const ChildEnding& ending) {
  if (ending.forwarded != 0)
    return Finding(FindingId::stated, Interrupted(ending.forwarded).what());
  if (ending.signal != 0)
    return Finding(FindingId::run_killed, ending.signal, strsignal(ending.signal));
  if (ending.exit_code == exit_done || ending.exit_code == exit_failed) return std::nullopt;
  return Finding(FindingId::run_ended_with_code, ending.exit_code);
}

/// Those that the calibration of the first run chose: another would be another step.
std::string step_sizes(const Run& run) {
  std::int64_t most = 0;
  std::string sizes;
  for (const Point& point : points_of(run, probe_name::step_training)) {
    const std::int64_t ranks = integer_parameter(point, Parameter::ranks);
    if (symbol_parameter<BatchScaling>(point, Parameter::scaling) != BatchScaling::strong ||
        ranks <= most)
      continue;
    most = ranks;
    sizes = fmt::format("{},{}",
                        integer_parameter(point, Parameter::width),
                        integer_parameter(point, Parameter::global_batch_sequences) / ranks);
  }
  return sizes;
}
}  // namespace

int measure_repeatedly(const MeasureOptions& options,
                       const Plan& plan,
                       const std::vector<std::string>& arguments) {
  Session session(options, plan, arguments, true);
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  std::vector<std::string> command = arguments;
  command.insert(command.begin(), program);
  command.insert(command.end(), {"--part-of-bench", "", "--repeat", "1", "--out", ""});
  host::ChildOptions child;
  child.grace = std::chrono::seconds(15);  // its ranks have 10 s
  child.on_stderr = write_error;
  bool lost = false;  // a run that ended before it could write has no failed probe to show
  session.until_interrupted([&] {
    for (int number = 1; number <= options.repeat; ++number) {
      if (!options.quiet) print_error("run {} of {}\n", number, options.repeat);
      const std::string part = fmt::format("run-{}", number);
      command.back() = session.directory() + "/" + part;
      command.at(command.size() - 5) = session.memory_path();
      const std::optional<Finding> failure = failure_of(host::run_child(command, child));
      session.adopt_part(part, failure, number);
      if (failure) {
        lost = true;
        session.run().warnings.emplace_back(
            FindingId::run_of_several_failed, number, options.repeat, *failure, number - 1);
      }
      check_interrupt();
      const std::string sizes = step_sizes(session.run());
      if (number == 1 && !sizes.empty()) {
        command.insert(command.begin() + 2, {"--step-sizes", sizes});
      }
    }
  });
  const int code = session.conclude();
  return lost && code == exit_done ? exit_failed : code;
}
}  // namespace scaleworth::cli
