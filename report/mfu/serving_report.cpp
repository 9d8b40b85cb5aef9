// SPDX-License-Identifier: Apache-2.0
#include "report/charts/chart_grammar.h"
#include "report/document.h"
#include "report/mfu/mfu_report.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace scaleworth::report {
std::string render_serving(const inference::ServingQuestion& question,
                           const inference::ServingAnswer& answer,
                           const ServingNames& names,
                           const RenderOptions& options) {
  const ServingView asked{question, answer, names, options.details, options.currency};
  const ServingView whole{question, answer, names, true, options.currency};
  return render_document({[&] { return compose_serving(asked); },
                          [&] { return compose_serving(whole); },
                          [&] { return serving_json(whole); },
                          [&] { return serving_charts(whole); },
                          {"batch", "phase", "part"}},
                         options);
}

namespace {
constexpr std::size_t longest = 60;  // of a command that is repeated

std::string subtitle(const ServingView& view) {
  const auto& question = view.question;
  const auto& group = question.server.group;
  const auto& request = question.request;
  return fmt::format(
      "{} in {} with a cache in {}, on {} x {} ({}: {}; memory {}: {}{}){}; requests of {:g} "
      "tokens "
      "in{} and {:g} out",
      view.names.model,
      question.server.formats.weights,
      question.server.formats.cache,
      group.gpus,
      view.names.gpu,
      format_quantity(number(group.peak), Unit::flop_per_second),
      view.names.peak_basis,
      format_quantity(number(group.bandwidth), Unit::bytes_per_second),
      view.names.bandwidth_basis,
      group.memory_part < 1.0 ? fmt::format(", {:g} % of it used", 100.0 * group.memory_part) : "",
      group.gpus == 1 ? ""
      : group.link    ? ", all-reduces by your alpha and beta"
                      : ", communication left out",
      request.prompt,
      request.cached > 0.0 ? fmt::format(" ({:g} % cached)", 100.0 * request.cached) : "",
      request.output);
}

std::vector<NextCommand> next_commands(const ServingView& view) {
  const bool short_enough = !view.names.command.empty() && view.names.command.size() <= longest;
  const std::string command = short_enough ? view.names.command : "scaleworth mfu --inference ...";
  std::vector<NextCommand> next;
  if (!view.question.rate) {
    next.push_back({command + " --price USD_PER_GPU_HOUR", "what a million tokens cost"});
  } else if (!view.question.api) {
    next.push_back({command + " --api-price-in USD --api-price-out USD",
                    "from which utilisation on it is cheaper than an API"});
  }
  if (!view.details) next.push_back({command + " --details", "parts of each phase and memory"});
  next.push_back({command + " --format html > report.html", "charts, in one file"});
  return next;
}
}  // namespace

Document compose_serving(const ServingView& view) {
  Document document;
  document.title = document_title(view.names.tool_version, "what do its tokens cost?");
  document.subtitle = subtitle(view);
  document.intervals = false;
  document.verdict = judge_serving(view);
  Section batches{"batches", "Batches", {}, {}, {batches_table(view)}};
  document.sections.push_back(batches);
  document.sections.push_back({"memory", "Memory", {}, {}, {serving_memory_table(view)}});
  if (view.details) {
    document.sections.push_back({"phases", "Phases", {}, {}, {phases_table(view)}});
  }
  if (!view.names.remarks.empty()) {
    document.sections.push_back({"remarks", "Remarks", {}, view.names.remarks, {}});
  }
  document.next = next_commands(view);
  return document;
}

namespace {
using inference::OperatingPoint;
using inference::Phase;
using inference::ServedBatch;

Column batch_parameter() {
  return {"batch", "batch", Role::parameter, Unit::count};
}

Column measure(const std::string& id, const std::string& header, Unit unit, int digits) {
  Column column{id, header, Role::measure, unit};
  column.digits = digits;
  return column;
}

Column dollars(const std::string& id, const std::string& header) {
  Column column = measure(id, header, Unit::dollars);
  column.decimals = 4;
  return column;
}

void append(Table& table,
            const ServingView& view,
            Column column,
            Cell (*cell)(const ServedBatch& one)) {
  table.columns.push_back(std::move(column));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].cells.push_back(cell(view.answer.batches[i]));
  }
}

