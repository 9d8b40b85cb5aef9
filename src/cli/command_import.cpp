// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/cli/input/imports.h"
#include "src/core/files/run_directory.h"
#include "src/core/run.h"
#include "src/core/version.h"
#include "src/core/whole_number.h"
#include "src/model/comparison.h"

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

namespace scaleworth::cli {
namespace {
struct ImportArguments {
  std::vector<std::string> files;
  std::string out;  // empty: a folder of its own below scaleworth-runs
  ImportOptions stated;
};

std::string size_text(std::int64_t bytes) {
  return report::format_quantity(report::number(static_cast<double>(bytes)), report::Unit::bytes);
}

/// Sizes of one question, and those of them that had a wrong result.
struct ImportedSizes {
  std::set<std::int64_t> all;
  std::set<std::int64_t> wrong;
};

std::map<Setting, ImportedSizes> sizes_of(const ProbeRecord& probe) {
  std::map<Setting, ImportedSizes> questions;
  for (const Point& point : probe.points) {
    const std::int64_t bytes = integer_parameter(point, Parameter::message_bytes);
    ImportedSizes& sizes = questions[point.setting.without(
        {Parameter::message_bytes, Parameter::in_place, Parameter::run})];
    sizes.all.insert(bytes);
    const double* wrong = value_at(point.amounts, Metric::wrong_elements);
    if (wrong != nullptr && *wrong > 0.0) sizes.wrong.insert(bytes);
  }
  return questions;
}

/// "all reduce among 16 ranks on 2 nodes, float, sum, back to back".
std::string question_text(const Setting& setting) {
  const auto nodes = setting.count(Parameter::nodes);
  std::string text = fmt::format("{} among {} ranks",
                                 setting.text(Parameter::collective),
                                 setting.count(Parameter::ranks).value_or(0));
  if (nodes) text += fmt::format(" on {}", counted(static_cast<std::size_t>(*nodes), "node"));
  for (const Parameter detail : {Parameter::data_type,
                                 Parameter::reduction,
                                 Parameter::algorithm,
                                 Parameter::protocol,
                                 Parameter::mode}) {
    const std::string word = setting.text(detail);
    if (!word.empty()) text += ", " + printable(word);
  }
  return text;
}

/// Returns whether any was measured back to back.
bool print_collectives(const ProbeRecord& probe) {
  const auto questions = sizes_of(probe);
  for (const auto& [setting, sizes] : questions) {
    if (sizes.wrong.empty()) continue;
    fmt::print(
        "{} of {} sizes have wrong results: {} ({}). They stay in the run and enter no fit.\n",
        sizes.wrong.size(),
        sizes.all.size(),
        listed(sizes.wrong, size_text),
        question_text(setting));
  }
  if (model::cut_short(probe))
    fmt::print("Cut short or damaged: import the whole output; below is what could be read.\n");
  bool back_to_back = false;
  for (const auto& [setting, sizes] : questions) {
    const std::string first = size_text(*sizes.all.begin());
    fmt::print("{}: {}{}{}\n",
               question_text(setting),
               counted(sizes.all.size(), "size"),
               sizes.all.size() == 1 ? ", " + first : " from " + first,
               sizes.all.size() == 1 ? "" : " to " + size_text(*sizes.all.rbegin()));
    back_to_back = back_to_back ||
                   setting.symbol<CollectiveMode>(Parameter::mode) == CollectiveMode::back_to_back;
  }
  return back_to_back;
}

/// "12 transfers, 41.2 GB/s to 782 GB/s".
void print_rates(const ProbeRecord& probe) {
  const bool transfers = probe.name == probe_name::gpu_transfer;
  std::vector<double> rates;
  for (const Point& point : probe.points)
    rates.push_back(point.amounts.begin()->second / series(point, Metric::wall_s).front());
  if (rates.empty()) return;
  const auto [least, most] = std::ranges::minmax(rates);
  const auto text = [&](double rate) {
    return report::format_quantity(
        report::number(rate),
        transfers ? report::Unit::bytes_per_second : report::Unit::flop_per_second);
  };
  fmt::print("{}{}, {} to {}\n",
             counted(rates.size(), transfers ? "transfer" : "product"),
             probe.name == probe_name::gpu_together ? " while all GPUs work" : "",
             text(least),
             text(most));
}

void print_summary(const Run& run, const std::string& directory) {
  bool back_to_back = false;
  for (const ProbeRecord& probe : run.probes) {
    if (probe.name == probe_name::comm_nccl) {
      back_to_back = print_collectives(probe);
    } else {
      print_rates(probe);
    }
  }
  if (back_to_back)
    fmt::print(
        "Back to back: many operations in a row between two readings of the clock, divided; no "
        "latency of a single call.\n");
  for (const ProbeRecord& probe : run.probes)
    for (const std::string& warning : probe.warnings)
      fmt::print("warning: {}\n", printable(warning));
  const std::string words = report::shell_words({directory});
  fmt::print("kept in {}\n\nnext: scaleworth report {}\n", directory, words);
}

/// Throws UserError, which says where it belongs what is for other commands.
Run read_results(const ImportArguments& options) try {
  return import_files(options.files, options.stated);
} catch (const UserError&) {
  for (const std::string& file : options.files) {
    const InputKind kind = input_kind(file);
    // Damaged JSON looks like a table's.
    if (kind != InputKind::table) refuse_foreign(file, "import");
  }
  throw;
}

int import_results(const ImportArguments& options, const Arguments& arguments) {
  Run run = read_results(options);
  const auto now = std::chrono::system_clock::now();
  run.tool_version = tool_version();
  run.git_revision = git_revision();
  run.started_at = utc_text(now);
  run.command_line = arguments;
  RunDirectory directory(options.out.empty() ? default_run_directory(now, "import")
                                             : std::filesystem::path(options.out));
  directory.save(run);
  print_summary(run, directory.path().string());
  return exit_done;
}
}  // namespace

Command add_import_command(CLI::App& app) {
  auto options = std::make_shared<ImportArguments>();
  CLI::App* command = add_command(app, "import");
  const Flags flags(*command);
  flags.add("file", options->files)->required();
  flags.add("--out", options->out);
  flags.add("--collective", options->stated.collective);
  flags.add("--ranks", options->stated.ranks)->check(CLI::Range(2, most_ranks));
  flags.add("--nodes", options->stated.nodes)->check(CLI::Range(1, most_ranks));
  return {command,
          [options](const Arguments& arguments) { return import_results(*options, arguments); }};
}
}  // namespace scaleworth::cli
