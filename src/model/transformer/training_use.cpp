// SPDX-License-Identifier: Apache-2.0
#include "src/model/transformer/utilisation.h"

#include <array>
#include <cmath>

namespace scaleworth::model {
namespace {
constexpr double noticeable = 0.01;
/// A sequence longer than any that is trained on would only overflow.
constexpr std::int64_t longest_sequence = std::int64_t{1} << 30;

void require_positive(double value, const char* what) {
  if (!(value > 0.0) || !std::isfinite(value)) {
    throw UserError("{} must be a positive number", what);
  }
}

std::int64_t sequence_of(const TrainingRun& run) {
  const std::int64_t sequence = run.sequence == 0 ? run.model.sequence : run.sequence;
  if (sequence < 1 || sequence > longest_sequence) {
    throw UserError("a sequence has 1 to {} tokens", longest_sequence);
  }
  if (run.model.positions > 0 && sequence > run.model.positions) {
    throw UserError("a sequence of {} tokens: {} has embeddings for {} positions",
                    sequence,
                    run.model.id,
                    run.model.positions);
  }
  return sequence;
}

void check(const TrainingRun& run) {
  require_positive(static_cast<double>(run.gpus), "the number of GPUs");
  if (run.stated_rate)
    require_positive(run.stated_rate->value(), "TFLOP/s per GPU");
  else
    require_positive(run.tokens_per_second, "tokens per second");
  require(!run.peaks.empty(), "no peak to hold the run against; give --peak");
  for (const Denominator& peak : run.peaks) require_positive(peak.rate.value(), "a peak");
  if (run.price) require_positive(run.price->value(), "the price");
  if (run.tokens) require_positive(*run.tokens, "the number of tokens to train on");
}

Campaign campaign_of(const TrainingRun& run, double tokens) {
  const Seconds time(tokens / run.tokens_per_second);
  const double gpus = static_cast<double>(run.gpus);
  Campaign campaign{tokens, time, time.value() * gpus / seconds_per_hour, {}};
  if (run.price) campaign.cost = *run.price * time * gpus;
  return campaign;
}

void add_remarks(const TrainingRun& run, TrainingUse& use) {
  const Utilisation& first = use.against.front();
  if (std::max(first.mfu, first.hfu) > 1.0) {
    const double causal = model_flops(Convention::causal, run.model, use.sequence);
    use.above_peak = causal * use.tokens_per_second_per_gpu / first.peak.rate.value();
    use.remarks.emplace_back(FindingId::more_than_peak, *use.above_peak);
  }
  if (use.sequence > run.model.sequence)
    use.remarks.emplace_back(
        FindingId::other_sequence, run.model.id, run.model.sequence, use.sequence);
  if (run.model.window > 0 && use.sequence > run.model.window)
    use.remarks.emplace_back(
        FindingId::windows_counted, run.model.window_layers, run.model.layers, run.model.window);
  if (run.model.mtp_layers > 0) use.remarks.emplace_back(FindingId::multi_token_counted);
  if (run.model.relative_positions) use.remarks.emplace_back(FindingId::relative_positions_left);
  if (run.convention == Convention::narayanan && run.recomputation != Recomputation::full)
    use.remarks.emplace_back(FindingId::narayanan_recomputes);
}

// Bytes of the states of one parameter: weights, gradients and optimizer; those that the GPUs share
// by ZeRO stage.
constexpr double all_states = 2.0 + 2.0 + 12.0;
constexpr std::array shared_states{0.0, 12.0, 12.0 + 2.0, all_states};

/// Of one token in all layers, and of its logits.
double kept_bytes(const TransformerModel& model,
                  std::int64_t sequence,
                  Recomputation recomputation) {
  const auto hidden = static_cast<double>(model.hidden);
  const double queries = static_cast<double>(model.heads * model.head_size);
  const double keys = static_cast<double>(model.kv_heads * model.head_size);
  const double width = static_cast<double>(
      model.ffn * (model.experts > 1 ? model.active_experts + model.shared_experts : 1));
  const double scores = 5.0 * static_cast<double>(model.heads * sequence);
  const double layer =
      10.0 * hidden + 4.0 * queries + 4.0 * keys + (model.gated ? 6.0 : 4.0) * width;
  const double kept = recomputation == Recomputation::none        ? layer + scores
                      : recomputation == Recomputation::selective ? layer
                                                                  : 2.0 * hidden;
  return static_cast<double>(model.layers) * kept + 4.0 * hidden +
         4.0 * static_cast<double>(model.vocabulary) +
         (recomputation == Recomputation::full ? layer : 0.0);
}
}  // namespace

TrainingUse use_of_training(const TrainingRun& run) {
  check(run);
  TrainingUse use;
  if (run.stated_rate) {
    use.model_rate = use.hardware_rate = *run.stated_rate;
    for (const Denominator& peak : run.peaks) {
      const double part = *run.stated_rate / peak.rate;
      use.against.push_back({peak, part, part});
    }
    if (run.tokens_per_second > 0.0) {
      use.tokens_per_second_per_gpu = run.tokens_per_second / static_cast<double>(run.gpus);
      use.million = campaign_of(run, 1e6);
      if (run.tokens) use.campaign = campaign_of(run, *run.tokens);
    }
    return use;
  }
  use.sequence = sequence_of(run);
  use.recomputation =
      run.convention == Convention::narayanan ? Recomputation::full : run.recomputation;
  use.forward = forward_flops(run.convention, run.model, use.sequence);
  use.model_flops = Flops(model_flops(run.convention, run.model, use.sequence));
  use.hardware_flops =
      Flops(hardware_flops(run.convention, run.model, use.sequence, use.recomputation));
  const double gpus = static_cast<double>(run.gpus);
  use.tokens_per_second_per_gpu = run.tokens_per_second / gpus;
  const Seconds per_token(1.0 / use.tokens_per_second_per_gpu);
  use.model_rate = use.model_flops / per_token;
  use.hardware_rate = use.hardware_flops / per_token;
  for (const Denominator& peak : run.peaks) {
    use.against.push_back({peak,
                           model_flops_utilisation(use.model_flops, per_token, peak.rate),
                           model_flops_utilisation(use.hardware_flops, per_token, peak.rate)});
  }
  const double chosen = quoted_flops(run.convention, run.model, use.sequence);
  for (const ConventionWords& words : conventions()) {
    const double quoted = quoted_flops(words.convention, run.model, use.sequence);
    const double ratio = quoted / chosen;
    const FlopPerSecond rate(quoted * use.tokens_per_second_per_gpu);
    use.conventions.push_back({words.convention, quoted, ratio, rate / run.peaks.front().rate});
    if (std::abs(ratio - 1.0) > noticeable) use.conventions_differ = true;
  }
  use.million = campaign_of(run, 1e6);
  if (run.tokens) use.campaign = campaign_of(run, *run.tokens);
  add_remarks(run, use);
  return use;
}

MemoryAnswer training_memory(const MemoryQuestion& question) {
  MemoryAnswer answer;
  answer.sequence = question.sequence > 0 ? question.sequence : question.model.sequence;
  answer.parameters = question.parameters ? *question.parameters : parameter_count(question.model);
  require_positive(answer.parameters, "the number of parameters");
  require_positive(static_cast<double>(question.gpus), "the number of GPUs");
  answer.usable = question.memory * usable_memory;
  const auto tokens = static_cast<double>(answer.sequence);
  for (const auto recomputation :
       {Recomputation::none, Recomputation::selective, Recomputation::full}) {
    if (question.parameters && recomputation != Recomputation::full) continue;
    const Bytes activations(
        question.parameters ? 0.0
                            : tokens * kept_bytes(question.model, answer.sequence, recomputation));
    for (std::size_t zero = 0; zero < shared_states.size(); ++zero) {
      const double shared = answer.parameters * shared_states[zero];
      const double held = answer.parameters * all_states - shared;
      MemoryNeed need{static_cast<int>(zero), recomputation, {}, activations, {}, {}};
      need.states = Bytes(held + shared / static_cast<double>(question.gpus));
      need.fits = need.total() <= answer.usable;
      if (const double left = (answer.usable - activations).value() - held; left > 0.0)
        need.smallest =
            std::max<std::int64_t>(1, saturated<std::int64_t>(std::ceil(shared / left)));
      answer.needs.push_back(need);
    }
  }
  const MemoryNeed& least = answer.needs.back();  // all is divided and recomputed
  for (const int ranks : {8, 4, 2})
    if (!least.fits && question.gpus % ranks == 0 && question.model.heads % ranks == 0 &&
        least.states + least.activations / ranks <= answer.usable)
      answer.tensor = ranks;
  return answer;
}
}  // namespace scaleworth::model
