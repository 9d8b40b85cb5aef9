// SPDX-License-Identifier: Apache-2.0
#include "src/cli/flags.h"

#include "assets/help.h"
#include "report/render.h"
#include "report/words.h"
#include "src/cli/bind_flags.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/version.h"
#include "src/model/analysis.h"

#include <array>
#include <cctype>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace scaleworth::cli {
const toml_file::Texts& help_texts(const std::string& table) {
  static auto tables = toml_file::text_tables(asset::help(), "data/help.toml");
  return tables[table];
}

CLI::App* add_command(CLI::App& app, const std::string& name) {
  const toml_file::Texts& texts = help_texts(name);
  CLI::App* command = app.add_subcommand(name, texts.at("does"));
  if (const std::string* footer = value_at(texts, "footer")) command->footer(*footer);
  return command;
}

void add_render_flags(CLI::App& command,
                      report::RenderOptions& options,
                      const std::vector<std::string>& names,
                      const std::function<void(const std::string&)>& more) {
  // Colour only on a terminal that did not ask for none (no-color.org: set and not empty).
  const char* no_colour = std::getenv("NO_COLOR");
  options.colour = isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
  winsize terminal{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0)
    options.width = std::min<int>(terminal.ws_col, options.width);
  options.tool_version = tool_version();
  options.git_revision = git_revision();
  std::vector<std::string> all{"text", "md", "csv", "json", "html"};
  all.insert(all.end(), names.begin(), names.end());
  const Flags flags(command, help_texts("render"));
  flags
      .call<std::string>("--format",
                         [&options, names, more](const std::string& name) {
                           if (std::ranges::count(names, name) > 0) return more(name);
                           options.format = report::parse_format(name);
                         })
      ->check(CLI::IsMember(all))
      ->default_str(report::format_name(options.format));
  const auto choose = [&](const char* name, report::Format format) {
    const auto take = [&options, format] { options.format = format; };
    return command.add_flag_callback(name, take, help_texts("render").at(name))
        ->excludes("--format");
  };
  choose("--json", report::Format::json);
  choose("--html", report::Format::html)->excludes("--json");
  flags.add("--details", options.details);
  command.parse_complete_callback([&options] {
    const bool short_format =
        options.format == report::Format::text || options.format == report::Format::markdown;
    if (options.details && !short_format)
      throw UserError("--details adds tables to text and md; {} has every table without it",
                      report::format_name(options.format));
  });
}

void add_currency(CLI::App& command, std::string& currency) {
  const auto problem_of = [](const std::string& text) -> std::string {
    const bool letters =
        std::ranges::all_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
    if (letters && !text.empty() && text.size() <= 8) return "";
    return "a currency has 1 to 8 letters, as EUR";
  };
  Flags(command, help_texts("render"))
      .add("--currency", currency)
      ->check(problem_of)
      ->capture_default_str();
}

std::optional<double> allowed_loss(const char* flag, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::string_view digits =
      text.ends_with('%') ? std::string_view(text).substr(0, text.size() - 1) : text;
  const auto percent = parse_number<double>(digits);
  if (!percent || !(*percent > 0.0) || !(*percent < 100.0))
    throw UserError("{} {}: give a loss in per cent, as 5%", flag, printable(text));
  return *percent / 100.0;
}

double stated_amount(const char* flag, const std::string& text, Dimension of, const char* as) {
  const auto number = cell_number(text, Comma::thousands);
  const Unit* const unit = number ? number->unit : nullptr;
  const Dimension stated = unit != nullptr ? unit->dimension : Dimension::none;
  if (number && number->value > 0.0 && stated == of)
    return number->value * (unit != nullptr ? unit->factor : 1.0);
  throw UserError("{} {}: give {}", flag, printable(text), as);
}

void take_currency(const std::string& of_column, std::string& currency) {
  if (!of_column.empty() && currency == "USD") currency = of_column;
}

void add_vendor_options(CLI::App& app, VendorPaths& paths) {
  const Flags flags(app, help_texts("libraries"));
  flags.add("--cublas-lib", paths.cublas_lt);
  flags.add("--nccl-lib", paths.nccl);
  flags.add("--nvml-lib", paths.nvml);
  flags.add("--cupti-lib", paths.cupti);
}

std::string typed_command(const Arguments& arguments) {
  std::vector<std::string> words{"scaleworth"};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool split = word == "--format";
    if (split) ++i;  // its value
    const bool chosen = word == "--details" || word == "--json" || word == "--html";
    if (!split && !chosen && !word.starts_with("--format=")) words.push_back(word);
  }
  return report::shell_words(words);
}

std::string render_run(const Run& run, const ReportOptions& options, const std::string& directory) {
  report::RenderOptions rendered = options.render;
  rendered.input = directory;
  return report::render(run, analyse(run, options.analysis_options()), rendered);
}

