// SPDX-License-Identifier: Apache-2.0
#include "src/cli/flags.h"

#include "report/render.h"
#include "report/render_options.h"
#include "src/core/error.h"
#include "src/core/version.h"
#include "src/model/analysis.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace scaleworth::cli {
bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

namespace {
std::string problem_of(const std::string& text) {
  constexpr std::size_t longest = 8;
  const bool letters =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  return letters && !text.empty() && text.size() <= longest
             ? ""
             : "a currency has 1 to 8 letters, as EUR";
}
}  // namespace

void add_render_flags(CLI::App& command, report::RenderOptions& options) {
  options.colour = colour_wanted();
  options.tool_version = tool_version();
  options.git_revision = git_revision();
  command
      .add_option_function<std::string>(
          "--format",
          [&options](const std::string& name) { options.format = report::parse_format(name); },
          "what goes to stdout: text, md, csv, json or html")
      ->check(CLI::IsMember({"text", "md", "csv", "json", "html"}))
      ->default_str(report::format_name(options.format));
  command.add_flag("--details", options.details, "every table, not only the summary (text and md)");
}

void add_currency(CLI::App& command, std::string& currency) {
  command
      .add_option(
          "--currency", currency, "label of all amounts in place of USD; nothing is converted")
      ->check(problem_of)
      ->capture_default_str();
}

int in_currency(const std::string& currency, const std::function<int()>& body) {
  try {
    return body();
  } catch (const UserError& error) {
    std::string message = error.what();
    report::label_amounts(message, currency);
    throw UserError(message);
  }
}

void add_vendor_options(CLI::App& app, probes::VendorPaths& paths) {
  app.add_option("--cublas-lib",
                 paths.cublas_lt,
                 "path or folder of the cuBLASLt to use (default: the active Python's, else the "
                 "loader's, else the toolkit's)");
  app.add_option("--nccl-lib", paths.nccl, "path or folder of the NCCL to use (default: likewise)");
  app.add_option("--nvml-lib",
                 paths.nvml,
                 "path or folder of the driver's libnvidia-ml (default: the loader's)");
  app.add_option(
      "--cupti-lib", paths.cupti, "path or folder of the CUPTI to use (default: as for cuBLASLt)");
}

namespace {
constexpr std::string_view harmless =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+.,:/@%";

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(harmless) == std::string::npos) return word;
  std::string text = "'";
  for (const char letter : word) {
    if (letter == '\'') {
      text += "'\\''";
    } else {
      text += letter;
    }
  }
  return text + "'";
}
}  // namespace

std::string typed_command(const Arguments& arguments) {
  std::string text = "scaleworth";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool split = word == "--format";
    if (split) ++i;  // its value
    if (split || word == "--details" || word.starts_with("--format=")) continue;
    text += " " + quoted(word);
  }
  return text;
}

std::string render_run(const Run& run, const ReportOptions& options, const std::string& directory) {
  report::RenderOptions rendered = options.render;
  rendered.input = directory;
  return report::render(run, model::analyse(run, options.analysis_options()), rendered);
}

namespace {
/// The number at the start of `text`, which is shortened by it.
std::optional<double> take_number(std::string_view& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}
}  // namespace

probes::TrainingWork::Straggler parse_straggler(const std::string& text) {
  const auto fail = [&]() -> UserError {
    return UserError("--straggler '" + text +
                     "' is not RANK:FACTOR with FACTOR >= 1, for example 1:2.0");
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw fail();
  int rank = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, rank);
  if (error != std::errc{} || end != text.data() + colon || rank < 0) throw fail();
  std::string_view rest = std::string_view(text).substr(colon + 1);
  const std::optional<double> factor = take_number(rest);
  if (!factor || !rest.empty() || *factor < 1.0) throw fail();
  return {Rank{rank}, *factor};
}

FlopPerSecond parse_compute_rate(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, double>, 6> units{{{"GFLOP/s", 1e9},
                                                                      {"TFLOP/s", 1e12},
                                                                      {"PFLOP/s", 1e15},
                                                                      {"GF", 1e9},
                                                                      {"TF", 1e12},
                                                                      {"PF", 1e15}}};
  std::string_view rest = text;
  const std::optional<double> number = take_number(rest);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  for (const auto& [name, factor] : units) {
    if (number && *number > 0.0 && rest == name) return FlopPerSecond(*number * factor);
  }
  throw UserError("--peak '" + text +
                  "' needs a positive number with its unit, for example 95GFLOP/s or 0.98PFLOP/s");
}
}  // namespace scaleworth::cli
