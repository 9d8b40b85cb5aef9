// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"
#include "report/words.h"
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/input/imports.h"
#include "src/core/files/csv.h"
#include "src/core/files/toml_table.h"
#include "src/core/process.h"
#include "src/core/whole_number.h"
#include "src/model/comparison.h"
#include "trace/attribute.h"
#include "trace/classify.h"
#include "trace/formats/export/export.h"
#include "trace/formats/read_job.h"

#include <cstdio>
#include <memory>
#include <set>

namespace scaleworth::cli {
namespace {
struct AttributeOptions {
  std::vector<std::string> inputs;
  report::RenderOptions render;
  std::optional<DollarsPerSecond> price;  // of a GPU
  std::string rules;
  std::string fabric;       // a run; empty: none
  std::string export_path;  // empty: no export
  bool slowest_step = false;
  std::string window;        // "FROM:TO" in seconds
  std::string export_ranks;  // "0,3-5"; empty: all
};

constexpr double longest_window_s = 1e9;

std::chrono::nanoseconds parse_seconds(std::string_view text,
                                       std::chrono::nanoseconds otherwise,
                                       const std::string& window) {
  if (text.empty()) return otherwise;
  const auto seconds = parse_number<double>(text);
  if (!seconds || !(*seconds >= 0.0) || *seconds > longest_window_s)
    throw UserError("--window {} is no range: give FROM:TO in seconds, as 1.5:2", window);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(*seconds * 1e9));
}

int parse_rank(std::string_view text, const std::string& all) {
  if (const auto rank = rank_number(parse_number<std::int64_t>(text))) return *rank;
  throw UserError("--export-ranks {}: give numbers and ranges, as 0,3-5", all);
}

/// --export: writes the timeline for Perfetto's UI and says on stderr what is in it.
void export_file(const Job& job, const Attributed& attributed, const AttributeOptions& options) {
  if (options.export_path.empty()) return;
  ExportOptions wanted;
  wanted.window = parse_window(options.window);
  wanted.slowest_step = options.slowest_step;
  wanted.ranks = parse_ranks(options.export_ranks);
  const auto is_export = [&](const std::string& file) {
    std::error_code trouble;
    return std::filesystem::equivalent(file, options.export_path, trouble);
  };
  for (const Recording& one : job.recordings) {
    const std::string& file = one.origin.file;
    if (is_export(file) || is_export(file.substr(0, file.rfind(':'))) || is_export(options.rules))
      throw UserError("--export {} would replace {}, which is read: choose another name",
                      options.export_path,
                      is_export(options.rules) ? options.rules : file);
  }
  const ExportCounts counts = export_timeline(job, attributed, options.export_path, wanted);
  print_error("{}: {} slices, {} arrows, {:.1f} MB; open it at ui.perfetto.dev\n",
              options.export_path,
              counts.slices,
              counts.arrows,
              static_cast<double>(counts.bytes) / 1e6);
  if (counts.left_out > 0)
    print_error("{} slices were left out, because too many overlap on one stream or thread\n",
                counts.left_out);
}

int attribute_recordings(const AttributeOptions& options) {
  const std::string& own = options.rules;
  const RuleTable rules = own.empty() ? RuleTable::built_in()
                                      : RuleTable::with_own(toml_file::read_small_file(own), own);
  Job job = read_for("attribute", options.inputs, [&] { return read_job(options.inputs, rules); });
  classify(job.recordings, rules);
  const Attributed attributed = attribute(job);
  export_file(job, attributed, options);
  report::RenderOptions rendered = options.render;
  rendered.input = report::shell_words(options.inputs);
  std::optional<report::FabricComparison> fabric;
  if (!options.fabric.empty()) {
    const Run run =
        read_for("attribute", {options.fabric}, [&] { return read_any_run(options.fabric); });
    fabric = {options.fabric, model::against_fabric(attributed.result, run)};
  }
  fmt::print("{}",
             report::render_attribution(
                 attributed.result, options.price, rendered, fabric ? &*fabric : nullptr));
  return exit_done;
}
}  // namespace

std::vector<Rank> parse_ranks(const std::string& text) {
  std::set<Rank> ranks;
  if (text.empty()) return {};
  for (const std::string_view range : split(text, ',')) {
    const std::size_t dash = range.find('-');
    const int first = parse_rank(range.substr(0, dash), text);
    const int last =
        dash == std::string_view::npos ? first : parse_rank(range.substr(dash + 1), text);
    if (last < first)
      throw UserError(
          "--export-ranks {}: {}-{} counts down: give the smaller rank first", text, first, last);
    for (int rank = first; rank <= last; ++rank) ranks.insert(Rank{rank});
  }
  return {ranks.begin(), ranks.end()};
}

std::optional<TimeInterval> parse_window(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::vector<std::string_view> ends = split(text, ':');
  const std::chrono::nanoseconds last(static_cast<std::int64_t>(longest_window_s * 1e9));
  TimeInterval window{parse_seconds(ends[0], std::chrono::nanoseconds(0), text),
                      parse_seconds(ends.size() == 2 ? ends[1] : ":", last, text)};
  if (window.end <= window.start)
    throw UserError("--window {} is empty: give FROM:TO with FROM before TO", text);
  return window;
}

Command add_attribute_command(CLI::App& app) {
  auto options = std::make_shared<AttributeOptions>();
  CLI::App* command = add_command(app, "attribute");
  const Flags flags(*command);
  flags.add("recording", options->inputs)->required();
  add_render_flags(*command, options->render);
  flags.add("--price", options->price)->check(nonnegative_number);
  flags.add("--rules", options->rules);
  flags.add("--fabric", options->fabric);
  flags.add("--export", options->export_path);
  flags.add("--slowest-step", options->slowest_step);
  flags.add("--window", options->window);
  flags.add("--export-ranks", options->export_ranks);
  for (const char* part : {"--slowest-step", "--window", "--export-ranks"})
    command->get_option(part)->needs("--export");
  return {command, [options](const Arguments&) { return attribute_recordings(*options); }};
}
}  // namespace scaleworth::cli
