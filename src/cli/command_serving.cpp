// SPDX-License-Identifier: Apache-2.0
#include "src/cli/bind_flags.h"
#include "src/cli/commands.h"

#include <cmath>

namespace scaleworth::cli {
namespace {
constexpr std::int64_t most_gpus = 1000000;

using Sheet = std::optional<GpuDatasheet>;

/// Name of a format's tensor-core products in datasheets.
std::string products_key(const std::string& format) {
  if (format == "fp8") return "fp8_e4m3";
  return format == "fp32" ? "tf32" : format;
}

/// The products that the GPU has for the first of these formats, else for 16 bits.
std::string sheet_key(const GpuDatasheet& gpu, std::vector<std::string> formats) {
  formats.insert(formats.end(), {"bf16", "fp16"});
  for (const std::string& format : formats) {
    if (gpu.tensor.contains(products_key(format))) return products_key(format);
  }
  throw UserError("{}: no peak of 16-bit products is known; give --peak in TFLOP/s", gpu.id);
}

/// Of products with weights and, in the datasheet's ratio to it, of attention.
void add_peaks(const MfuOptions& options,
               const Sheet& gpu,
               Server& server,
               report::MfuNames& names) {
  const Formats& formats = server.formats;
  const std::string wanted = products_format(formats);
  const std::string key = gpu ? sheet_key(*gpu, {wanted, formats.activations}) : wanted;
  const DatasheetPeak* sheet = gpu ? &gpu->tensor.at(key) : nullptr;
  if (sheet != nullptr && key != products_key(formats.weights)) {
    names.remarks.emplace_back(
        wanted == formats.weights ? FindingId::weights_widened_for_gpu : FindingId::weights_widened,
        formats.weights,
        key,
        gpu->name);
  }
  Denominator peak;
  if (const auto measured = measured_peak(options.measured_peak, key)) {
    peak = *measured;
  } else if (options.peak) {
    peak.rate = *options.peak;
  } else if (sheet != nullptr) {
    peak = {sheet->rate, datasheet_basis(key, *sheet)};
  } else {
    throw UserError(
        "no GPU and no peak: give --gpu (scaleworth list --known) or --peak in TFLOP/s");
  }
  server.group.peak = peak.rate;
  names.peak_basis = peak.basis;
  if (sheet == nullptr) return;
  const DatasheetPeak& attention = gpu->tensor.at(sheet_key(*gpu, {formats.activations}));
  server.group.attention_peak = peak.rate * (attention.rate / sheet->rate);
}

MeasuredBandwidth bandwidth_of(const MfuOptions& options,
                               const ServingOptions& serving,
                               const Sheet& gpu) {
  if (serving.bandwidth) return {*serving.bandwidth};
  if (const auto measured = measured_bandwidth(options.measured_peak)) return *measured;
  if (gpu && gpu->memory_bandwidth) return {*gpu->memory_bandwidth, FindingId::datasheet};
  throw UserError("the memory bandwidth of the GPU is not known here: give --memory-gb-per-s");
}

std::optional<GroupLink> link_of(const ServingOptions& serving,
                                 const Sheet& gpu,
                                 int gpus,
                                 report::MfuNames& names) {
  if (!serving.link_latency && !serving.link_bandwidth) {
    if (!gpu || gpus < 2) return std::nullopt;
    const auto roof = datasheet_link(*gpu, gpus);
    if (roof) names.link_basis = gpu->nvlink ? FindingId::sheet_nvlink : FindingId::sheet_pcie;
    return roof;
  }
  names.link_basis = FindingId::your_alpha_beta;
  if (!serving.link_latency || !serving.link_bandwidth) {
    throw UserError("all-reduces need both --link-latency-us and --link-gb-per-s");
  }
  return GroupLink{*serving.link_latency, *serving.link_bandwidth};
}

std::optional<ApiPrice> api_of(const ServingOptions& serving) {
  if (!serving.api_in && !serving.api_out && !serving.api_cached) return std::nullopt;
  if (!serving.api_in || !serving.api_out) {
    throw UserError("an API's price needs both --api-price-in and --api-price-out");
  }
  return ApiPrice{*serving.api_in, *serving.api_out, serving.api_cached};
}

/// The model, formats and GPUs, with their names.
Server server_of(const MfuOptions& options,
                 const ServingOptions& serving,
                 report::MfuNames& names) {
  Server server = serving.question.server;
  const Request& request = serving.question.request;
  const TransformerModel model = model_of(options);
  const double longest = request.prompt + request.output;
  if (model.positions > 0 && longest > static_cast<double>(model.positions))
    throw UserError("{:g} tokens: {} has embeddings for {}", longest, model.id, model.positions);
  const Sheet gpu = datasheet_of(options);
  names = gpu_names(options, gpu);
  if (longest > static_cast<double>(model.context))
    names.remarks.emplace_back(FindingId::longer_than_context, longest, model.name, model.context);
  server.model = served_model(model);
  auto& [weights, cache, activations] = server.formats;
  weights = options.number_format.empty() ? "bf16" : lower_case(options.number_format);
  const bool wide = weights == "fp16" || weights == "fp32";
  if (activations.empty()) activations = wide ? weights : "bf16";
  if (cache.empty()) cache = activations;
  bytes_of_element(activations);
  if (options.gpus > most_gpus) throw UserError("--gpus: a server has at most a million GPUs");
  server.group.gpus = static_cast<int>(options.gpus);
  if (!server.group.memory && gpu) server.group.memory = gpu->memory;
  server.group.link = link_of(serving, gpu, server.group.gpus, names);
  add_peaks(options, gpu, server, names);
  const MeasuredBandwidth bandwidth = bandwidth_of(options, serving, gpu);
  server.group.bandwidth = bandwidth.rate;
  names.model = model.name;
  names.model_source = model.source + "; " + model.date;
  names.bandwidth_basis = bandwidth.basis;
  return server;
}

/// Heads and experts are not cut: a GPU has whole ones.
bool divides(const TransformerModel& model, std::int64_t gpus) {
  const bool experts = model.experts > 1 && model.experts % gpus == 0;
  return model.heads % gpus == 0 || experts;
}

/// All GPUs in groups of `size`: each serves a copy of the model by itself, or a stage of it where
/// it does not fit.
ServingQuestion in_groups(const MfuOptions& options,
                          const ServingOptions& serving,
                          ServingQuestion question,
                          int size,
                          report::MfuNames& names) {
  ServingGroup& group = question.server.group;
  question.groups = group.gpus / size;
  group.gpus = size;
  group.link = link_of(serving, datasheet_of(options), size, names);
  const double tokens = question.request.prompt + question.request.output;
  const auto fits = [&] { return batch_in_memory(question.server, tokens).value_or(1) >= 1; };
  while (!fits() && group.stages < question.groups) {
    ++group.stages;
    while (question.groups % group.stages != 0) ++group.stages;
  }
  return question;
}

/// A division of the GPUs into groups, and what it serves in all.
struct Division {
  ServingQuestion question;
  double output_tokens_per_s = 0.0;
};

/// Beyond the GPUs that fast links join they stand in groups, for all-reduces over a network would
/// take longer than what they share; of domains of more than a server's 8 each part of 8 or more
/// may be one, and without such links any part. What serves most is taken; where smaller groups
/// would serve more, a remark says so.
ServingQuestion divided(const MfuOptions& options,
                        const ServingOptions& serving,
                        const ServingQuestion& question,
                        report::MfuNames& names) {
  constexpr int gpus_of_server = 8;
  const TransformerModel model = model_of(options);
  const Sheet gpu = datasheet_of(options);
  const int gpus = question.server.group.gpus;
  const int domain = std::min(serving.domain, gpus);
  const bool whole = serving.link_latency || serving.link_bandwidth;
  if (!whole && gpus % domain != 0)
    throw UserError("--gpus {} is no multiple of --domain {}: give {} or {}",
                    gpus,
                    domain,
                    gpus / domain * domain,
                    (gpus / domain + 1) * domain);
  const bool fixed = whole || question.measured.any();
  const int largest = whole ? gpus : domain;
  const int smallest = gpu && !gpu->nvlink ? 1 : std::min(largest, gpus_of_server);
  std::optional<Division> best;
  std::optional<Division> copies;  // in smaller groups
  for (int size = largest; size >= (fixed ? largest : 1); --size) {
    if (largest % size != 0 || !divides(model, size)) continue;
    Division one{in_groups(options, serving, question, size, names)};
    if (const ServingAnswer answer = serve(one.question); answer.chosen)
      one.output_tokens_per_s =
          answer.batches[*answer.chosen].output_tokens_per_s * one.question.groups;
    auto& slot = size >= smallest ? best : copies;
    if (!slot || one.output_tokens_per_s > slot->output_tokens_per_s) slot = std::move(one);
  }
  if (!best) std::swap(best, copies);
  if (!best)
    throw UserError(
        "--gpus {0}: the {1} attention heads of {2} do not divide among {0}: give a "
        "divisor of {1}, or several servers",
        largest,
        model.heads,
        model.name);
  const double gain = copies ? copies->output_tokens_per_s / best->output_tokens_per_s : 0.0;
  if (gain > 1.02)  // less is no reason
    names.remarks.emplace_back(
        FindingId::groups_serve_more, copies->question.server.group.gpus, gain);
  return best->question;
}

void add_request(const Flags& flags, ServingOptions& options) {
  Request& request = options.question.request;
  flags.add("--prompt", request.prompt)->capture_default_str();
  flags.add("--output", request.output)->capture_default_str();
  flags.add("--cached", request.cached);
  flags.list("--batch", options.question.batches);
  auto& [weights, cache, activations] = options.question.server.formats;
  cache.clear();
  activations.clear();
  flags.add("--activation-dtype", activations);
  flags.add("--kv-dtype,--cache-format",
            cache,
            fmt::format("of the cache (as the activations): {}", fmt::join(known_formats(), ", ")));
}

void add_money(const Flags& flags, ServingOptions& options) {
  LoadShape& load = options.question.load;
  LatencyLimits& limits = options.question.limits;
  flags.add("--duty", load.duty);
  flags.add("--burst", load.burst);
  flags.add("--api-price-in", options.api_in);
  flags.add("--api-price-out", options.api_out);
  flags.add("--api-price-cached", options.api_cached);
  flags.add("--max-ttft-ms", limits.first_token);
  flags.add("--max-tpot-ms", limits.per_token);
}

void add_machine(const Flags& flags, ServingOptions& options) {
  ServingGroup& server = options.question.server.group;
  MeasuredTimes& measured = options.question.measured;
  flags.add("--compute-efficiency", server.compute_efficiency);
  flags.add("--bandwidth-efficiency", server.bandwidth_efficiency);
  flags.add("--memory-fraction", server.memory_part)->capture_default_str();
  flags.add("--memory-gb-per-s", options.bandwidth);
  flags.add("--memory-gib", server.memory);
  flags.add("--domain", options.domain)->check(positive_number)->capture_default_str();
  flags.add("--link-latency-us", options.link_latency);
  flags.add("--link-gb-per-s", options.link_bandwidth);
  flags.add("--network-latency-us", server.network.latency);
  flags.add("--network-gb-per-s", server.network.bus_bandwidth);
  flags.add("--prefill-ms", measured.prefill);
  flags.add("--step-ms", measured.decode_step);
}
}  // namespace

int print_serving(const MfuOptions& options, const ServingOptions& serving) {
  ServingQuestion question = serving.question;
  report::MfuNames names;
  question.server = server_of(options, serving, names);
  for (const double batch : question.batches) {
    if (batch != std::floor(batch)) throw UserError("--batch {:g}: not a whole number", batch);
  }
  if (options.tokens_per_second) question.measured.output_tokens_per_s = options.tokens_per_second;
  question = divided(options, serving, question, names);
  if (options.price_usd_per_hour) {
    question.rate = dollars_per_hour(*options.price_usd_per_hour * question.server.group.gpus);
  }
  question.api = api_of(serving);
  if (options.tokens_per_second)
    question.measured.output_tokens_per_s = *options.tokens_per_second / question.groups;
  fmt::print("{}", report::render_serving({question, serve(question), names, options.render}));
  return exit_done;
}

void ServingOptions::add_to(CLI::App& command) {
  constexpr const char* group = "Inference";
  CLI::Option* inference = Flags(command, group).add("--inference", asked);
  // Of training only.
  constexpr std::string_view training =
      "--step-seconds --batch-tokens --parameters --sequence --tokens --budget --budget-flops runs";
  for (const std::string_view other : split(training, ' '))
    inference->excludes(command.get_option(std::string(other)));
  const Flags flags(command, group, inference);
  add_request(flags, *this);
  add_money(flags, *this);
  add_machine(flags, *this);
}
}  // namespace scaleworth::cli
