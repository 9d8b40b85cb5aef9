// SPDX-License-Identifier: Apache-2.0
#include "report/run/run_report.h"
#include "report/words.h"
#include "src/model/gpu.h"

#include <array>
#include <map>

namespace scaleworth::report {
Column gpu_column() {
  return parameter("gpu", "GPU", Unit::count);
}

int gpu_ordinal(const model::GpuResult& gpu) {
  return gpu.identity.ordinal;
}

std::string shape_text(const model::GemmShape& shape) {
  const std::string text = fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
  return shape.batch == 1 ? text : fmt::format("{} x {}", text, shape.batch);
}

namespace {
using namespace model;

Table gpus_together_table(const std::optional<GpusTogether>& together) {
  const auto verdict = [](const GpuPace& pace) -> std::string {
    if (!pace.slow) return "normal";
    return "slow: " + (pace.cause.empty() ? "unexplained" : clauses(pace.cause));
  };
  const auto at = [](auto member) { return path(&GpuPace::conditions, member); };
  return make_table(
      "gpus_together",
      "All GPUs at once",
      together ? together->paces : std::vector<GpuPace>{},
      {{gpu_column(), &GpuPace::ordinal},
       {parameter("precision", "format"), [&](const GpuPace&) { return together->precision; }},
       {measure("together", "together", Unit::flop_per_second), &GpuPace::together},
       {measure("of_alone", "of alone", Unit::percent), &GpuPace::of_alone},
       {measure("of_others", "of the others", Unit::percent), &GpuPace::of_others},
       {measure("clock", "clock", Unit::hertz).with_digits(4), at(&GpuConditions::clock_hz)},
       {measure("power", "power", Unit::watts), at(&GpuConditions::power_w)},
       {measure("temperature", "heat", Unit::celsius), at(&GpuConditions::temperature_c)},
       {measure("verdict", "verdict"), verdict}});
}

using Launch = MeasuredAt<LaunchKind, Seconds>;
std::vector<FieldOf<Launch>> launch_fields() {
  return {{parameter("launch", "what"), &Launch::at, "kind"},
          {measure("time", "time", Unit::seconds), &Launch::value}};
}

/// What names a transfer; its ends name the GPU.
std::vector<FieldOf<GpuTransfer>> transfer_names() {
  return {{parameter("source", "from").in_summary("Transfers from"), &GpuTransfer::source},
          {parameter("target", "to").in_summary("to"), &GpuTransfer::target},
          {parameter("engine", "engine"), &GpuTransfer::engine},
          {parameter("both_directions", "both directions").in_summary("both directions"),
           &GpuTransfer::both_directions},
          {parameter("all_gpus_at_once", "all GPUs at once"), &GpuTransfer::together}};
}

std::vector<FieldOf<GpuTransfer>> transfer_figures() {
  return {
      {measure("rate", "rate", Unit::bytes_per_second).in_summary("rate"), &GpuTransfer::plateau},
      {measure("of_link", "of link", Unit::percent).in_summary("of link"), &GpuTransfer::of_link},
      {measure("link", "link").as_detail(), &GpuTransfer::link},
      {measure("alpha", "alpha", Unit::seconds).in_summary("latency"), &GpuTransfer::alpha},
      {measure("half_size", "half at", Unit::bytes).in_own_scale().in_summary("half of it at"),
       &GpuTransfer::half_size}};
}

/// By the copy engine while no other GPU does the same.
bool is_copied_alone(const GpuTransfer& transfer) {
  return !transfer.together && transfer.engine == TransferEngine::copy_engine;
}

/// From one place to another, without pageable memory.
bool is_one_way(const GpuTransfer& transfer) {
  const bool pageable = transfer.source.kind == TransferEnd::host_pageable ||
                        transfer.target.kind == TransferEnd::host_pageable;
  return !pageable && !transfer.both_directions && transfer.source != transfer.target &&
         is_copied_alone(transfer);
}

/// In the summary: those of the shown GPU with pinned memory of the host, and the slowest of all
/// GPUs from the host, to it and between GPUs.
Table gpu_transfer_table(const Gpus& gpus) {
  const auto rows = nested(gpus, &GpuResult::transfers);
  using Row = Nested<GpuResult, GpuTransfer>;
  Table table = make_table(
      "gpu_transfers",
      "Transfers: T(n) = alpha + n beta",
      rows,
      columns_of(transfer_figures(),
                 columns_of<Row>(transfer_names(), {{gpu_column().as_detail(), gpu_ordinal}})));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& [gpu, one] = rows[i].levels;
    const bool host = one->source == MemoryPlace{} || one->target == MemoryPlace{};
    table.rows[i].in_summary = gpu == shown_gpu(gpus) && host && is_copied_alone(*one);
  }
  std::map<std::pair<TransferEnd, TransferEnd>, std::size_t> slowest;  // by kinds of ends
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const GpuTransfer& one = *std::get<1>(rows[i].levels);
    if (!is_one_way(one)) continue;
    const auto found = slowest.try_emplace({one.source.kind, one.target.kind}, i).first;
    if (one.plateau.value < std::get<1>(rows[found->second].levels)->plateau.value)
      found->second = i;
  }
  for (const auto& [kinds, place] : slowest) table.rows[place].in_summary = true;
  return table;
}

