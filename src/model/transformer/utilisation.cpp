// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/utilisation.h"

#include "src/core/files/csv.h"
#include "src/model/roofline.h"

#include <array>
#include <cmath>

namespace scaleworth::model {
namespace {
Finding clock_of(const ComputeCeiling& ceiling) {
  return ceiling.contended ? FindingId::by_cpu_time : FindingId::by_wall_clock;
}

constexpr std::array<ConventionWords, 10> known_conventions{{
    {Convention::full, "full", "products of the architecture", "full"},
    {Convention::causal, "causal", "products of the architecture", "causal"},
    {Convention::palm, "palm", "6 N + 12 L H Q s", "full"},
    {Convention::narayanan, "narayanan", "96 L h^2 (1 + s/6h + V/16Lh)", "full"},
    {Convention::korthikanti, "korthikanti", "72 L h^2 (1 + s/6h + V/12Lh)", "full"},
    {Convention::six_nd, "6nd", "6 N", "none"},
    {Convention::torchtitan, "torchtitan", "6 (N - embedding) + 12 L H Q s", "full"},
    {Convention::llm_foundry, "llm-foundry", "6 N + 12 L h s", "full"},
    {Convention::megatron, "megatron", "products, V padded to 128, no windows", "causal"},
    {Convention::megatron_bridge, "megatron-bridge", "products, V padded to 128", "causal"},
}};

/// Two operations for each of `parameters`, the head apart where it is among them.
ForwardFlops by_parameters(double parameters, double head, double attention) {
  return {2.0 * (parameters - head), attention, 2.0 * head};
}

/// Datasheets round, and so do people.
constexpr double same_figure = 0.02;

/// Some publish active parameters with the input embedding, which can be a tenth of them.
double published_count(const TransformerModel& model) {
  const double counted = active_parameter_count(model);
  const double published = model.experts == 1 ? model.published_parameters
                                              : model.published_active_parameters.value_or(counted);
  return std::abs(published / counted - 1.0) < same_figure ? published : counted;
}

/// Without the router, which Megatron leaves out.
ForwardFlops by_megatron(TransformerModel model, std::int64_t sequence) {
  constexpr std::int64_t multiple = 128;  // --make-vocab-size-divisible-by, without tensor parallel
  model.vocabulary = (model.vocabulary + multiple - 1) / multiple * multiple;
  ForwardFlops forward = forward_flops(model, sequence, AttentionSpan::causal);
  model.layers += model.mtp_layers;
  forward.layers -= 2.0 * weights(model).router;
  return forward;
}

/// The tensor cores' peak, or the CUDA cores' of the formats that have no tensor cores.
const DatasheetPeak* sheet_peak(const GpuDatasheet& gpu, const std::string& format) {
  const std::string name = format == "fp8" ? "fp8_e4m3" : format;
  for (const auto* peaks : {&gpu.tensor, &gpu.cuda_cores}) {
    const auto found = peaks->find(name);
    if (found != peaks->end()) return &found->second;
  }
  return nullptr;
}

Denominator datasheet_peak(const GpuDatasheet& gpu, const std::string& format) {
  const DatasheetPeak* peak = sheet_peak(gpu, format);
  if (peak == nullptr) {
    throw UserError("{} has no peak in {}; its tensor cores multiply in {}",
                    gpu.name,
                    format,
                    listed(gpu.tensor, [](const auto& known) { return known.first; }));
  }
  return {peak->rate, datasheet_basis(format, *peak)};
}

bool same(FlopPerSecond left, FlopPerSecond right) {
  return std::abs(left / right - 1.0) < same_figure;
}

double tera(FlopPerSecond rate) {
  return rate.value() * 1e-12;
}

std::optional<Finding> sparse_remark(const GpuDatasheet& gpu,
                                     const std::string& format,
                                     FlopPerSecond dense,
                                     FlopPerSecond given) {
  if (!same(given, 2.0 * dense)) return std::nullopt;
  const auto dense_for = std::ranges::find_if(gpu.tensor, [&](const auto& known) {
    return known.first != "int8" && same(given, known.second.rate);
  });
  if (dense_for == gpu.tensor.end())
    return Finding(FindingId::sparse_peak, tera(given), format, tera(dense));
  return Finding(FindingId::sparse_peak_or, tera(given), format, tera(dense), dense_for->first);
}
}  // namespace

double model_flops_utilisation(Flops model_flops, Seconds step, FlopPerSecond peak) {
  require(step.value() > 0.0 && peak.value() > 0.0,
          "an MFU needs a step time and a peak above zero; give --peak in FLOP/s");
  return model_flops / step / peak;
}

std::optional<Denominator> measured_peak(const std::vector<ComputeCeiling>& ceilings, int ranks) {
  if (const ComputeCeiling* together = fastest_ceiling(ceilings, NumberFormat::fp32, ranks)) {
    return Denominator{
        together->ceiling().value,
        {FindingId::workers_at_once, word_of(together->isa), ranks, clock_of(*together)}};
  }
  if (const ComputeCeiling* single = fastest_ceiling(ceilings, NumberFormat::fp32, 1)) {
    return Denominator{
        single->ceiling().value * static_cast<double>(ranks),
        {FindingId::times_one_worker, ranks, word_of(single->isa), clock_of(*single)}};
  }
  return std::nullopt;
}

std::optional<Denominator> measured_peak(const std::vector<GpuResult>& gpus,
                                         std::string_view number_format,
                                         int ranks) {
  const auto format = from_key<NumberFormat>(number_format);
  const auto [product, ordinal] = format ? slowest_steady(gpus, *format) : SlowestProduct{};
  if (product == nullptr) return std::nullopt;
  const char* const name = word_of(*format);
  const auto& against = product->against;
  return Denominator{product->rate.value * static_cast<double>(ranks),
                     against ? Finding(FindingId::steady_products_of_peak,
                                       name,
                                       ordinal,
                                       against->fraction.value,
                                       against->basis)
                             : Finding(FindingId::steady_products, name, ordinal)};
}

std::span<const ConventionWords> conventions() {
  return known_conventions;
}

const ConventionWords& words_of(Convention convention) {
  return *std::ranges::find(known_conventions, convention, &ConventionWords::convention);
}

Convention parse_convention(std::string_view name) {
  std::vector<std::string> names;
  for (const ConventionWords& words : known_conventions) {
    if (words.name == name) return words.convention;
    names.emplace_back(words.name);
  }
  throw UserError("--convention {}: known are {}", name, fmt::join(names, ", "));
}

ForwardFlops forward_flops(Convention convention,
                           const TransformerModel& model,
                           std::int64_t sequence) {
  TransformerModel plain = model;  // formulas know neither windows nor multi-token prediction
  plain.window_layers = 0;
  if (convention == Convention::megatron) return by_megatron(plain, sequence);
  plain.mtp_layers = 0;
  const double parameters = active_parameter_count(model);
  const double attention = attention_flops(plain, sequence, AttentionSpan::full);
  switch (convention) {
    case Convention::full:
      return forward_flops(model, sequence, AttentionSpan::full);
    case Convention::narayanan:
    case Convention::korthikanti:
      return forward_flops(plain, sequence, AttentionSpan::full);
    case Convention::causal:
      return forward_flops(model, sequence, AttentionSpan::causal);
    case Convention::palm:
      return by_parameters(parameters, head_weight_count(model), attention);
    case Convention::six_nd:
      return by_parameters(published_count(model), head_weight_count(model), 0.0);
    case Convention::torchtitan: {
      const Weights part = weights(model);
      const double shared = model.tied_embeddings ? part.input_embedding : 0.0;
      return by_parameters(parameters - shared - part.positions, part.head, attention);
    }
    case Convention::llm_foundry:
      return by_parameters(parameters,
                           head_weight_count(model),
                           4.0 * static_cast<double>(model.layers) *
                               static_cast<double>(model.hidden) * static_cast<double>(sequence));
    case Convention::megatron:
    case Convention::megatron_bridge:
      break;
  }
  return by_megatron(model, sequence);
}

double model_flops(Convention convention, const TransformerModel& model, std::int64_t sequence) {
  return 3.0 * forward_flops(convention, model, sequence).total();
}

double hardware_flops(Convention convention,
                      const TransformerModel& model,
                      std::int64_t sequence,
                      Recomputation recomputation) {
  const ForwardFlops forward = forward_flops(convention, model, sequence);
  double again = 0.0;
  if (recomputation == Recomputation::full) {
    again = forward.layers + forward.attention;
    if (convention == Convention::llm_foundry) again += forward.head;
  }
  if (recomputation == Recomputation::selective) {
    again = convention == Convention::korthikanti ? forward.attention * 3.0 : forward.attention;
  }
  return 3.0 * forward.total() + again;
}

double quoted_flops(Convention convention, const TransformerModel& model, std::int64_t sequence) {
  return convention == Convention::narayanan
             ? hardware_flops(convention, model, sequence, Recomputation::full)
             : model_flops(convention, model, sequence);
}

Finding datasheet_basis(const std::string& number_format, const DatasheetPeak& peak) {
  if (!peak.clock_hz) return {FindingId::of_datasheet, number_format};
  return {FindingId::of_datasheet_at, number_format, *peak.clock_hz * 1e-6};
}

PeakChoice choose_peaks(const PeakRequest& request) {
  const bool has_bf16 = request.gpu == nullptr || request.gpu->tensor.contains("bf16");
  PeakChoice choice{lower_case(request.number_format), {}, {}};  // "BF16"
  std::string& format = choice.number_format;
  if (format.empty()) format = has_bf16 ? "bf16" : "fp16";
  if (request.given) choice.peaks.push_back({*request.given});
  if (request.gpu != nullptr) {
    const Denominator dense = datasheet_peak(*request.gpu, format);
    choice.peaks.push_back(dense);
    const bool few_bits = format.starts_with("fp8") || format == "mxfp8" || format.ends_with("fp4");
    if (few_bits && has_bf16) {
      choice.peaks.push_back(datasheet_peak(*request.gpu, "bf16"));
      choice.remarks.emplace_back(FindingId::no_agreed_peak, format);
    }
    if (request.given) {
      const auto remark = sparse_remark(*request.gpu, format, dense.rate, *request.given);
      if (remark) choice.remarks.push_back(*remark);
    }
  }
  require(!choice.peaks.empty(),
          "no GPU and no peak: give --gpu (scaleworth list --known) or --peak in TFLOP/s");
  return choice;
}

SlowestProduct slowest_steady(const std::vector<GpuResult>& gpus, NumberFormat precision) {
  SlowestProduct slowest;
  for (const GpuResult& gpu : gpus) {
    for (const GpuFormat& format : gpu.formats) {
      if (format.format.precision != precision || !format.steady) continue;
      const GpuGemm& product = *format.steady;
      if (slowest.product == nullptr || product.rate.value < slowest.product->rate.value) {
        slowest = {&product, gpu.identity.ordinal};
      }
    }
  }
  return slowest;
}
}  // namespace scaleworth::model
