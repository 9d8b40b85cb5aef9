// SPDX-License-Identifier: Apache-2.0
#include "src/cli/application.h"

#include "src/cli/bind_flags.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/csv.h"
#include "src/core/process.h"
#include "src/core/version.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <system_error>

namespace scaleworth::cli {
namespace {
/// Hides what the command's short help does not show, and says how many flags that are.
void shorten_help(CLI::App& command) {
  const auto is_of = [&](const auto& one) {
    return std::ranges::count(split(one.first, ' '), command.get_name()) > 0;
  };
  const toml_file::Texts& of_commands = help_texts("short");
  const auto help = std::ranges::find_if(of_commands, is_of);
  if (help == of_commands.end()) return;
  const std::vector<std::string_view> flags = split(help->second, ' ');
  int hidden = 0;
  for (CLI::Option* option : command.get_options()) {
    const auto shown = [&](const std::string& name) {
      return std::ranges::count(flags, "--" + name) > 0;
    };
    if (option->get_group().empty() || option->get_positional() || option->get_required() ||
        std::ranges::any_of(option->get_lnames(), shown))
      continue;
    option->group("");
    ++hidden;
  }
  command.footer(fmt::format("{} more flags: scaleworth {} --help-all\n{}",
                             hidden,
                             command.get_name(),
                             command.get_footer()));
}

/// Help of 80 columns.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool positional) const override {
    std::string name = make_option_name(option, positional);
    std::string type = option->get_type_name();
    // "TEXT:{text,md}" is a list to choose from; of other checks the description speaks.
    const std::size_t colon = type.find(':');
    if (colon != std::string::npos)
      type =
          type.substr(colon + 1).starts_with('{') ? type.substr(colon + 1) : type.substr(0, colon);
    const bool takes = option->get_type_size() != 0 && !type.empty();
    if (takes) name += " " + (type == "FLOAT" || type == "INT" ? "NUMBER" : type);
    if (option->get_expected_max() > 1) name += " ...";
    std::string text = option->get_description();
    if (takes && !option->get_default_str().empty())
      text += fmt::format(" (default: {})", option->get_default_str());
    if (option->get_required() && !positional) text += " (required)";
    for (const CLI::Option* needed : option->get_needs())
      text += fmt::format(" (with {})", needed->get_name());
    return described(name, text);
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return described(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), 0) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    std::string text;
    std::string rest = app->get_footer();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      text += wrapped(rest.substr(0, end), 2) + "\n";
      rest.erase(0, end + 1);
    }
    return text;
  }

 private:
  static constexpr std::size_t columns = 80;
  static constexpr std::size_t described_at = 26;

  static std::string described(const std::string& name, const std::string& text) {
    std::string line = "  " + name;
    const bool fits = line.size() + 2 <= described_at;
    line +=
        fits ? std::string(described_at - line.size(), ' ') : "\n" + std::string(described_at, ' ');
    return line + wrapped(text, described_at) + "\n";
  }

  /// The first line begins at `indent`, where the text is an entry's, else at 0.
  static std::string wrapped(const std::string& text, std::size_t indent) {
    std::string result;
    std::size_t used = indent == described_at ? indent : 0;
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      if (used > indent && used + 1 + (end - at) > columns) {
        result += "\n" + std::string(indent, ' ');
        used = indent;
      } else if (at > 0) {
        result += ' ';
        ++used;
      }
      result += text.substr(at, end - at);
      used += end - at;
      at = end + 1;
    }
    return result;
  }
};

int complain(const std::exception& error, int code) {
  print_error("scaleworth: {}\n", printable(error.what()));
  return code;
}

/// What no command or no flag of the command is, with what it may have meant.
void refuse_unknown_command(const CLI::App& app, const std::string& word) {
  const auto known =
      mapped(app.get_subcommands({}), [](const CLI::App* one) { return one->get_name(); });
  if (word.empty() || word.starts_with('-') || std::ranges::count(known, word) > 0) return;
  refuse_foreign(word, "");
  throw UserError("no command '{}'{} (all: scaleworth --help)", word, suggestion(word, known));
}

