// SPDX-License-Identifier: Apache-2.0
/// The command line from words to exit code: the only place that prints errors. Thrown errors get
/// their code here; verdicts choose between exit_done and the others in their command.
#pragma once

#include <functional>
#include <string>
#include <vector>

// CLI11 is heavy to compile; those who only pass the application along need no more than its name.
namespace CLI {
class App;
}  // namespace CLI

namespace scaleworth::model {}
namespace scaleworth::probes {}
namespace scaleworth::trace {}
namespace scaleworth::cli {
using namespace model;
using namespace probes;
using namespace trace;

int run_application(int argc, char** argv);

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;   // a probe or a check failed
inline constexpr int exit_usage = 2;    // wrong usage or unreadable input
inline constexpr int exit_nothing = 3;  // nothing measurable here

/// Ended by a signal after keeping what was measured: 128 + signal, as shells report it.
constexpr int exit_interrupted(int signal) {
  return 128 + signal;
}

// The commands: each adds itself to the application and, when chosen, returns the exit code.

/// The words after the program's name, as typed; recorded with the run and passed on to ranks.
using Arguments = std::vector<std::string>;

/// A command's body; set by `add_...` and called after parsing if its subcommand was chosen.
struct Command {
  CLI::App* subcommand = nullptr;
  std::function<int(const Arguments&)> run;
};

/// bench, roofline, comm and step: the same measurement with different probes chosen.
std::vector<Command> add_measure_commands(CLI::App& app);
Command add_trace_command(CLI::App& app);
Command add_attribute_command(CLI::App& app);
Command add_decide_command(CLI::App& app);
Command add_mfu_command(CLI::App& app);
Command add_demand_command(CLI::App& app);
Command add_compare_command(CLI::App& app);
Command add_check_command(CLI::App& app);
Command add_predict_command(CLI::App& app);
Command add_import_command(CLI::App& app);
Command add_report_command(CLI::App& app);
Command add_pack_command(CLI::App& app);
Command add_list_command(CLI::App& app);
}  // namespace scaleworth::cli
