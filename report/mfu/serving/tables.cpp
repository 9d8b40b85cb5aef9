// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/serving/serving_view.h"

#include <algorithm>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using inference::OperatingPoint;
using inference::Phase;
using inference::ServedBatch;

Column batch_parameter() {
  return {"batch", "batch", Role::parameter, Unit::count};
}

Column measure(const std::string& id, const std::string& header, Unit unit, int digits = 3) {
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
      "break-even: the utilisation above which the API is dearer; above 100 %, none.");
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

}  // namespace scaleworth::report
