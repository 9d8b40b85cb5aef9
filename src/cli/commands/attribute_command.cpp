// SPDX-License-Identifier: Apache-2.0
#include "src/cli/attribute/attribute.h"
#include "src/cli/commands/commands.h"

#include <memory>

#include <CLI/CLI.hpp>

namespace scaleworth::cli {

Command add_attribute_command(CLI::App& app) {
  auto options = std::make_shared<AttributeOptions>();
  CLI::App* command = app.add_subcommand(
      "attribute", "where each step's time went and who kept whom waiting, from recordings");
  command
      ->add_option(
          "recording",
          options->inputs,
          "files, directories, patterns or tar archives: ours (.swtrace), PyTorch's (.json, "
          ".json.gz, .json.zst), Nsight Systems' (.sqlite), one file or more per rank")
      ->required();
  command
      ->add_option("--format", options->format, "what goes to stdout: text, md, csv, json or html")
      ->check(CLI::IsMember({"text", "md", "csv", "json", "html"}))
      ->capture_default_str();
  command->add_flag(
      "--details", options->details, "every table, not only the summary (text and md)");
  command
      ->add_option("--price",
                   options->price_usd_per_gpu_hour,
                   "USD for one GPU for one hour, to cost the waiting")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--rules",
                      options->rules,
                      "a TOML file with your own rules for kernel and host names, ahead of the "
                      "built-in ones (data/kernels.toml shows the form)");
  command->add_option(
      "--export",
      options->export_path,
      "write the timeline with waits and arrows: .pftrace (Perfetto), .json or .json.gz");
  command->add_flag("--slowest-step", options->slowest_step, "export only the slowest step");
  command->add_option(
      "--window", options->window, "export only FROM:TO, seconds since the first event");
  command->add_option(
      "--export-ranks", options->export_ranks, "export only these ranks, such as 0,3-5");
  return {command, [options](const Arguments&) { return attribute_recordings(*options); }};
}

}  // namespace scaleworth::cli