void append_money(Table& table, const ServingView& view) {
  append(table,
         view,
         dollars("per_million_input_tokens_usd", "10^6 input"),
         [](const ServedBatch& one) { return Cell{number(one.cost->per_million_input)}; });
  append(table,
         view,
         dollars("per_million_output_tokens_usd", "10^6 output"),
         [](const ServedBatch& one) { return Cell{number(one.cost->per_million_output)}; });
  if (!view.question.api) return;
  append(table,
         view,
         measure("break_even_utilisation", "break-even", Unit::percent),
         [](const ServedBatch& one) { return cell_or_absent(one.break_even); });
  table.notes.push_back(
      "break-even: the utilisation above which the API is more expensive; above 100 %, none.");
}

/// Names and figures of one part of a phase.
Row part_row(double batch,
             const char* phase,
             const char* part,
             const inference::PhaseWork& work,
             const Phase& of) {
  const double whole_flops = (of.products.flops + of.attention.flops).value();
  const double whole_bytes = (of.products.bytes + of.attention.bytes).value();
  return {{number(batch),
           std::string(phase),
           std::string(part),
           number(work.flops.value() * 1e-9),
           number(work.bytes),
           number(of.compute * (work.flops.value() / whole_flops)),
           number(of.memory * (work.bytes.value() / whole_bytes))}};
}

void add_phase(Table& table, double batch, const char* name, const Phase& phase) {
  table.rows.push_back(part_row(batch, name, "products", phase.products, phase));
  table.rows.push_back(part_row(batch, name, "attention", phase.attention, phase));
  if (phase.communication.value() > 0.0) {
    table.rows.push_back({{number(batch),
                           std::string(name),
                           std::string("all-reduces"),
                           Cell{},
                           Cell{},
                           Cell{},
                           number(phase.communication)}});
  }
}
}  // namespace

Table batches_table(const ServingView& view) {
  Table table{"batches", "Each batch", {batch_parameter()}};
  for (const ServedBatch& one : view.answer.batches) {
    table.rows.push_back({{number(one.point.batch)}});
  }
  append(table, view, measure("step_s", "step", Unit::seconds), [](const ServedBatch& one) {
    return Cell{number(one.point.step.time)};
  });
  append(table,
         view,
         measure("time_per_output_token_s", "per token", Unit::seconds),
         [](const ServedBatch& one) { return cell_or_absent(one.point.time_per_output_token); });
  append(table,
         view,
         measure("time_to_first_token_s", "first token", Unit::seconds),
         [](const ServedBatch& one) { return Cell{number(one.point.time_to_first_token)}; });
  append(table,
         view,
         measure("output_tokens_per_s", "output", Unit::tokens_per_second, 4),
         [](const ServedBatch& one) { return Cell{number(one.point.output_tokens_per_s)}; });
  append(
      table,
      view,
      measure("ceiling_output_tokens_per_s", "at most", Unit::tokens_per_second, 4),
      [](const ServedBatch& one) { return Cell{number(one.point.ceiling_output_tokens_per_s)}; });
  Column group = measure("prompts_per_pass", "prompts per pass", Unit::count);
  group.detail = true;
  append(table, view, group, [](const ServedBatch& one) { return Cell{number(one.point.group)}; });
  append(table, view, measure("bound", "step bound by", Unit::plain), [](const ServedBatch& one) {
    return Cell{std::string(inference::phase_bound_name(one.point.step.bound))};
  });
  if (view.question.rate) append_money(table, view);
  table.notes.push_back(
      "step: one decode step at the mean context. per token: as a client sees it, with the prompts "
      "of "
      "others in between. at most: prompts mixed into steps so that all FLOPs overlap with all "
      "bytes.");
  table.notes.push_back(
      "One token per step (no speculative decoding); requests alike, no queue before the first "
      "token; prompts go in groups, of as many as make their pass bound by compute.");
  return table;
}

Table phases_table(const ServingView& view) {
  Table table{"phases",
              "What prompts and steps are made of",
              {batch_parameter(),
               {"phase", "phase", Role::parameter},
               {"part", "part", Role::parameter},
               measure("gflop", "GFLOP", Unit::plain),
               measure("bytes", "reads", Unit::bytes),
               measure("compute_s", "computing", Unit::seconds),
               measure("memory_s", "reading or moving", Unit::seconds)}};
  table.columns[3].digits = 4;
  table.columns[4].own_scale = true;
  for (std::size_t i = 5; i < table.columns.size(); ++i) table.columns[i].own_scale = true;
  double group = 0.0;
  for (const ServedBatch& one : view.answer.batches) {
    if (one.point.group != group) add_phase(table, one.point.batch, "prompts", one.point.prefill);
    group = one.point.group;
    add_phase(table, one.point.batch, "step", one.point.step);
  }
  return table;
}

