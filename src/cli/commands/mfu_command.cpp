// SPDX-License-Identifier: Apache-2.0
#include "src/cli/commands/commands.h"
#include "src/cli/currency.h"
#include "src/cli/mfu/budget.h"
#include "src/cli/mfu/mfu.h"
#include "src/cli/mfu/serving.h"
#include "src/cli/typed_command.h"
#include "src/core/error.h"

#include <initializer_list>
#include <memory>
#include <string>

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
  command.add_option("--tokens", options.tokens, "tokens to train on, as 300e9: days and cost");
}

constexpr const char* examples =
    "A run:    scaleworth mfu --model gpt3-175b --gpu a100-80gb --gpus 1024 "
    "--tokens-per-second 140000 --price 2 --tokens 300e9\n"
    "A server: scaleworth mfu --model llama-3.1-70b --gpu h100-sxm --gpus 4 --dtype fp8 "
    "--inference --price 2.50\n"
    "A budget: scaleworth mfu --budget 1e6 --gpu h100-sxm --mfu 0.4 --price 2\n";

/// A flag that changes nothing would be believed to have changed something.
void refuse_unused(const CLI::App& command,
                   const std::string& asked,
                   std::initializer_list<const char*> unused) {
  for (const char* flag : unused) {
    if (command.count(flag) == 0) continue;
    throw UserError(fmt::format("{} changes nothing of {}: leave it out", flag, asked));
  }
}

int tell(const CLI::App& command,
         const MfuOptions& options,
         const ServingOptions& serving,
         const BudgetOptions& budget,
         const std::string& typed) {
  if (serving.asked) {
    refuse_unused(command, "what --inference costs", {"--convention", "--recompute", "--mfu"});
    return tell_serving(options, serving, typed);
  }
  if (budget.asked()) {
    refuse_unused(command,
                  "what a --budget is best spent on",
                  {"--tokens-per-second",
                   "--step-seconds",
                   "--batch-tokens",
                   "--sequence",
                   "--tokens",
                   "--convention",
                   "--recompute"});
    return tell_budget(options, budget, typed);
  }
  refuse_unused(command, "a run, whose MFU follows from its throughput", {"--mfu"});
  return tell_utilisation(options);
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
  command->footer(examples + app.get_footer());
  return {command, [=](const Arguments& arguments) {
            const std::string typed = typed_command(arguments);
            return in_currency(options->currency,
                               [&] { return tell(*command, *options, *serving, *budget, typed); });
          }};
}

}  // namespace scaleworth::cli
