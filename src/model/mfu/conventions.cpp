// SPDX-License-Identifier: Apache-2.0
#include "src/model/mfu/conventions.h"

#include "src/core/error.h"
#include "src/core/suggestion.h"
#include "src/model/transformer/weights.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::model {
namespace {

constexpr std::array<ConventionWords, 9> known{{
    {Convention::full, "full", "products of the architecture", "full"},
    {Convention::causal, "causal", "products of the architecture", "causal"},
    {Convention::palm, "palm", "6 N + 12 L H Q s", "full"},
    {Convention::narayanan, "narayanan", "96 L h^2 (1 + s/6h + V/16Lh)", "full"},
    {Convention::korthikanti, "korthikanti", "72 L h^2 (1 + s/6h + V/12Lh)", "full"},
    {Convention::six_nd, "6nd", "6 N", "none"},
    {Convention::torchtitan, "torchtitan", "6 (N - embedding) + 12 L H Q s", "full"},
    {Convention::llm_foundry, "llm-foundry", "6 N + 12 L h s", "full"},
    {Convention::megatron, "megatron", "products, V padded to 128", "causal"},
}};

double real(std::int64_t count) {
  return static_cast<double>(count);
}

/// 4 L H Q s: the formulas know no windows. Q is the mean of a key's and a value's size.
double attention_of_formula(TransformerModel model, std::int64_t sequence) {
  model.window_layers = 0;
  return attention_flops(model, sequence, AttentionSpan::full);
}

/// Two operations for each of `parameters`, the head apart where it is among them.
ForwardFlops by_parameters(double parameters, double head, double attention) {
  return {2.0 * (parameters - head), attention, 2.0 * head};
}

double published_count(const TransformerModel& model) {
  if (model.experts == 1) return model.published_parameters;
  return model.published_active_parameters.value_or(active_parameter_count(model));
}

ForwardFlops by_megatron(TransformerModel model, std::int64_t sequence) {
  constexpr std::int64_t multiple = 128;  // --make-vocab-size-divisible-by, without tensor parallel
  model.vocabulary = (model.vocabulary + multiple - 1) / multiple * multiple;
  model.window_layers = 0;
  return forward_flops(model, sequence, AttentionSpan::causal);
}

}  // namespace

std::span<const ConventionWords> conventions() {
  return known;
}

const ConventionWords& words_of(Convention convention) {
  return *std::ranges::find(known, convention, &ConventionWords::convention);
}

Convention parse_convention(std::string_view name) {
  std::vector<std::string> names;
  for (const ConventionWords& words : known) {
    if (words.name == name) return words.convention;
    names.emplace_back(words.name);
  }
  throw UserError(
      fmt::format("--convention {}: no such convention; {}", name, suggestion(name, names)));
}

ForwardFlops forward_flops(Convention convention,
                           const TransformerModel& model,
                           std::int64_t sequence) {
  const double parameters = active_parameter_count(model);
  const double attention = attention_of_formula(model, sequence);
  switch (convention) {
    case Convention::full:
    case Convention::narayanan:
    case Convention::korthikanti:
      return forward_flops(model, sequence, AttentionSpan::full);
    case Convention::causal:
      return forward_flops(model, sequence, AttentionSpan::causal);
    case Convention::palm:
      return by_parameters(parameters, head_weight_count(model), attention);
    case Convention::six_nd:
      return by_parameters(published_count(model), head_weight_count(model), 0.0);
    case Convention::torchtitan: {
      const Weights part = weights(model);
      return by_parameters(
          parameters - part.input_embedding - part.positions, part.head, attention);
    }
    case Convention::llm_foundry:
      return by_parameters(parameters,
                           head_weight_count(model),
                           4.0 * real(model.layers) * real(model.hidden) * real(sequence));
    case Convention::megatron:
      break;
  }
  return by_megatron(model, sequence);
}

double model_flops(Convention convention, const TransformerModel& model, std::int64_t sequence) {
  return training_flops(forward_flops(convention, model, sequence));
}

double hardware_flops(Convention convention,
                      const TransformerModel& model,
                      std::int64_t sequence,
                      Recomputation recomputation) {
  const ForwardFlops forward = forward_flops(convention, model, sequence);
  double again = recomputed_flops(forward, recomputation);
  if (convention == Convention::korthikanti && recomputation == Recomputation::selective) {
    again *= 3.0;
  }
  return training_flops(forward) + again;
}

double quoted_flops(Convention convention, const TransformerModel& model, std::int64_t sequence) {
  return convention == Convention::narayanan
             ? hardware_flops(convention, model, sequence, Recomputation::full)
             : model_flops(convention, model, sequence);
}

}  // namespace scaleworth::model