Table serving_memory_table(const ServingView& view) {
  const auto& memory = view.answer.memory;
  Table table{"memory",
              "Memory of the group",
              {measure("weights_bytes", "weights", Unit::bytes),
               measure("read_per_token_bytes", "of one token", Unit::bytes),
               measure("cache_per_token_bytes", "cache of a token", Unit::bytes),
               measure("cache_per_request_bytes", "of a request", Unit::bytes),
               measure("available_bytes", "available", Unit::bytes),
               measure("full_length_batch", "requests at full length", Unit::count),
               measure("mean_length_batch", "at mean length", Unit::count)}};
  for (std::size_t i = 0; i < 5; ++i) table.columns[i].own_scale = true;
  const auto count = [](const std::optional<std::int64_t>& batch) {
    return batch ? Cell{number(static_cast<double>(*batch))} : Cell{};
  };
  table.rows.push_back({{number(memory.weights),
                         number(view.answer.read_per_token),
                         number(memory.cache_per_token),
                         number(memory.cache_per_request),
                         memory.available ? Cell{number(*memory.available)} : Cell{},
                         count(memory.full_length_batch),
                         count(memory.mean_length_batch)}});
  const auto& server = view.question.server;
  if (server.group.gpus > server.model.cache_shards) {
    table.notes.push_back(fmt::format(
        "Caches divide among all GPUs here, as data-parallel attention does; plain tensor "
        "parallelism keeps them {:g} times.",
        static_cast<double>(server.group.gpus) / static_cast<double>(server.model.cache_shards)));
  }
  table.notes.push_back(
      "at full length: every request may grow to its end; at mean length: a paged cache, requests "
      "of "
      "all ages.");
  return table;
}

namespace {
constexpr int height = 300;

struct Series {
  std::string name;
  double (*value)(const inference::ServedBatch&);
};

/// One line per series against the batch; the value's axis is left to `chart`.
Json lines_spec(const ServingView& view, const std::vector<Series>& lines) {
  std::vector<Json> rows;
  std::vector<std::string> names;
  for (const Series& one : lines) {
    names.push_back(one.name);
    for (const auto& served : view.answer.batches) {
      rows.push_back(
          {{"batch", served.point.batch}, {"value", one.value(served)}, {"series", one.name}});
    }
  }
  Json spec = chart_spec(height);
  spec["data"] = inline_data(std::move(rows));
  spec["mark"] = {{"type", "line"}, {"point", true}};
  spec["encoding"] = {
      {"x", doubling_channel("batch", "batch")},
      {"color", colour_channel("series", "", names, series_colours)},
      {"tooltip",
       {tooltip("series", "which"), tooltip("batch", "batch"), tooltip("value", "value", ".4g")}}};
  return spec;
}

double cost_of(const inference::ServedBatch& one) {
  return one.cost->per_million_output.value();
}

/// Decades around the costs, for a batch of one costs a hundred times that of the largest.
Json cost_spec(const ServingView& view) {
  Json spec = lines_spec(view, {{"at full load", cost_of}});
  double low = cost_of(view.answer.batches.front());
  double high = low;
  for (const auto& one : view.answer.batches) {
    low = std::min(low, cost_of(one));
    high = std::max(high, cost_of(one));
  }
  constexpr double room = 1.2;
  spec["encoding"]["y"] =
      low > 0.0 ? log_channel("value", "USD per million output tokens", low / room, high * room)
                : linear_channel("value", "USD per million output tokens");
  return spec;
}
}  // namespace

std::vector<Chart> serving_charts(const ServingView& view) {
  Chart rate{"throughput",
             "batches",
             "Output tokens per second against the batch",
             "Where the line bends, a larger batch mostly makes each request slower. At most: what "
             "no server exceeds at the batch.",
             nullptr,
             ""};
  rate.spec = lines_spec(
      view,
      {{"prompts and steps in turn",
        [](const inference::ServedBatch& one) { return one.point.output_tokens_per_s; }},
       {"at most",
        [](const inference::ServedBatch& one) { return one.point.ceiling_output_tokens_per_s; }}});
  rate.spec["encoding"]["y"] = linear_channel("value", "output tokens/s");
  Chart cost{"cost",
             "batches",
             "Cost of a million output tokens against the batch",
             "At full load; divide by the utilisation for the load there is.",
             nullptr,
             ""};
  if (view.question.rate) {
    cost.spec = cost_spec(view);
  } else {
    cost.missing = "No costs: give --price in USD per GPU and hour.";
  }
  return {rate, cost};
}
}  // namespace scaleworth::report
