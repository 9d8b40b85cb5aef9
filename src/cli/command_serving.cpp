// SPDX-License-Identifier: Apache-2.0
#include "src/cli/application.h"
#include "src/cli/commands.h"
#include "src/core/error.h"
#include "src/model/transformer/serving.h"

#include <cmath>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace scaleworth::cli {
namespace {
constexpr double per_gib = 1024.0 * 1024.0 * 1024.0;
constexpr double tera = 1e12;
constexpr std::int64_t most_gpus = 1000000;

using Sheet = std::optional<GpuDatasheet>;

std::string weights_format(const MfuOptions& options) {
  return options.number_format.empty() ? "bf16" : options.number_format;
}

/// Name of a format's tensor-core products in datasheets; empty: products are in 16 bits.
std::string products_key(const std::string& weights) {
  if (weights == "fp8") return "fp8_e4m3";
  if (weights == "nvfp4" || weights == "mxfp4") return "nvfp4";
  if (weights == "int8" || weights == "bf16" || weights == "fp16") return weights;
  return weights == "fp32" ? "tf32" : "";
}

model::Denominator sheet_peak(const GpuDatasheet& gpu, const std::string& key) {
  const DatasheetPeak& peak = gpu.tensor.at(key);
  std::string basis = "datasheet " + key + ", dense";
  if (peak.clock_hz) basis += fmt::format(", at {:.0f} MHz", *peak.clock_hz * 1e-6);
  return {peak.rate, basis};
}

/// The format that the GPU multiplies such weights in; where it has none for theirs, 16 bits.
std::string products_format(const GpuDatasheet& gpu,
                            const std::string& weights,
                            std::vector<std::string>& remarks) {
  const std::string key = products_key(weights);
  if (!key.empty() && gpu.tensor.contains(key)) return key;
  for (const char* wide : {"bf16", "fp16"}) {
    if (!gpu.tensor.contains(wide)) continue;
    remarks.push_back(
        fmt::format("{} has no products of {} in its datasheet here: weights are widened to {} for "
                    "them, which saves memory and reading, not computing.",
                    gpu.name,
                    weights,
                    wide));
    return wide;
  }
  throw UserError(
      fmt::format("{}: no peak of 16-bit products is known; give --peak in TFLOP/s", gpu.id));
}

model::Denominator peak_of(const MfuOptions& options,
                           const Sheet& gpu,
                           std::vector<std::string>& remarks) {
  const std::string weights = weights_format(options);
  const std::string key = gpu ? products_format(*gpu, weights, remarks) : weights;
  if (const auto measured = measured_peak(options.measured_peak, key)) return *measured;
  if (options.peak_tflops) return {FlopPerSecond(*options.peak_tflops * tera), "--peak"};
  if (gpu) return sheet_peak(*gpu, key);
  throw UserError("no GPU and no peak: give --gpu (scaleworth list --known) or --peak in TFLOP/s");
}

MeasuredBandwidth bandwidth_of(const MfuOptions& options,
                               const ServingOptions& serving,
                               const Sheet& gpu) {
  if (serving.bandwidth_gb_per_s) {
    return {BytesPerSecond(*serving.bandwidth_gb_per_s * 1e9), "--memory-gb-per-s"};
  }
  if (const auto measured = measured_bandwidth(options.measured_peak)) return *measured;
  if (gpu && gpu->memory_bandwidth) return {*gpu->memory_bandwidth, "datasheet"};
  throw UserError("the memory bandwidth of the GPU is not known here: give --memory-gb-per-s");
}

std::string cache_format(const std::string& weights, const ServingOptions& serving) {
  if (!serving.cache_format.empty()) return serving.cache_format;
  const bool narrow = inference::bytes_of_element(weights) < 1.0 || weights == "int8";
  return narrow ? "fp8" : weights;
}

std::optional<inference::GroupLink> link_of(const ServingOptions& serving) {
  if (!serving.link_latency_us && !serving.link_gb_per_s) return std::nullopt;
  if (!serving.link_latency_us || !serving.link_gb_per_s) {
    throw UserError("all-reduces need both --link-latency-us and --link-gb-per-s");
  }
  return inference::GroupLink{Seconds(*serving.link_latency_us * 1e-6),
                              BytesPerSecond(*serving.link_gb_per_s * 1e9)};
}

inference::ServingGroup group_of(const MfuOptions& options,
                                 const ServingOptions& serving,
                                 const Sheet& gpu) {
  if (options.gpus > most_gpus) throw UserError("--gpus: a server has at most a million GPUs");
  inference::ServingGroup group;
  group.gpus = static_cast<int>(options.gpus);
  if (serving.memory_gib) {
    group.memory = Bytes(*serving.memory_gib * per_gib);
  } else if (gpu) {
    group.memory = gpu->memory;
  }
  group.compute_efficiency = serving.compute_efficiency;
  group.bandwidth_efficiency = serving.bandwidth_efficiency;
  group.memory_part = serving.memory_part;
  group.link = link_of(serving);
  return group;
}

std::optional<inference::ApiPrice> api_of(const ServingOptions& serving) {
  if (!serving.api_usd_in && !serving.api_usd_out && !serving.api_usd_cached) return std::nullopt;
  if (!serving.api_usd_in || !serving.api_usd_out) {
    throw UserError("an API's price needs both --api-price-in and --api-price-out");
  }
  inference::ApiPrice price{
      Dollars(*serving.api_usd_in), Dollars(*serving.api_usd_out), std::nullopt};
  if (serving.api_usd_cached) price.cached_input = Dollars(*serving.api_usd_cached);
  return price;
}

std::optional<Seconds> milliseconds(const std::optional<double>& time) {
  if (!time) return std::nullopt;
  return Seconds(*time * 1e-3);
}

/// What is asked of the server, without the server.
void add_demand(inference::ServingQuestion& question,
                const MfuOptions& options,
                const ServingOptions& serving) {
  question.request = {serving.prompt_tokens, serving.output_tokens, serving.cached_part};
  for (const double batch : serving.batches) {
    if (batch != std::floor(batch))
      throw UserError(fmt::format("--batch {:g}: not a whole number", batch));
  }
  question.batches = serving.batches;
  if (options.price_usd_per_hour) {
    question.rate =
        dollars_per_hour(*options.price_usd_per_hour * static_cast<double>(options.gpus));
  }
  question.load = {serving.duty, serving.burst};
  question.api = api_of(serving);
  question.limits = {milliseconds(serving.longest_first_token_ms),
                     milliseconds(serving.longest_per_token_ms)};
  question.measured = {
      milliseconds(serving.prefill_ms), milliseconds(serving.step_ms), options.tokens_per_second};
}

struct ServingCase {
  inference::ServingQuestion question;
  report::MfuNames names;
};

ServingCase serving_case(const MfuOptions& options, const ServingOptions& serving) {
  ServingCase result;
  const TransformerModel model = model_of(options);
  const double longest = serving.prompt_tokens + serving.output_tokens;
  if (model.positions > 0 && longest > static_cast<double>(model.positions)) {
    throw UserError(fmt::format(
        "--prompt and --output are {:g} tokens together: {} has embeddings for {} positions",
        longest,
        model.id,
        model.positions));
  }
  const Sheet gpu = datasheet_of(options);
  result.names = gpu_names(options, gpu);
  const std::string weights = weights_format(options);
  inference::Server& server = result.question.server;
  server.model = inference::served_model(model);
  server.formats = {weights, cache_format(weights, serving)};
  server.group = group_of(options, serving, gpu);
  const model::Denominator peak = peak_of(options, gpu, result.names.remarks);
  const MeasuredBandwidth bandwidth = bandwidth_of(options, serving, gpu);
  server.group.peak = peak.rate;
  server.group.bandwidth = bandwidth.rate;
  add_demand(result.question, options, serving);
  result.names.model = model.name;
  result.names.model_source = model.source + "; " + model.date;
  result.names.peak_basis = peak.basis;
  result.names.bandwidth_basis = bandwidth.basis;
  return result;
}

}  // namespace

