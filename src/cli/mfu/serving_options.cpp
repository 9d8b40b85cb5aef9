// SPDX-License-Identifier: Apache-2.0
#include "src/cli/mfu/serving_options.h"

#include "src/model/inference/served_model.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace scaleworth::cli {
namespace {

constexpr const char* group = "Inference";
constexpr const char* flag = "--inference";

/// In the help's group, and refused without --inference.
CLI::Option* in_group(CLI::App& command, CLI::Option* option) {
  return option->group(group)->needs(command.get_option(flag));
}

void add_request(CLI::App& command, ServingOptions& options) {
  in_group(command, command.add_option("--prompt", options.prompt_tokens, "tokens of a prompt"))
      ->capture_default_str();
  in_group(command, command.add_option("--output", options.output_tokens, "tokens of an answer"))
      ->capture_default_str();
  in_group(
      command,
      command.add_option(
          "--cached", options.cached_part, "part of a prompt that is found in the cache, as 0.5"));
  in_group(
      command,
      command.add_option(
          "--batch", options.batches, "requests at work at once, 1,8,32 (up to what memory holds)"))
      ->delimiter(',')
      ->allow_extra_args(false);
  in_group(
      command,
      command.add_option("--kv-dtype,--cache-format",
                         options.cache_format,
                         "number format of the cache (as the weights, fp8 for those of 4 bits): " +
                             fmt::format("{}", fmt::join(inference::known_formats(), ", "))));
}

void add_money(CLI::App& command, ServingOptions& options) {
  in_group(command,
           command.add_option("--duty", options.duty, "part of the hours with requests, as 0.4"));
  in_group(command,
           command.add_option("--burst", options.burst, "peak over mean of the requests, as 2"));
  in_group(command,
           command.add_option(
               "--api-price-in", options.api_usd_in, "an API's USD per million input tokens"));
  in_group(command,
           command.add_option(
               "--api-price-out", options.api_usd_out, "an API's USD per million output tokens"));
  in_group(command,
           command.add_option("--api-price-cached",
                              options.api_usd_cached,
                              "an API's USD per million input tokens found in its cache"));
  in_group(command,
           command.add_option("--max-ttft-ms",
                              options.longest_first_token_ms,
                              "exclude batches whose first token comes later"));
  in_group(command,
           command.add_option("--max-tpot-ms",
                              options.longest_per_token_ms,
                              "exclude batches whose tokens come more slowly"));
}

void add_machine(CLI::App& command, ServingOptions& options) {
  in_group(command,
           command.add_option("--compute-efficiency",
                              options.compute_efficiency,
                              "part of the peak that the server reaches (1: the roof)"));
  in_group(command,
           command.add_option("--bandwidth-efficiency",
                              options.bandwidth_efficiency,
                              "part of the memory bandwidth that it reaches (1: the roof)"));
  in_group(command,
           command.add_option("--memory-fraction",
                              options.memory_part,
                              "part of the memory for weights and caches, as 0.9"));
  in_group(command,
           command.add_option("--memory-gb-per-s",
                              options.bandwidth_gb_per_s,
                              "memory bandwidth of a GPU, in place of the datasheet's"));
  in_group(command,
           command.add_option(
               "--memory-gib", options.memory_gib, "memory of a GPU, in place of the datasheet's"));
  in_group(command,
           command.add_option("--link-latency-us",
                              options.link_latency_us,
                              "time of a small all-reduce among the GPUs"));
  in_group(command,
           command.add_option("--link-gb-per-s",
                              options.link_gb_per_s,
                              "bus bandwidth of a large all-reduce among the GPUs"));
  in_group(command,
           command.add_option(
               "--prefill-ms", options.prefill_ms, "measured: one prompt alone, with one --batch"));
  in_group(command,
           command.add_option(
               "--step-ms", options.step_ms, "measured: one decode step, at one --batch"));
}

}  // namespace

void ServingOptions::add_to(CLI::App& command) {
  CLI::Option* inference =
      command.add_flag(flag, asked, "serve the model instead of training it")->group(group);
  // Of training only.
  for (const char* other : {"--step-seconds",
                            "--batch-tokens",
                            "--sequence",
                            "--tokens",
                            "--budget",
                            "--budget-flops"}) {
    inference->excludes(command.get_option(other));
  }
  add_request(command, *this);
  add_money(command, *this);
  add_machine(command, *this);
}

}  // namespace scaleworth::cli
