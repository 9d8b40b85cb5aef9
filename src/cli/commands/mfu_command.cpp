// SPDX-License-Identifier: Apache-2.0
#include "src/cli/commands/commands.h"
#include "src/cli/currency.h"
#include "src/cli/mfu/budget.h"
#include "src/cli/mfu/mfu.h"
#include "src/cli/mfu/serving.h"

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

void add_run(CLI::App& command, MfuOptions& options) {
  command.add_option(
      "--model", options.model, "architecture by its id; all: scaleworth list --known");
  command.add_option("--model-file",
                     options.model_file,
                     "TOML with [[model]] tables in place of the models built in");
  command.add_option("--gpu", options.gpu, "GPU by its id or alias; unknown here: with --peak");
  command.add_option(
      "--datasheets", options.datasheets, "TOML with [[gpu]] tables in place of the GPUs built in");
  command.add_option("--gpus", options.gpus, "how many work on the step")->capture_default_str();
  command.add_option(
      "--tokens-per-second", options.tokens_per_second, "trained tokens, of all GPUs");
  command.add_option("--step-seconds", options.step_seconds, "instead: seconds of one step ...");
  command.add_option(
      "--batch-tokens", options.batch_tokens, "... and the tokens that it trains on");
  command.add_option("--sequence", options.sequence, "tokens of one sequence (the model's own)");
}

void add_counting(CLI::App& command, MfuOptions& options) {
  command.add_option("--dtype",
                     options.number_format,
                     "number format of the products: bf16, fp16, fp8, tf32, fp32 ... (bf16)");
  command
      .add_option("--convention",
                  options.convention,
                  "how FLOPs are counted: full, causal, palm, narayanan, korthikanti, 6nd, "
                  "torchtitan, llm-foundry, megatron")
      ->capture_default_str();
  command
      .add_option("--recompute",
                  options.recomputation,
                  "what the backward pass computes again: none, selective (attention) or full")
      ->check(CLI::IsMember({"none", "selective", "full"}))
      ->capture_default_str();
  command.add_option("--peak", options.peak_tflops, "dense peak of one GPU, TFLOP/s");
  command.add_option("--measured-peak",
                     options.measured_peak,
                     "besides: a measured ceiling, TFLOP/s or a run with products of GPUs");
}

void add_money(CLI::App& command, MfuOptions& options) {
  command.add_option("--price", options.price_usd_per_hour, "USD for one GPU for one hour");
  command.add_option("--tokens", options.tokens, "tokens to train on, as 300e9: days and dollars");
}

}  // namespace

Command add_mfu_command(CLI::App& app) {
  auto options = std::make_shared<MfuOptions>();
  auto serving = std::make_shared<ServingOptions>();
  auto budget = std::make_shared<BudgetOptions>();
  CLI::App* command = app.add_subcommand(
      "mfu",
      "model FLOPs, MFU, HFU and the cost of training or serving, from a model and its GPUs");
  add_run(*command, *options);
  add_counting(*command, *options);
  add_money(*command, *options);
  budget->add_to(*command);
  serving->add_to(*command);
  add_currency(*command, options->currency);
  command
      ->add_option("--format", options->format, "what goes to stdout: text, md, csv, json or html")
      ->check(CLI::IsMember({"text", "md", "csv", "json", "html"}))
      ->capture_default_str();
  command->add_flag("--details", options->details, "every table (text and md)");
  return {command, [=](const Arguments& arguments) {
            const std::string typed = fmt::format("scaleworth {}", fmt::join(arguments, " "));
            return in_currency(options->currency, [&] {
              if (serving->asked) return tell_serving(*options, *serving, typed);
              if (budget->asked()) return tell_budget(*options, *budget, typed);
              return tell_utilisation(*options);
            });
          }};
}

}  // namespace scaleworth::cli