int print_serving(const MfuOptions& options, const ServingOptions& serving) {
  const ServingCase served = serving_case(options, serving);
  fmt::print("{}",
             report::render_serving(
                 served.question, inference::serve(served.question), served.names, options.render));
  return exit_done;
}

namespace {
constexpr const char* group = "Inference";
constexpr const char* flag = "--inference";

/// In the help's group, and refused without --inference.
template <class T>
CLI::Option* add(CLI::App& command, const char* name, T& value, const std::string& help) {
  return command.add_option(name, value, help)->group(group)->needs(command.get_option(flag));
}

void add_request(CLI::App& command, ServingOptions& options) {
  add(command, "--prompt", options.prompt_tokens, "tokens of a prompt")->capture_default_str();
  add(command, "--output", options.output_tokens, "tokens of an answer")->capture_default_str();
  add(command,
      "--cached",
      options.cached_part,
      "part of a prompt that is found in the cache, as 0.5");
  add(command,
      "--batch",
      options.batches,
      "requests at work at once, 1,8,32 (up to what memory holds)")
      ->delimiter(',')
      ->allow_extra_args(false);
  add(command,
      "--kv-dtype,--cache-format",
      options.cache_format,
      "number format of the cache (as the weights, fp8 for those of 4 bits): " +
          fmt::format("{}", fmt::join(inference::known_formats(), ", ")));
}

void add_money(CLI::App& command, ServingOptions& options) {
  add(command, "--duty", options.duty, "part of the hours with requests, as 0.4");
  add(command, "--burst", options.burst, "peak over mean of the requests, as 2");
  add(command, "--api-price-in", options.api_usd_in, "an API's USD per million input tokens");
  add(command, "--api-price-out", options.api_usd_out, "an API's USD per million output tokens");
  add(command,
      "--api-price-cached",
      options.api_usd_cached,
      "an API's USD per million input tokens found in its cache");
  add(command,
      "--max-ttft-ms",
      options.longest_first_token_ms,
      "exclude batches whose first token comes later");
  add(command,
      "--max-tpot-ms",
      options.longest_per_token_ms,
      "exclude batches whose tokens come more slowly");
}

void add_machine(CLI::App& command, ServingOptions& options) {
  add(command,
      "--compute-efficiency",
      options.compute_efficiency,
      "part of the peak that the server reaches (1: the roof)");
  add(command,
      "--bandwidth-efficiency",
      options.bandwidth_efficiency,
      "part of the memory bandwidth that it reaches (1: the roof)");
  add(command,
      "--memory-fraction",
      options.memory_part,
      "part of the memory for weights and caches, as 0.9");
  add(command,
      "--memory-gb-per-s",
      options.bandwidth_gb_per_s,
      "memory bandwidth of a GPU, in place of the datasheet's");
  add(command, "--memory-gib", options.memory_gib, "memory of a GPU, in place of the datasheet's");
  add(command,
      "--link-latency-us",
      options.link_latency_us,
      "time of a small all-reduce among the GPUs");
  add(command,
      "--link-gb-per-s",
      options.link_gb_per_s,
      "bus bandwidth of a large all-reduce among the GPUs");
  add(command, "--prefill-ms", options.prefill_ms, "measured: one prompt alone, with one --batch");
  add(command, "--step-ms", options.step_ms, "measured: one decode step, at one --batch");
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