void refuse_unused(const CLI::App& command, const std::string& asked, std::string_view unused) {
  for (const std::string_view flag : split(unused, ' ')) {
    if (command.count(std::string(flag)) == 0) continue;
    throw UserError("{} changes nothing of {}: leave it out", flag, asked);
  }
}

void refuse_all_but(const CLI::App& command, const std::string& asked, std::string_view used) {
  constexpr std::string_view of_all = "--format --json --html --details --currency --help";
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    const auto has = [&](std::string_view list) {
      return std::ranges::count(split(list, ' '), std::string_view(name)) > 0;
    };
    if (option->count() > 0 && !has(used) && !has(of_all)) refuse_unused(command, asked, name);
  }
}

double price_part(const std::string& regime, double part) {
  constexpr double most = 1.5;
  if (part <= most) return part;
  throw UserError("--regime {}: {:g} times the price; write a part, as {:g} for {:g} %",
                  regime,
                  part,
                  part / 100.0,
                  part);
}

InstancePrice priced_instance(const std::string& id,
                              const std::string& file,
                              const std::string& currency) {
  if (currency != "USD")
    throw UserError(
        "--instance gives prices in USD, and nothing is converted: leave out --currency");
  const InstancePrice found = find_instance(
      file.empty() ? price_catalogue()
                   : parse_price_catalogue(read_whole(file, file, 64 << 20, "64 MiB"), file),
      id);
  if (found.gpus == 0)
    throw UserError(
        "{}: {} has no whole GPU; give --instance-price with them", found.source, found.id);
  return found;
}

std::string origin_text(const InstancePrice& price) {
  return fmt::format(
      "{}: {:.10g} USD an hour for {} x {} in {}{} ({})",
      price.id,
      price.usd_per_hour,
      price.gpus,
      price.gpu,
      price.region,
      price.regions > 1 ? fmt::format(", the cheapest of {} regions", price.regions) : "",
      price.source);
}

TrainingWork::Straggler parse_straggler(const std::string& text) {
  const std::vector<std::string_view> parts = split(text, ':');
  const auto rank = parse_number<int>(parts.front());
  const auto factor = parse_number<double>(parts.back());
  constexpr double largest = 1000.0;  // a step of a second becomes one of a quarter of an hour
  const bool right = parts.size() == 2 && rank && factor && *factor <= largest;
  if (right && *rank >= 0 && *factor >= 1.0) return {Rank{*rank}, *factor};
  throw UserError("--straggler '{}': write RANK:FACTOR, up to {}, as 1:2.0", text, largest);
}

FlopPerSecond parse_compute_rate(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 3> units{
      {{"GF", 1e9}, {"TF", 1e12}, {"PF", 1e15}}};
  std::string_view rest = text;
  if (rest.ends_with("FLOP/s")) rest.remove_suffix(std::string_view("LOP/s").size());
  for (const auto& [unit, factor] : units) {
    if (!rest.ends_with(unit)) continue;
    rest.remove_suffix(unit.size());
    while (rest.ends_with(' ')) rest.remove_suffix(1);
    const auto number = parse_number<double>(rest);
    if (number && *number > 0.0) return FlopPerSecond(*number * factor);
  }
  throw UserError("--peak '" + text +
                  "' needs a positive number with its unit, for example 95GFLOP/s or 0.98PFLOP/s");
}

namespace {
/// A number as people type it, "$3.20", "15T", "40%", "2h", as the flag's own unit has it; what is
/// no such number is left to the parser.
std::string typed_number(const std::string& flag, const std::string& text) {
  const auto number = cell_number(text, Comma::thousands);
  if (!number || number->clock || parse_number<double>(text)) return text;
  if (const std::string currency = currency_in(text); !currency.empty())
    throw UserError(
        "{} {}: write the number alone, and --currency {}", flag, printable(text), currency);
  double value = number->value;
  const bool percent = trimmed(text).ends_with('%');
  if (percent) value /= 100.0;
  if (number->unit) {
    // Of times that the flag's name gives no unit there are none.
    constexpr std::array<std::pair<std::string_view, double>, 5> endings{
        {{"-hours", 3600.0}, {"-ms", 1e-3}, {"-us", 1e-6}, {"-s", 1.0}, {"-years", 31557600.0}}};
    const auto* const ending =
        std::ranges::find_if(endings, [&](const auto& one) { return flag.ends_with(one.first); });
    if (ending == endings.end()) return text;
    value *= number->unit->factor / ending->second;
  }
  return fmt::format("{}", value);
}
}  // namespace

void take_typed_numbers(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_type_name().rfind("FLOAT", 0) != 0) continue;
    option->transform(CLI::Validator(
        [flag = option->get_name()](std::string& text) {
          text = typed_number(flag, text);
          return std::string();
        },
        ""));
  }
}
}  // namespace scaleworth::cli
