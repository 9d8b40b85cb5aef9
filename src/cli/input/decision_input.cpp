// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "src/cli/input/imports.h"
#include "src/cli/input/table_input.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/files/run_directory.h"
#include "src/model/analysis.h"
#include "src/model/recording_comparison.h"
#include "trace/attribute.h"
#include "trace/classify.h"
#include "trace/formats/byte_source.h"
#include "trace/formats/read_job.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>

namespace scaleworth::cli {
using namespace trace;

namespace {
namespace fs = std::filesystem;

/// By these the kinds of files differ.
constexpr std::size_t front_bytes = std::size_t{64} * 1024;

/// What there is, in the order of InputKind, and which commands take it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> taken{
    {{"a table", "decide compare"},
     {"a run", "report decide compare check"},
     {"a recording", "attribute decide compare"},
     {"what attribute --format json writes", "decide compare"},
     {"what --format json writes for other programs", ""},
     {"a web page", ""},
     {"a result of another tool", "import report compare check"}}};

/// Whether a member "kind" of the JSON begins as `value`.
bool has_kind(std::string_view json, std::string_view value) {
  constexpr std::string_view key = R"("kind")";
  for (std::size_t at = json.find(key); at != std::string_view::npos; at = json.find(key, at + 1)) {
    std::string_view behind = trimmed(json.substr(at + key.size()));
    if (!behind.starts_with(':')) continue;
    behind.remove_prefix(1);
    if (trimmed(behind).starts_with(value)) return true;
  }
  return false;
}

/// The trouble of one input, which a message about its files need not name.
[[noreturn]] void refuse(const std::string& input, const std::string& trouble) {
  std::error_code ignored;
  std::string message = trouble.find(input) == std::string::npos ? input + ": " + trouble : trouble;
  if (fs::is_directory(input, ignored)) message += ", or give a run directory or its run.json";
  throw UserError(message);
}

}  // namespace

Attribution attributed_job(const std::string& input) {
  if (input_kind(input) == InputKind::attribution) {
    constexpr std::uintmax_t most_bytes = 512U << 20U;
    return report::read_attribution(
        read_whole(input, input, most_bytes, " are too many; give the recordings themselves"),
        input);
  }
  try {
    static const RuleTable rules = RuleTable::built_in();
    Job job = read_job({input}, rules);
    classify(job.recordings, rules);
    return attribute(job).result;
  } catch (const UserError& error) {
    refuse(input, error.what());
  }
}

