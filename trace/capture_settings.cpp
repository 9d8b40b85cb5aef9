// SPDX-License-Identifier: Apache-2.0
#include "trace/capture_settings.h"

#include "src/core/files/csv.h"
#include "src/core/whole_number.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace scaleworth::trace {
namespace {
/// Texts that are passed on as they are.
constexpr std::array text_variables{
    std::pair("SCALEWORTH_TRACE_DIRECTORY", &CaptureSettings::directory),
    std::pair("SCALEWORTH_TRACE_RUN", &CaptureSettings::run),
    std::pair("SCALEWORTH_TRACE_INVOCATION", &CaptureSettings::invocation),
    std::pair("SCALEWORTH_TRACE_CUPTI", &CaptureSettings::cupti)};
constexpr const char* steps_variable = "SCALEWORTH_TRACE_STEPS";
constexpr const char* duration_variable = "SCALEWORTH_TRACE_DURATION_S";
constexpr const char* period_variable = "SCALEWORTH_TRACE_PERIOD_MS";
constexpr const char* range_variable = "SCALEWORTH_TRACE_RANGE";

struct Launcher {
  const char* rank;
  const char* world_size;
  const char* only_with;  // counts only where this is set too; null for always
};
constexpr std::array<Launcher, 5> launchers{
    {{"RANK", "WORLD_SIZE", nullptr},
     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID"},
     {"PMI_RANK", "PMI_SIZE", nullptr},
     {"PMIX_RANK", "PMIX_SIZE", nullptr}}};

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

std::optional<std::int32_t> parse_step(std::string_view text) {
  return step_number(parse_number<std::int64_t>(text));
}

constexpr std::string_view separators = " _-#:=.";
constexpr std::size_t longest_name = 40;

/// The last word of the name, with its preference.
constexpr std::array<std::pair<std::string_view, int>, 6> words = {{{"profilerstep", 0},
                                                                    {"step", 1},
                                                                    {"iteration", 2},
                                                                    {"iter", 2},
                                                                    {"minibatch", 3},
                                                                    {"batch", 3}}};

/// What may stand before it.
constexpr std::array<std::string_view, 6> qualifiers = {
    "", "train", "training", "global", "inference", "main"};

/// Iterations of engines that serve requests: execute_context_1(888)_generation_0(0) and
/// execute_1_context_3(sq128sk256) of vLLM, step[DECODE bs=4] of SGLang, _forward_step 7: 1 ctx
/// reqs of TensorRT-LLM.
struct EngineName {
  std::string_view prefix;
  std::string_view word;  // somewhere behind it
  const char* kind;
};
constexpr std::array<EngineName, 5> engines{{{"execute_", "context", "execute"},
                                             {"execute_", "generation", "execute"},
                                             {"execute_", "cached", "execute"},
                                             {"step[", "bs=", "step[]"},
                                             {"_forward_step ", ":", "_forward_step"}}};

std::string_view trimmed(std::string_view text) {
  const std::size_t end = text.find_last_not_of(separators);
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}
}  // namespace

RankFacts rank_facts(const std::function<const char*(const char*)>& value) {
  const auto text = [&](const char* variable) {
    const char* found = variable == nullptr ? nullptr : value(variable);
    return std::string(found == nullptr ? "" : found);
  };
  for (const Launcher& launcher : launchers) {
    const std::string rank = text(launcher.rank);
    if (!is_number(rank)) continue;
    if (launcher.only_with != nullptr && text(launcher.only_with).empty()) continue;
    const std::string size = text(launcher.world_size);
    return {rank, is_number(size) ? size : std::string(), launcher.rank};
  }
  return {};
}

std::optional<std::pair<std::int32_t, std::int32_t>> parse_steps(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string_view whole = text;
  const auto first = parse_step(whole.substr(0, colon));
  const auto last = colon + 1 == text.size()
                        ? std::optional(std::numeric_limits<std::int32_t>::max())
                        : parse_step(whole.substr(colon + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

std::optional<double> parse_duration(const std::string& text) {
  const auto seconds = parse_number<double>(text);
  return seconds && *seconds > 0.0 ? seconds : std::nullopt;
}

Variables to_variables(const CaptureSettings& settings) {
  Variables result;
  const CaptureWindow& window = settings.window;
  for (const auto& [variable, member] : text_variables)
    if (!(settings.*member).empty()) result.emplace_back(variable, settings.*member);
  if (window.steps) {
    const bool open = window.steps->second == std::numeric_limits<std::int32_t>::max();
    result.emplace_back(steps_variable,
                        std::to_string(window.steps->first) + ":" +
                            (open ? std::string() : std::to_string(window.steps->second)));
  }
  if (settings.period_ms != CaptureSettings{}.period_ms)
    result.emplace_back(period_variable, std::to_string(settings.period_ms));
  if (window.duration_s) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof(digits), *window.duration_s).ptr;
    result.emplace_back(duration_variable, std::string(digits, end));
  }
  if (window.profiler_api) result.emplace_back(range_variable, profiler_api_word);
  if (!window.range.empty()) result.emplace_back(range_variable, window.range);
  return result;
}

CaptureSettings from_variables(const std::function<const char*(const char*)>& value,
                               std::vector<std::string>& problems) {
  const auto text = [&](const char* variable) {
    const char* found = value(variable);
    return std::string(found == nullptr ? "" : found);
  };
  CaptureSettings settings;
  for (const auto& [variable, member] : text_variables) settings.*member = text(variable);
  CaptureWindow& window = settings.window;
  const std::string steps = text(steps_variable);
  const std::string duration = text(duration_variable);
  window.steps = parse_steps(steps);
  window.duration_s = parse_duration(duration);
  if (!steps.empty() && !window.steps)
    problems.push_back(std::string(steps_variable) + "=" + steps +
                       " is not FROM:TO; all is recorded");
  if (!duration.empty() && !window.duration_s)
    problems.push_back(std::string(duration_variable) + "=" + duration +
                       " is no number of seconds; all is recorded");
  const auto period = parse_step(text(period_variable));
  if (period && *period > 0) settings.period_ms = *period;
  window.range = text(range_variable);
  window.profiler_api = window.range == profiler_api_word;
  if (window.profiler_api) window.range.clear();
  return settings;
}

std::optional<StepName> parse_step_name(std::string_view name) {
  for (const auto& [prefix, word, kind] : engines)
    if (name.starts_with(prefix) && name.find(word) != std::string_view::npos)
      return StepName{kind, std::nullopt, 4, true};
  if (name.empty() || name.size() > longest_name) return std::nullopt;
  StepName step;
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits < name.size()) {
    step.number = parse_step(name.substr(digits));
    if (!step.number) return std::nullopt;
  }
  step.kind = trimmed(name.substr(0, digits));
  std::string lower = step.kind;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const auto& [word, preference] : words) {
    if (!lower.ends_with(word)) continue;
    const std::string_view before =
        trimmed(std::string_view(lower).substr(0, lower.size() - word.size()));
    if (std::ranges::find(qualifiers, before) == qualifiers.end()) continue;
    step.preference = preference;
    return step;
  }
  return std::nullopt;
}
}  // namespace scaleworth::trace
