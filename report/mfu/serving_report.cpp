// SPDX-License-Identifier: Apache-2.0
#include "report/charts/charts.h"
#include "report/mfu/mfu_report.h"

namespace scaleworth::report {
namespace {
constexpr std::size_t longest = 60;  // of a command that is repeated

std::string subtitle(const ServingView& view) {
  const auto& question = view.question;
  const auto& group = question.server.group;
  const auto& request = question.request;
  return fmt::format(
      "{} in {}, attention in {}, a cache in {}, on {}{} x {} ({}: {}{}; memory {}: {}{}){}; "
      "requests of {:g} tokens in{} and {:g} out",
      view.names.model,
      question.server.formats.weights,
      question.server.formats.activations,
      question.server.formats.cache,
      question.groups > 1 ? groups_text(question) + " " : "",
      group.gpus,
      view.names.gpu,
      format_quantity(number(group.peak), Unit::flop_per_second),
      said(view.names.peak_basis),
      group.attention_peak.value_or(group.peak) == group.peak
          ? ""
          : "; attention " + format_quantity(number(*group.attention_peak), Unit::flop_per_second),
      format_quantity(number(group.bandwidth), Unit::bytes_per_second),
      said(view.names.bandwidth_basis),
      group.memory ? fmt::format("; {:g} % of {} for weights and caches",
                                 100.0 * group.memory_part,
                                 format_quantity(number(*group.memory), Unit::bytes))
                   : "",
      group.gpus == 1 ? ""
      : group.link    ? ", all-reduces by " + said(view.names.link_basis)
                      : ", communication left out",
      request.prompt,
      request.cached > 0.0 ? fmt::format(" ({:g} % cached)", 100.0 * request.cached) : "",
      request.output);
}

std::vector<NextCommand> next_commands(const ServingView& view) {
  const std::string& typed = view.options.command;
  const bool short_enough = !typed.empty() && typed.size() <= longest;
  const std::string command = short_enough ? typed : "scaleworth mfu --inference ...";
  std::vector<NextCommand> next;
  if (!view.question.rate) {
    next.push_back({command + " --price USD_PER_GPU_HOUR", "what a million tokens cost"});
  } else if (!view.question.api) {
    next.push_back({command + " --api-price-in USD --api-price-out USD",
                    "from which utilisation on it is cheaper than an API"});
  }
  next.push_back({command + " --format html > report.html", "charts, in one file"});
  return next;
}

Column dollars(const std::string& id, const std::string& header) {
  return measure(id, header, Unit::dollars).with_decimals(4).if_present();
}

Table batches_table(const ServingView& view) {
  using Batch = ServedBatch;
  const ServingGroup& group = view.question.server.group;
  const std::vector<ColumnOf<Batch>> columns{
      {parameter("batch", "batch", Unit::count), &Batch::batch},
      {measure("step_s", "step", Unit::seconds), path(&Batch::step, &Phase::time)},
      {measure("time_per_output_token_s", "per token", Unit::seconds),
       &Batch::time_per_output_token},
      {measure("time_to_first_token_s", "first token", Unit::seconds), &Batch::time_to_first_token},
      {measure("output_tokens_per_s", "output", Unit::tokens_per_second).with_digits(4),
       &Batch::output_tokens_per_s},
      {measure("ceiling_output_tokens_per_s", "at most", Unit::tokens_per_second).with_digits(4),
       &Batch::ceiling_output_tokens_per_s},
      {measure("prompts_per_pass", "prompts per pass", Unit::count).as_detail(), &Batch::group},
      {measure("bound", "step bound by"), [](const Batch& one) { return word_of(one.step.bound); }},
      {measure("compute_used", "of peak", Unit::percent).with_decimals(1),
       [&](const Batch& one) {
         return group.compute_efficiency * (one.step.compute / one.step.time);
       }},
      {measure("bandwidth_used", "of memory", Unit::percent).with_decimals(1),
       [&](const Batch& one) {
         return group.bandwidth_efficiency * (one.step.memory / one.step.time);
       }},
      {dollars("per_million_input_tokens_usd", "per million input"),
       path(&Batch::cost, &TokenCost::per_million_input)},
      {dollars("per_million_output_tokens_usd", "per million output"),
       path(&Batch::cost, &TokenCost::per_million_output)},
      {measure("break_even_utilisation", "break-even", Unit::percent).if_present(),
       &Batch::break_even}};
  Table table = make_table("batches", "Each batch", view.answer.batches, columns);
  if (view.question.rate && view.question.api)
    table.notes.insert(
        table.notes.begin(),
        "break-even: the utilisation above which the API is more expensive; above 100 %, none.");
  if (!view.answer.chosen) return table;
  const std::size_t row = *view.answer.chosen;
  table.rows[row].chosen = true;
  table.tiles = {{row, "output_tokens_per_s", "Output", "requests at a time", "batch"},
                 {row, "time_per_output_token_s", "Time per output token", "as a client sees it"},
                 {row, "time_to_first_token_s", "First token", "without a queue"},
                 {row, "per_million_output_tokens_usd", "Million output tokens", "at full load"},
                 {row, "per_million_input_tokens_usd", "Million input tokens", "at full load"},
                 {row, "break_even_utilisation", "Break-even with the API", "utilisation"}};
  return table;
}

Table memory_table(const ServingView& view) {
  using Memory = ServingMemory;
  const auto bytes = [](const char* id, const char* header) {
    return measure(id, header, Unit::bytes).in_own_scale();
  };
  std::vector<std::string> notes;
  const auto& server = view.question.server;
  if (server.group.gpus > server.model.cache_shards) {
    notes.push_back(fmt::format(
        "Caches divide among all GPUs; plain tensor parallelism keeps them {:g} times.",
        static_cast<double>(server.group.gpus) / static_cast<double>(server.model.cache_shards)));
  }
  const std::vector<ColumnOf<Memory>> columns{
      {bytes("weights_bytes", "weights"), &Memory::weights},
      {bytes("read_per_token_bytes", "of one token"),
       [&](const Memory&) { return view.answer.read_per_token; }},
      {bytes("cache_per_token_bytes", "cache of a token"), &Memory::cache_per_token},
      {bytes("cache_per_request_bytes", "of a request"), &Memory::cache_per_request},
      {bytes("available_bytes", "available"), &Memory::available},
      {measure("full_length_batch", "requests at full length", Unit::count),
       &Memory::full_length_batch},
      {measure("mean_length_batch", "at mean length", Unit::count), &Memory::mean_length_batch}};
  return make_table<Memory>(
      "memory", "Memory of the group", {view.answer.memory}, columns, std::move(notes));
}

using Series = std::pair<std::string, std::function<double(const ServedBatch&)>>;

/// One line per series against the batch.
Json lines_of(const ServingView& view, const std::vector<Series>& lines, const std::string& y) {
  std::vector<Json> rows;
  for (const auto& [name, value] : lines) {
    for (const ServedBatch& one : view.answer.batches) {
      rows.push_back({{"series", name}, {"x", one.batch}, {"value", json_value(value(one))}});
    }
  }
  return line_data(std::move(rows), "batch", y);
}

std::vector<Chart> serving_charts(const ServingView& view) {
  Chart rate{"throughput",
             "batches",
             "Output tokens per second against the batch",
             reading_note("chart throughput")};
  rate.data = lines_of(view,
                       {{"prompts and steps in turn", &ServedBatch::output_tokens_per_s},
                        {"at most", &ServedBatch::ceiling_output_tokens_per_s}},
                       "output tokens/s");
  Chart cost{"cost",
             "batches",
             "Cost of a million output tokens against the batch",
             "At full load; divide by the utilisation for the load there is."};
  if (view.question.rate) {
    const auto of = [](const ServedBatch& one) { return one.cost->per_million_output.value(); };
    cost.data = lines_of(
        view, {{"at full load", of}}, view.options.currency + " per million output tokens");
    // A batch of one costs a hundred times that of the largest.
    cost.data["log"] = true;
  } else {
    cost.missing = fmt::format("No costs: what is needed is a price in {} per GPU and hour.",
                               view.options.currency);
  }
  return {rate, cost};
}

Document compose_serving(const ServingView& view) {
  return {.title = document_title(view.options.tool_version, "what do its tokens cost?"),
          .subject = view.names.model,
          .subtitle = subtitle(view),
          .intervals = false,
          .verdict = judge_serving(view),
          .sections = with_content({section_of("batches", "Batches", {batches_table(view)}),
                                    section_of("memory", "Memory", {memory_table(view)}),
                                    {"remarks", "Remarks", {}, sentences(view.names.remarks), {}}}),
          .next = next_commands(view)};
}
}  // namespace

std::string render_serving(const ServingView& view) {
  return render_view(view, compose_serving, serving_charts);
}
}  // namespace scaleworth::report
