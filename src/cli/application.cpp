// SPDX-License-Identifier: Apache-2.0
#include "src/cli/application.h"

#include "src/core/process.h"
#include "src/core/version.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include <CLI/CLI.hpp>

namespace scaleworth::cli {
namespace {
int complain(const std::exception& error, int code) {
  fmt::print(stderr, "scaleworth: {}\n", printable(error.what()));
  return code;
}

/// What a mistyped flag may have meant, among those of the command.
void suggest_flags(const CLI::App& app) {
  const std::vector<const CLI::App*> chosen = app.get_subcommands({});
  for (const CLI::App* command : chosen) {
    if (!command->parsed()) continue;
    std::vector<std::string> known;
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
    for (const std::string& word : command->remaining()) {
      if (!word.starts_with("--")) continue;
      const std::string flag = word.substr(0, word.find('='));
      fmt::print(stderr, "{}: {}\n", flag, suggestion(flag, known));
    }
  }
}

/// Comparisons with NaN are false, so that it passes every range; products of what is larger than
/// any amount of this world end as infinity.
void refuse_infinite(const CLI::App& command) {
  constexpr double largest = 1e36;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_type_name().starts_with("FLOAT")) continue;
    for (const std::string& text : option->results())
      if (!(std::abs(std::strtod(text.c_str(), nullptr)) <= largest))
        throw UserError("{}: {} is not a number up to {:g}", option->get_name(), text, largest);
  }
}

int parse_and_run(CLI::App& app, const std::vector<Command>& commands, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    suggest_flags(app);
    app.exit(error);
    return exit_usage;
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? exit_done : exit_usage;  // 0: --help and --version
  }
  const Arguments arguments(argv + 1, argv + argc);
  for (const Command& command : commands) {
    if (!command.subcommand->parsed()) continue;
    refuse_infinite(*command.subcommand);
    return command.run(arguments);
  }
  fmt::print("{}", app.help());
  return exit_usage;
}

/// A full disk may show only when the last of the output leaves the program.
int with_output_written(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  fmt::print(stderr, "scaleworth: the output is not whole: {}\n", std::strerror(errno));
  return code == exit_done ? exit_failed : code;
}
}  // namespace

int run_application(int argc, char** argv) {
  CLI::App app(
      "Is scaling worth it? Measures this machine and a training step, says where the time went "
      "and what it costs.",
      "scaleworth");
  app.set_version_flag("--version", "scaleworth " + tool_version() + " (" + git_revision() + ")");
  app.require_subcommand(0, 1);
  app.footer(
      "Start with: scaleworth bench\n"
      "Exit codes: 0 done, 1 a probe failed, 2 wrong usage or unreadable input, 3 nothing "
      "measurable, 128+n ended by signal n.");
  std::vector<Command> commands = add_measure_commands(app);
  commands.push_back(add_trace_command(app));
  commands.push_back(add_attribute_command(app));
  commands.push_back(add_decide_command(app));
  commands.push_back(add_mfu_command(app));
  commands.push_back(add_report_command(app));
  commands.push_back(add_list_command(app));
  install_interrupt_handlers();
  try {
    return with_output_written(parse_and_run(app, commands, argc, argv));
  } catch (const UserError& error) {
    return complain(error, exit_usage);
  } catch (const NothingMeasurable& error) {
    return complain(error, exit_nothing);
  } catch (const Interrupted& error) {
    return complain(error, exit_interrupted(error.signal()));
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "scaleworth: out of memory; raise the memory limit, or read or measure less\n");
    return exit_failed;
  } catch (const std::exception& error) {
    return complain(error, exit_failed);
  }
}
}  // namespace scaleworth::cli
