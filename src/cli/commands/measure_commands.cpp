// SPDX-License-Identifier: Apache-2.0
#include "src/cli/commands/commands.h"
#include "src/cli/measure/measure.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <memory>

#include <CLI/CLI.hpp>

namespace scaleworth::cli {
namespace {

struct MeasureCommand {
  const char* name;
  const char* probes;  // first word of the probes it runs, empty for all
  const char* help;
};

constexpr std::array<MeasureCommand, 4> measure_commands{{
    {"bench",
     "",
     "measure this machine and a training step at 1..N ranks, attribute, decide, report (the main "
     "job)"},
    {"roofline",
     "roofline",
     "compute ceilings, memory levels, latency, intensity ladder, GEMMs placed under the roof"},
    {"comm", "comm", "collectives between ranks: latency, bandwidth, alpha-beta fits"},
    {"step",
     "step",
     "the reference training step at 1..N ranks, its time attributed and its curve judged"},
}};

std::vector<std::string> choose_probes(const MeasureCommand& command,
                                       const std::vector<std::string>& only) {
  const std::string word = command.probes;
  if (only.empty()) return word.empty() ? only : std::vector{word};
  for (const std::string& name : only) {
    if (name != word && !name.starts_with(word + ".") && !word.empty()) {
      throw UserError("--only " + name + ": `" + command.name + "` runs " + word +
                      " probes only; use `bench --only`");
    }
  }
  return only;
}

}  // namespace

std::vector<Command> add_measure_commands(CLI::App& app) {
  std::vector<Command> commands;
  for (const MeasureCommand& entry : measure_commands) {
    auto options = std::make_shared<MeasureOptions>();
    CLI::App* subcommand = app.add_subcommand(entry.name, entry.help);
    options->add_to(*subcommand);
    commands.push_back({subcommand, [options, &entry](const Arguments& arguments) {
                          options->only = choose_probes(entry, options->only);
                          return measure(*options, arguments);
                        }});
  }
  return commands;
}

}  // namespace scaleworth::cli