[[noreturn]] void refuse_unknown_words(const CLI::App& app) {
  const auto parsed = app.get_subcommands([](const CLI::App* one) { return one->parsed(); });
  const CLI::App& command = parsed.empty() ? app : *parsed.front();
  const std::vector<std::string> words = app.remaining(true);
  const auto flag =
      std::ranges::find_if(words, [](const std::string& one) { return one.starts_with('-'); });
  const std::string word = flag == words.end() ? words.front() : flag->substr(0, flag->find('='));
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  std::string hint = word.starts_with("--") ? suggestion(word, known) : "";
  if (word == "-o" || word == "--out" || word == "--output") hint = "; redirect: > FILE";
  throw UserError(
      "{0} does not take {1}{2} (all: scaleworth {0} --help-all)", command.get_name(), word, hint);
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

int parse_and_run(CLI::App& app, const std::vector<Command>& commands, Arguments arguments) {
  Arguments words = arguments;
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (!words.empty() && words.front() == "version") words.front() = "--version";
  const std::string first = words.empty() ? "" : words.front();
  refuse_unknown_command(app, first);
  // Behind `trace` stands another program, with words of its own.
  if (first != "trace") std::ranges::replace(words, std::string("-"), std::string("/dev/stdin"));
  std::ranges::reverse(words);  // as CLI11 takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ExtrasError&) {
    refuse_unknown_words(app);
  } catch (const CLI::ParseError& error) {
    if (error.get_name() == "CallForHelp")
      for (CLI::App* command : app.get_subcommands()) shorten_help(*command);
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    const bool number = error.get_name() == "ConversionError";
    const char* const or_give = error.get_name() == "RequiresError" ? ": give both" : "";
    throw UserError(
        "{}{}", error.what(), number ? ": no number of its kind, or too large" : or_give);
  }
  for (const Command& command : commands) {
    if (!command.subcommand->parsed()) continue;
    refuse_infinite(*command.subcommand);
    return command.run(arguments);
  }
  fmt::print("{}", app.help());
  return exit_usage;
}

int output_not_whole(const char* why, int code) {
  print_error("scaleworth: the output is not whole: {}\n", why);
  return code == exit_done ? exit_failed : code;
}

/// A full disk may show only when the last of the output leaves the program.
int with_output_written(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return output_not_whole(std::strerror(errno), code);
}
}  // namespace

int run_application(int argc, char** argv) {
  keep_standard_descriptors();
  CLI::App app(
      "Is scaling worth it? Measures this machine and a training step, says where the time went "
      "and what it costs.",
      "scaleworth");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_all_flag("--help-all", "every flag");
  app.set_version_flag("-v,--version",
                       "scaleworth " + tool_version() + " (" + git_revision() + ")");
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
  commands.push_back(add_demand_command(app));
  commands.push_back(add_compare_command(app));
  commands.push_back(add_check_command(app));
  commands.push_back(add_predict_command(app));
  commands.push_back(add_import_command(app));
  commands.push_back(add_report_command(app));
  commands.push_back(add_pack_command(app));
  commands.push_back(add_list_command(app));
  install_interrupt_handlers();
  // Where sysfs is hidden hwloc complains in every process, ranks and launcher; the run says it
  // once.
  setenv("HWLOC_HIDE_ERRORS", "2", 0);
  try {
    return with_output_written(parse_and_run(app, commands, {argv + 1, argv + argc}));
  } catch (const UserError& error) {
    return complain(error, exit_usage);
  } catch (const NothingMeasurable& error) {
    return complain(error, exit_nothing);
  } catch (const Interrupted& error) {
    return complain(error, exit_interrupted(error.signal()));
  } catch (const std::system_error& error) {
    return std::ferror(stdout) != 0 ? output_not_whole(error.code().message().c_str(), exit_failed)
                                    : complain(error, exit_failed);
  } catch (const std::bad_alloc&) {
    print_error("scaleworth: out of memory; raise the memory limit, or read or measure less\n");
    return exit_failed;
  } catch (const std::exception& error) {
    return complain(error, exit_failed);
  }
}
}  // namespace scaleworth::cli
