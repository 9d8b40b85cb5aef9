// SPDX-License-Identifier: Apache-2.0
#include "src/cli/decide/recordings.h"

#include "src/cli/decide/attribution_file.h"
#include "src/core/error.h"
#include "src/model/decide/table/recorded/attributed_table.h"
#include "trace/attribute.h"
#include "trace/classify/classify.h"
#include "trace/format/read_job.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t look_ahead = 64 * 1024;  // bytes that tell a recording in JSON from a table

/// Whether the text begins as trace viewers' JSON does.
bool begins_as_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string front(look_ahead, '\0');
  file.read(front.data(), static_cast<std::streamsize>(front.size()));
  front.resize(static_cast<std::size_t>(file.gcount()));
  constexpr std::array<std::string_view, 4> words{
      R"("traceEvents")", R"("ph")", R"("deviceProperties")", R"("distributedInfo")"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return front.find(word) != std::string::npos;
  });
}

bool is_table_file(const fs::path& path) {
  return path.extension() == ".csv" || path.extension() == ".toml";
}

bool is_run(const fs::path& path) {
  std::error_code ignored;
  return path.filename() == "run.json" || fs::exists(path / "run.json", ignored);
}

/// The trouble of one input, which a message about its files need not name.
[[noreturn]] void refuse(const std::string& input, const std::string& trouble) {
  std::error_code ignored;
  std::string message = trouble.find(input) == std::string::npos ? input + ": " + trouble : trouble;
  if (fs::is_directory(input, ignored)) message += ", or give a run directory or its run.json";
  throw UserError(message);
}

decide::AttributedCount attributed(const std::string& input, const trace::RuleTable& rules) {
  if (is_attribution_file(input)) return decide::attributed_count(read_attribution(input), input);
  try {
    trace::Job job = trace::read_job({input}, {&rules, 0});
    for (trace::Recording& recording : job.recordings) trace::classify(recording, rules);
    return decide::attributed_count(trace::attribute(job).result, input);
  } catch (const UserError& error) {
    refuse(input, error.what());
  }
}

}  // namespace

bool names_recordings(const std::string& input) {
  const fs::path path = input;
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return input.find_first_of("*?[") != std::string::npos;
  if (is_run(path) || is_table_file(path)) return false;
  if (fs::is_directory(path, ignored)) return true;
  if (path.extension() == ".json") return begins_as_trace(input) || is_attribution_file(input);
  constexpr std::array<std::string_view, 7> recordings{
      ".swtrace", ".sqlite", ".nsys-rep", ".gz", ".zst", ".tar", ".tgz"};
  return std::find(recordings.begin(), recordings.end(), path.extension().string()) !=
         recordings.end();
}

decide::ScalingTable recordings_table(const std::vector<std::string>& inputs,
                                      std::optional<decide::Scaling> declared) {
  const trace::RuleTable rules = trace::RuleTable::built_in();
  std::vector<decide::AttributedCount> counts;
  for (const std::string& input : inputs) {
    if (is_table_file(input) || is_run(input)) {
      throw UserError(fmt::format(
          "{}: several arguments are the recordings of one job at several counts; a table or a run "
          "stands alone",
          input));
    }
    counts.push_back(attributed(input, rules));
  }
  return decide::attributed_table(std::move(counts), declared);
}

}  // namespace scaleworth::cli