InputKind kind_of_content(std::string_view text) {
  const std::string_view front = trimmed(text.substr(0, front_bytes));
  const auto has = [&](std::string_view word) { return front.find(word) != std::string::npos; };
  if (front.starts_with("<!DOCTYPE") || front.starts_with("<html")) return InputKind::page;
  if (!front.starts_with('{') && !front.starts_with('['))
    return (has(" algbw ") && has(" busbw ")) || has("nvbandwidth Version:") || has("** Dtype:") ||
                   has("shapes => the best outcomes") || has("Gflops/s")
               ? InputKind::results
               : InputKind::other;
  if (has(R"("nccl_version")") && has(R"("config")")) return InputKind::results;
  if (has(R"("nvbandwidth")") || has_inspector_records(front)) return InputKind::results;
  if (has(R"("scaleworth attribution")")) return InputKind::attribution;
  if (has_kind(front, R"("scaleworth )")) return InputKind::answer;
  if (is_recording("", text.substr(0, front_bytes))) return InputKind::recordings;
  if (front == "{}" || front == "[]") return InputKind::other;
  return has(R"("schema_version")") ? InputKind::run : InputKind::table;
}

InputKind input_kind(const std::string& input) {
  const fs::path path = input;
  std::error_code ignored;
  const bool pattern = input.find_first_of("*?[") != std::string::npos;
  if (!fs::exists(path, ignored)) return pattern ? InputKind::recordings : InputKind::other;
  if (path.filename() == run_file_name || fs::exists(path / run_file_name, ignored))
    return InputKind::run;
  if (fs::is_directory(path, ignored))
    return measurements_of({input}).front().front() == input ? InputKind::recordings
                                                             : InputKind::results;
  if (!fs::is_regular_file(path, ignored)) return InputKind::other;
  const auto ends = [&](std::string_view endings) {
    return std::ranges::count(split(endings, ' '), path.extension().string()) > 0;
  };
  const auto front = [&] {
    return std::string(PeekedSource(open_byte_source(input), front_bytes).front());
  };
  // Attribute knows tables of other tools, and refuses them; logs of nccl-tests are kept as notes.
  if (ends(".csv .tsv .toml") || (ends(".md") && front().find(" minBytes ") == std::string::npos))
    return is_recording(input, front()) ? InputKind::recordings : InputKind::table;
  if (packed_run(input)) return InputKind::run;
  if (ends(".swtrace .sqlite .nsys-rep .tar .tgz .zip")) return InputKind::recordings;
  const std::string begin = front();
  const InputKind kind = kind_of_content(begin);
  const bool recorded =
      kind == InputKind::other && (ends(".gz .zst") || is_recording(input, begin));
  return recorded ? InputKind::recordings : kind;
}

void refuse_foreign(const std::string& input, std::string_view command) {
  const InputKind kind = input_kind(input);
  if (kind == InputKind::other) return;
  if (fs::is_directory(input) && kind == InputKind::recordings && command == "report")
    throw UserError("{} has no run.json: give the folder of a run, or recordings to attribute",
                    input);
  const auto& [what, commands] = taken[static_cast<std::size_t>(kind)];
  if (!command.empty() && commands.find(command) != std::string_view::npos) return;
  throw UserError("{} is {}: {}",
                  input,
                  what,
                  commands.empty() ? "no command reads it; give what it was made of"
                                   : fmt::format("give it to scaleworth {}",
                                                 fmt::join(split(commands, ' '), " or ")));
}

ScalingTable recordings_table(const std::vector<std::string>& inputs,
                              std::optional<Scaling> declared) {
  std::vector<AttributedCount> counts;
  std::optional<model::ClassShares> first;
  for (const std::string& input : inputs) {
    const InputKind kind = input_kind(input);
    if (kind == InputKind::table || kind == InputKind::run) {
      throw UserError(
          "{}: several arguments are the recordings of one job at several counts; a table or a run "
          "stands alone",
          input);
    }
    const Attribution attribution = attributed_job(input);
    counts.push_back(attributed_count(attribution, input));
    const auto shares = model::class_shares(attribution);
    if (!first) first = shares;
    if (!first || !shares) continue;
    const double common = model::common_share(*first, *shares);
    if (common < model::least_in_common)
      counts.back().warnings.emplace_back(
          FindingId::programs_not_alike, inputs.front(), input, common);
  }
  return attributed_table(std::move(counts), declared);
}

namespace {
/// What makes a run unreliable makes its counts so, too.
TableFile table_of(const Run& run, std::optional<Scaling> scaling) {
  TableFile file{run_table(measured_modes(run), scaling), {}};
  file.table.warnings = run_findings(run, analyse(run, {})).unreliable;
  return file;
}
}  // namespace

TableFile read_table(const std::string& path,
                     const TableSelection& selection,
                     std::optional<Scaling> scaling) {
  InputKind what = input_kind(path);
  if (what == InputKind::run || std::filesystem::is_directory(path)) {
    if (!selection.where.empty() || !selection.rename.empty()) {
      throw UserError(
          "--where and --rename choose from a table; leave them out for a run directory");
    }
    return table_of(read_run(path), scaling);
  }
  const std::string text = table_text(path);
  // What comes through a pipe shows only now what it is.
  if (what == InputKind::other) what = kind_of_content(text);
  // Rows of our own answers are no table of a user's.
  const bool own_page = what == InputKind::page && text.find(": scaleworth ") < 1000;
  if (what == InputKind::answer || own_page) refuse_foreign(path, "decide");
  if (what == InputKind::run) return table_of(join_runs(run_from_json(text, path)), scaling);
  if (what == InputKind::attribution)
    return {
        attributed_table({attributed_count(report::read_attribution(text, path), path)}, scaling),
        {}};
  return parse_table(text, path, selection, scaling);
}
}  // namespace scaleworth::cli
