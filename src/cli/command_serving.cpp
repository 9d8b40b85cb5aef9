// SPDX-License-Identifier: Apache-2.0
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"
#include "src/core/error.h"

#include <cmath>

#include <fmt/format.h>

namespace scaleworth::cli {
namespace {
constexpr std::int64_t most_gpus = 1000000;

using Sheet = std::optional<GpuDatasheet>;

std::string weights_format(const MfuOptions& options) {
  return options.number_format.empty() ? "bf16" : options.number_format;
}

/// Name of the tensor-core products in a datasheet that a format without peak of its own has;
/// empty: products are in 16 bits.
std::string products_key(const std::string& weights) {
  if (weights == "fp8") return "fp8_e4m3";
  if (weights == "mxfp4") return "nvfp4";
  return weights == "fp32" ? "tf32" : "";
}

/// The format that the GPU multiplies such weights in; where it has none for theirs, 16 bits.
std::string products_format(const GpuDatasheet& gpu,
                            const std::string& weights,
                            std::vector<std::string>& remarks) {
  const std::string key = gpu.tensor.contains(weights) ? weights : products_key(weights);
  if (gpu.tensor.contains(key)) return key;
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
  if (options.peak) return {*options.peak, "--peak"};
  if (gpu) {
    const DatasheetPeak& peak = gpu->tensor.at(key);
    return {peak.rate, model::datasheet_basis(key, peak)};
  }
  throw UserError("no GPU and no peak: give --gpu (scaleworth list --known) or --peak in TFLOP/s");
}

MeasuredBandwidth bandwidth_of(const MfuOptions& options,
                               const ServingOptions& serving,
                               const Sheet& gpu) {
  if (serving.bandwidth) return {*serving.bandwidth, "--memory-gb-per-s"};
  if (const auto measured = measured_bandwidth(options.measured_peak)) return *measured;
  if (gpu && gpu->memory_bandwidth) return {*gpu->memory_bandwidth, "datasheet"};
  throw UserError("the memory bandwidth of the GPU is not known here: give --memory-gb-per-s");
}

std::optional<inference::GroupLink> link_of(const ServingOptions& serving) {
  if (!serving.link_latency && !serving.link_bandwidth) return std::nullopt;
  if (!serving.link_latency || !serving.link_bandwidth) {
    throw UserError("all-reduces need both --link-latency-us and --link-gb-per-s");
  }
  return inference::GroupLink{*serving.link_latency, *serving.link_bandwidth};
}

std::optional<inference::ApiPrice> api_of(const ServingOptions& serving) {
  if (!serving.api_in && !serving.api_out && !serving.api_cached) return std::nullopt;
  if (!serving.api_in || !serving.api_out) {
    throw UserError("an API's price needs both --api-price-in and --api-price-out");
  }
  return inference::ApiPrice{*serving.api_in, *serving.api_out, serving.api_cached};
}

/// The model, formats and GPUs, with their names.
inference::Server server_of(const MfuOptions& options,
                            const ServingOptions& serving,
                            report::MfuNames& names) {
  inference::Server server = serving.question.server;
  const inference::Request& request = serving.question.request;
  const TransformerModel model = model_of(options);
  const double longest = request.prompt + request.output;
  if (model.positions > 0 && longest > static_cast<double>(model.positions)) {
    throw UserError(fmt::format(
        "--prompt and --output are {:g} tokens together: {} has embeddings for {} positions",
        longest,
        model.id,
        model.positions));
  }
  const Sheet gpu = datasheet_of(options);
  names = gpu_names(options, gpu);
  server.model = inference::served_model(model);
  std::string& weights = server.formats.weights;
  weights = weights_format(options);
  if (server.formats.cache.empty()) {
    const bool narrow = inference::bytes_of_element(weights) < 1.0 || weights == "int8";
    server.formats.cache = narrow ? "fp8" : weights;
  }
  if (options.gpus > most_gpus) throw UserError("--gpus: a server has at most a million GPUs");
  server.group.gpus = static_cast<int>(options.gpus);
  if (!server.group.memory && gpu) server.group.memory = gpu->memory;
  server.group.link = link_of(serving);
  const model::Denominator peak = peak_of(options, gpu, names.remarks);
  const MeasuredBandwidth bandwidth = bandwidth_of(options, serving, gpu);
  server.group.peak = peak.rate;
  server.group.bandwidth = bandwidth.rate;
  names.model = model.name;
  names.model_source = model.source + "; " + model.date;
  names.peak_basis = peak.basis;
  names.bandwidth_basis = bandwidth.basis;
  return server;
}

void add_request(const Flags& flags, ServingOptions& options) {
  inference::Request& request = options.question.request;
  flags.add("--prompt", request.prompt, "tokens of a prompt")->capture_default_str();
  flags.add("--output", request.output, "tokens of an answer")->capture_default_str();
  flags.add("--cached", request.cached, "part of a prompt that is found in the cache, as 0.5");
  flags.list("--batch",
             options.question.batches,
             "requests at work at once, 1,8,32 (up to what memory holds)");
  std::string& cache_format = options.question.server.formats.cache;
  cache_format.clear();
  flags.add("--kv-dtype,--cache-format",
            cache_format,
            "number format of the cache (as the weights, fp8 for those of 4 bits): " +
                fmt::format("{}", fmt::join(inference::known_formats(), ", ")));
}

void add_money(const Flags& flags, ServingOptions& options) {
  inference::LoadShape& load = options.question.load;
  inference::LatencyLimits& limits = options.question.limits;
  flags.add("--duty", load.duty, "part of the hours with requests, as 0.4");
  flags.add("--burst", load.burst, "peak over mean of the requests, as 2");
  flags.add("--api-price-in", options.api_in, "an API's USD per million input tokens");
  flags.add("--api-price-out", options.api_out, "an API's USD per million output tokens");
  flags.add("--api-price-cached",
            options.api_cached,
            "an API's USD per million input tokens found in its cache");
  flags.add("--max-ttft-ms", limits.first_token, "exclude batches whose first token comes later");
  flags.add("--max-tpot-ms", limits.per_token, "exclude batches whose tokens come more slowly");
}

void add_machine(const Flags& flags, ServingOptions& options) {
  inference::ServingGroup& server = options.question.server.group;
  inference::MeasuredTimes& measured = options.question.measured;
  flags.add("--compute-efficiency",
            server.compute_efficiency,
            "part of the peak that the server reaches (1: the roof)");
  flags.add("--bandwidth-efficiency",
            server.bandwidth_efficiency,
            "part of the memory bandwidth that it reaches (1: the roof)");
  flags.add(
      "--memory-fraction", server.memory_part, "part of the memory for weights and caches, as 0.9");
  flags.add("--memory-gb-per-s",
            options.bandwidth,
            "memory bandwidth of a GPU, in place of the datasheet's");
  flags.add("--memory-gib", server.memory, "memory of a GPU, in place of the datasheet's");
  flags.add("--link-latency-us", options.link_latency, "time of a small all-reduce among the GPUs");
  flags.add("--link-gb-per-s",
            options.link_bandwidth,
            "bus bandwidth of a large all-reduce among the GPUs");
  flags.add("--prefill-ms", measured.prefill, "measured: one prompt alone, with one --batch");
  flags.add("--step-ms", measured.decode_step, "measured: one decode step, at one --batch");
}
}  // namespace

int print_serving(const MfuOptions& options, const ServingOptions& serving) {
  inference::ServingQuestion question = serving.question;
  report::MfuNames names;
  question.server = server_of(options, serving, names);
  for (const double batch : question.batches) {
    if (batch != std::floor(batch))
      throw UserError(fmt::format("--batch {:g}: not a whole number", batch));
  }
  if (options.price_usd_per_hour) {
    question.rate =
        dollars_per_hour(*options.price_usd_per_hour * static_cast<double>(options.gpus));
  }
  question.api = api_of(serving);
  question.measured.output_tokens_per_s = options.tokens_per_second;
  fmt::print("{}",
             report::render_serving({question, inference::serve(question), names, options.render}));
  return exit_done;
}

void ServingOptions::add_to(CLI::App& command) {
  constexpr const char* group = "Inference";
  CLI::Option* inference =
      command.add_flag("--inference", asked, "serve the model instead of training it")
          ->group(group);
  // Of training only.
  for (const char* other : {"--step-seconds",
                            "--batch-tokens",
                            "--sequence",
                            "--tokens",
                            "--budget",
                            "--budget-flops"}) {
    inference->excludes(command.get_option(other));
  }
  const Flags flags(command, group, inference);
  add_request(flags, *this);
  add_money(flags, *this);
  add_machine(flags, *this);
}
}  // namespace scaleworth::cli
