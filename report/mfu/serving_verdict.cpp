// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_report.h"

#include <bit>
#include <cstdint>
#include <map>
#include <span>

namespace scaleworth::report {
namespace {

std::string rate_text(double tokens_per_s) {
  return format_number(
      number(tokens_per_s), Unit::tokens_per_second, scale_for(Unit::tokens_per_second, 1.0), 4);
}

bool reduced(const ServingQuestion& question) {
  const auto& group = question.server.group;
  return group.compute_efficiency < 1.0 || group.bandwidth_efficiency < 1.0;
}

bool at_the_roof(const ServingQuestion& question) {
  return !question.measured.any() && !reduced(question);
}

std::string no_batch(const ServingView& view) {
  const auto& memory = view.answer.memory;
  if (memory.available && *memory.available < memory.weights + memory.cache_per_request) {
    return fmt::format(
        "It does not fit: weights take {}, one request {}, of {}; {} such GPUs hold it.",
        format_quantity(number(memory.weights), Unit::bytes),
        format_quantity(number(memory.cache_per_request), Unit::bytes),
        format_quantity(number(*memory.available), Unit::bytes),
        std::bit_ceil(static_cast<std::uint64_t>(*memory.least_gpus)));
  }
  const auto& batches = view.answer.batches;
  const ServedBatch& quickest =
      *std::ranges::min_element(batches, {}, &ServedBatch::time_to_first_token);
  std::string least =
      fmt::format("the first token takes {} at least",
                  format_quantity(number(quickest.time_to_first_token), Unit::seconds));
  if (quickest.time_per_output_token)
    least += fmt::format(", each further one {}",
                         format_quantity(number(*quickest.time_per_output_token), Unit::seconds));
  if (memory.full_length_batch)
    least += fmt::format(", and memory holds a batch of {}", *memory.full_length_batch);
  return fmt::format("No batch passes every limit: {}; relax one.", least);
}

/// Against an API: yes where serving is cheaper even at the worst published part of the roof, no
/// where the API is cheaper even than the roof.
Answer answer_of(const ServingView& view, const ServedBatch& chosen) {
  if (!chosen.break_even) return Answer::yes;
  const double utilisation = view.answer.utilisation;
  if (utilisation <= *chosen.break_even) return Answer::no;
  const auto real = real_break_even(view, chosen);
  return !real || utilisation > real->high ? Answer::yes : Answer::unknown;
}

std::string headline(const ServingView& view, const ServedBatch& chosen) {
  const ServingGroup& group = view.question.server.group;
  std::string text = fmt::format(
      "Serve at batch {:g}{}: {} output tokens/s",
      chosen.batch,
      view.question.groups > 1 ? fmt::format(" in {} {}", groups_text(view.question), group.gpus)
                               : "",
      rate_text(chosen.output_tokens_per_s * view.question.groups));
  if (chosen.time_per_output_token) {
    text += fmt::format(", {} per token",
                        format_quantity(number(*chosen.time_per_output_token), Unit::seconds));
  }
  if (!chosen.cost) return text + ".";
  const bool full = view.answer.utilisation == 1.0;
  const auto& loaded = full ? chosen.cost : view.answer.loaded_cost;
  const Dollars whole = loaded->per_request * (1e6 / view.question.request.output);
  text += fmt::format(
      ", {} per million output tokens ({}, prompts included)",
      format_money(number(whole), view.options.currency),
      full ? "full load" : fmt::format("{} use", percent_text(view.answer.utilisation)));
  if (chosen.break_even) {
    const Answer cheaper = answer_of(view, chosen);
    return text + (cheaper == Answer::no    ? ": the API is cheaper."
                   : cheaper == Answer::yes ? ": cheaper than the API."
                                            : ": at this roof cheaper than the API.");
  }
  if (!at_the_roof(view.question)) return text + ".";
  const auto at = [&](double part) {
    return format_money(number(whole / part), view.options.currency);
  };
  return if_it_fits(text,
                    fmt::format("; published engines: {} to {}",
                                at(published_part_of_roof.high),
                                at(published_part_of_roof.low))) +
         ".";
}

/// What the figures are: a roof, a part of it, or a measurement.
std::string basis_line(const ServingView& view, const ServedBatch& chosen) {
  const ServingQuestion& question = view.question;
  if (question.measured.any()) {
    return fmt::format(
        "By your measurements: {} of the most that any server could do at this batch.",
        percent_text(chosen.output_tokens_per_s / chosen.ceiling_output_tokens_per_s));
  }
  if (reduced(question)) {
    return fmt::format("By {} of the peak and {} of the bandwidth, as you say.",
                       percent_text(question.server.group.compute_efficiency),
                       percent_text(question.server.group.bandwidth_efficiency));
  }
  return fmt::format(
      "Prompts and steps in turn, each at its roof, of which published maxima (TensorRT-LLM, 8B, "
      "70B) reach {:.0f} to {:.0f} %; perfectly mixed at most {} tokens/s, at batch {:g}{}.",
      100.0 * published_part_of_roof.low,
      100.0 * published_part_of_roof.high,
      rate_text(view.answer.ceiling_output_tokens_per_s * question.groups),
      view.answer.ceiling_batch,
      view.answer.memory.available ? " (what memory holds at the mean length)" : "");
}

/// Which tokens pay for the prompts.
std::string prompts_line(const ServingView& view, const ServedBatch& chosen) {
  if (!chosen.cost || !(view.answer.loaded_cost->per_million_output.value() > 0.0)) return "";
  return fmt::format(
      "Priced apart, a million input tokens cost {} and a million output tokens {}.",
      format_money(number(view.answer.loaded_cost->per_million_input), view.options.currency),
      format_money(number(view.answer.loaded_cost->per_million_output), view.options.currency));
}

std::string load_line(const ServingView& view) {
  const auto& load = view.question.load;
  if (view.answer.utilisation == 1.0) return "";
  return fmt::format(
      "Requests in {} of the hours, peaks of {:g} times the mean: {} of what is paid for serves.",
      percent_text(load.duty),
      load.burst,
      percent_text(view.answer.utilisation));
}

/// Where the figures are a roof.
std::string real_break_even_text(const ServingView& view, const ServedBatch& chosen) {
  const auto range = real_break_even(view, chosen);
  if (!range) return "";
  return fmt::format(". Real servers, at {:.0f} to {:.0f} % of the roof, break even at {} to {}",
                     100.0 * published_part_of_roof.low,
                     100.0 * published_part_of_roof.high,
                     percent_text(range->low),
                     percent_text(range->high));
}

std::string api_line(const ServingView& view, const ServedBatch& chosen) {
  if (!chosen.break_even) return "";
  const double needed = *chosen.break_even;
  if (needed > 1.0) {
    return fmt::format(
        "The API is cheaper at any load: even a full server costs {:.3g} times what it asks.",
        needed);
  }
  const bool cheaper = view.answer.utilisation > needed;
  return fmt::format("Break-even with the API at {} utilisation; yours is {}{}: {}{}{}.",
                     percent_text(needed),
                     percent_text(view.answer.utilisation),
                     view.answer.utilisation < 1.0
                         ? ""
                         : words_for(view.options.audience,
                                     ", for neither --duty nor --burst says otherwise",
                                     ", for nothing else is known of the load"),
                     cheaper ? "serving it yourself is cheaper" : "the API is cheaper",
                     at_the_roof(view.question) && cheaper ? " at the roof" : "",
                     real_break_even_text(view, chosen));
}

std::string ridge_line(const ServingView& view) {
  const ServingAnswer& answer = view.answer;
  if (!answer.weights_ridge_batch) return "";
  std::string text = fmt::format(
      "Ridge {:.0f} FLOP/B: a step is bound by compute from batch {:.0f} without caches",
      answer.ridge.value(),
      *answer.weights_ridge_batch);
  const double context = mean_context(view.question.request);
  return text +
         (answer.ridge_batch
              ? fmt::format(", from {:.0f} with {:g} tokens in each.", *answer.ridge_batch, context)
              : fmt::format(", and at no batch with {:g} tokens in each: reading a cache "
                            "takes longer than its products.",
                            context));
}

void add_exclusions(std::vector<std::string>& lines, const ServingAnswer& answer) {
  std::map<std::string, std::string> batches;
  for (const ServedBatch& one : answer.batches) {
    if (!one.excluded) continue;
    std::string& list = batches[word_of(*one.excluded)];
    list += fmt::format("{}{:g}", list.empty() ? "" : ", ", one.batch);
  }
  for (const auto& [reason, list] : batches) {
    lines.push_back(fmt::format("Excluded, {}: batch {}.", reason, list));
  }
}
}  // namespace

const char* basis_of_times(const ServingQuestion& question) {
  if (question.measured.any()) return "measured";
  return reduced(question) ? "efficiencies" : "roof";
}

std::optional<Interval<double>> real_break_even(const ServingView& view, const ServedBatch& batch) {
  if (!batch.break_even || !at_the_roof(view.question)) return std::nullopt;
  return Interval<double>{*batch.break_even / published_part_of_roof.high,
                          *batch.break_even / published_part_of_roof.low};
}

std::string groups_text(const ServingQuestion& question) {
  const int stages = question.server.group.stages;
  if (stages == 1) return fmt::format("{} groups of", question.groups);
  const int copies = question.groups / stages;
  return copies == 1 ? fmt::format("{} stages of", stages)
                     : fmt::format("{} copies of {} stages of", copies, stages);
}

std::string groups_line(const ServingView& view) {
  const ServingGroup& group = view.question.server.group;
  if (view.question.groups == 1) return "";
  if (group.stages > 1) {
    const GroupLink assumed = ServingGroup{}.network;
    const bool given = group.network.latency != assumed.latency ||
                       group.network.bus_bandwidth != assumed.bus_bandwidth;
    const int copies = view.question.groups / group.stages;
    return fmt::format(
        "{}{} pipeline stages, tensor parallelism over the {} GPUs of each; between stages each "
        "GPU "
        "sends at {:g} Gbit/s and {:g} us, {}. Rows are of one stage's share.",
        copies == 1 ? "" : fmt::format("{} copies, each of ", copies),
        group.stages,
        group.gpus,
        8e-9 * group.network.bus_bandwidth.value(),
        1e6 * group.network.latency.value(),
        given ? "as given"
              : words_for(view.options.audience,
                          "assumed unless --network-gb-per-s, --network-latency-us say it",
                          "assumed"));
  }
  return fmt::format(
      "{} copies of the model, each on {}{}: larger groups would serve less. Rows are of one copy.",
      view.question.groups,
      counted(static_cast<std::size_t>(group.gpus), "GPU"),
      words_for(view.options.audience, " (--domain)", ""));
}

/// What a batch gains: "25.4 times the output of batch 1 at 64".
std::string batching_line(const ServingView& view) {
  const auto& batches = view.answer.batches;
  if (batches.size() < 2 || batches.front().batch != 1.0) return "";
  const double first = batches.front().output_tokens_per_s;
  const auto gain = [=](const ServedBatch& one) {
    return fmt::format("{:.3g} times at {:g}", one.output_tokens_per_s / first, one.batch);
  };
  return "Output over that of batch 1: " + listed(std::span(batches).subspan(1), gain) + ".";
}

Verdict judge_serving(const ServingView& view) {
  const ServingAnswer& answer = view.answer;
  Verdict verdict;
  if (!answer.chosen) {
    verdict.answer = Answer::no;
    verdict.headline = no_batch(view);
    add_exclusions(verdict.lines, answer);
    return verdict;
  }
  const ServedBatch& chosen = answer.batches[*answer.chosen];
  verdict.answer = answer_of(view, chosen);
  verdict.headline = headline(view, chosen);
  verdict.lines = {groups_line(view),
                   basis_line(view, chosen),
                   prompts_line(view, chosen),
                   load_line(view),
                   api_line(view, chosen),
                   batching_line(view),
                   ridge_line(view)};
  add_exclusions(verdict.lines, answer);
  std::erase(verdict.lines, "");
  return verdict;
}
}  // namespace scaleworth::report