/// "2 x NVIDIA H200 (figures of GPU 0), 132 multiprocessors, up to 1.980 GHz, limit 700 W, 141 GB;
/// shares are of 989.4 TFLOP/s (datasheet bf16, dense, at 1830 MHz)", for each model.
std::vector<std::string> model_lines(const Gpus& gpus) {
  std::map<std::string, int> counts;
  for (const GpuResult& gpu : gpus) ++counts[gpu.identity.name];
  std::vector<std::string> lines;
  for (const auto& [name, count] : counts) {
    const GpuResult& shown = *shown_gpu(gpus, name);
    const GpuIdentity& gpu = shown.identity;
    std::vector<std::string> parts{fmt::format("{} x {}", count, name.empty() ? "GPU" : name)};
    if (count > 1) parts.front() += fmt::format(" (figures of GPU {})", gpu.ordinal);
    if (gpu.multiprocessors)
      parts.push_back(fmt::format("{} multiprocessors", *gpu.multiprocessors));
    const auto add = [&](const char* what, const auto& value, Unit unit) {
      if (value) parts.push_back(what + format_quantity(number(*value), unit, 4));
    };
    add("up to ", gpu.maximum_clock_hz, Unit::hertz);
    add("limit ", gpu.power_limit_w, Unit::watts);
    add("", gpu.memory, Unit::bytes);
    lines.push_back(fmt::format("{}", fmt::join(parts, ", ")));
    const GpuFormat* format = leading_format(shown, &GpuFormat::steady);
    if (format == nullptr || !format->steady->against) continue;
    const AgainstPeak& against = *format->steady->against;
    lines.back() += fmt::format("; shares are of {} ({})",
                                format_quantity(against.peak, Unit::flop_per_second, 4),
                                said(against.basis));
  }
  return lines;
}

void put_identity(Fields& json, const GpuIdentity& one) {
  json.members("ordinal", one.ordinal, "name", one.name, "uuid", or_null(one.uuid));
  json.members("pci_device_id", one.pci_device_id, "multiprocessors", one.multiprocessors);
  json.members("memory_bytes", one.memory, "l2_bytes", one.l2_cache);
  json.members("maximum_clock_hz", one.maximum_clock_hz, "power_limit_w", one.power_limit_w);
  json("power_limit_default_w", one.default_power_limit_w);
  json.members("pcie_bytes_per_s", one.pcie_bandwidth, "mig", one.mig);
  json.object("datasheet", one.datasheet, [](Fields& of, const GpuDatasheet& sheet) {
    of.members("id", sheet.id, "name", sheet.name, "source", sheet.source, "date", sheet.date);
  });
}

}  // namespace

const GpuResult* shown_gpu(const Gpus& gpus, const std::optional<std::string>& name) {
  const auto figures = [](const GpuResult& gpu) {
    return gpu.formats.size() + gpu.roofline.memory_levels.size() +
           gpu.roofline.latency_levels.size() + (gpu.transfers.empty() ? 0 : 1);
  };
  const GpuResult* shown = nullptr;
  for (const GpuResult& gpu : gpus) {
    if (gpu.identity.name != name.value_or(gpus.front().identity.name)) continue;
    if (shown == nullptr || figures(gpu) > figures(*shown)) shown = &gpu;
  }
  return shown;
}

Section gpu_section(const Analysis& analysis) {
  const Gpus& gpus = analysis.gpus;
  std::vector<Table> tables{gpus_together_table(analysis.gpus_together)};
  const auto add = [&](const std::vector<Table>& more) {
    tables.insert(tables.end(), more.begin(), more.end());
  };
  add(gpu_product_tables(gpus));
  add(roofline_tables(mapped(gpus, [&](const GpuResult& gpu) {
    return RooflineOwner{gpu.identity.ordinal, &gpu.roofline, &gpu == shown_gpu(gpus)};
  })));
  using Sized = MeasuredAt<Bytes, BytesPerSecond>;
  using SizedRow = Nested<GpuResult, GpuTransfer, Sized>;
  std::vector<ColumnOf<SizedRow>> sized =
      columns_of<SizedRow>(transfer_names(), {{gpu_column().as_detail(), gpu_ordinal}});
  sized.insert(sized.end(),
               {{parameter("message_bytes", "size", Unit::bytes), &Sized::at},
                {measure("rate", "rate", Unit::bytes_per_second), &Sized::value}});
  add({gpu_transfer_table(gpus),
       gpu_table("gpu_launches", "Launches", nested(gpus, &GpuResult::launches), launch_fields()),
       all_detail(make_table("gpu_transfer_points",
                             "Transfers, every size",
                             nested(nested(gpus, &GpuResult::transfers), &GpuTransfer::points),
                             sized))});
  Section section =
      section_of(gpu_section_id, "GPUs: what each can do, and what it loses", std::move(tables));
  section.lead = model_lines(gpus);
  return section;
}

void put_gpu(Fields& json, const GpuResult& gpu) {
  json.object("identity", gpu.identity, put_identity);
  json.array("formats", gpu.formats, put_format);
  json.object("roofline", gpu.roofline, put_roofline);
  json.array("transfers", gpu.transfers, [](Fields& of, const GpuTransfer& one) {
    put_fields(of, one, transfer_names());
    put_fields(of, one, transfer_figures());
    of("beta_s_per_byte", one.beta);
    of.array("points", one.points, [](Fields& each, const auto& point) {
      each.members("bytes", point.at, "rate_bytes_per_s", point.value);
    });
  });
  put_array(json, "launches", gpu.launches, launch_fields());
  json("warnings", said(gpu.warnings));
}

void put_gpus_together(Fields& json, const GpusTogether& together) {
  json.members("precision", together.precision, "spread", together.spread);
  json("slowest", together.slowest);
  json.array("gpus", together.paces, [](Fields& of, const GpuPace& pace) {
    of.members("ordinal", pace.ordinal, "together_flop_per_s", pace.together);
    of.members("alone_flop_per_s", pace.alone, "of_alone", pace.of_alone);
    of("of_others", pace.of_others);
    of.object("conditions", pace.conditions, put_conditions);
    of("slow", pace.slow);
    of("cause", clauses(pace.cause), or_null);
  });
}
}  // namespace scaleworth::report
