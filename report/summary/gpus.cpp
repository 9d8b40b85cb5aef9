// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/sections/sections.h"
#include "report/summary/parts.h"
#include "src/model/gpu/gemm/products.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

using model::GpuFormat;
using model::GpuResult;
using model::GpuTransfer;

/// The GPU of one model that was measured most, and how many there are of it.
struct Kind {
  const GpuResult* told = nullptr;
  int count = 0;
};

std::size_t figures(const GpuResult& gpu) {
  return gpu.formats.size() + gpu.memory_levels.size() + gpu.latency_levels.size() +
         gpu.transfers.size();
}

std::vector<Kind> kinds_of(const std::vector<GpuResult>& gpus) {
  std::vector<Kind> kinds;
  for (const GpuResult& gpu : gpus) {
    const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& kind) {
      return kind.told->identity.name == gpu.identity.name;
    });
    if (known == kinds.end()) {
      kinds.push_back({&gpu, 1});
      continue;
    }
    ++known->count;
    if (figures(gpu) > figures(*known->told)) {
      known->told = &gpu;
    }
  }
  return kinds;
}

/// "2 x NVIDIA H200, told by GPU 0: 132 multiprocessors, up to 1.980 GHz, 700 W, 141 GB".
std::string kind_line(const Kind& kind) {
  const auto& gpu = kind.told->identity;
  std::string line = fmt::format("{} x {}", kind.count, gpu.name.empty() ? "GPU" : gpu.name);
  if (kind.count > 1) {
    line += fmt::format(" (figures of GPU {})", gpu.ordinal);
  }
  if (gpu.multiprocessors) {
    line += fmt::format(", {} multiprocessors", *gpu.multiprocessors);
  }
  if (gpu.maximum_clock_hz) {
    line += ", up to " + format_quantity(number(*gpu.maximum_clock_hz), Unit::hertz, 4);
  }
  if (gpu.power_limit_w) {
    line += ", limit " + format_quantity(number(*gpu.power_limit_w), Unit::watts);
  }
  if (gpu.memory) {
    line += ", " + format_quantity(number(*gpu.memory), Unit::bytes);
  }
  return line;
}

std::string peak_note(const GpuResult& gpu) {
  std::string note;
  if (!gpu.identity.datasheet) {
    note = "No datasheet of this GPU is known: give its dense bf16 peak with --peak.";
  }
  for (const GpuFormat& format : gpu.formats) {
    if (!format.steady || !format.steady->against) {
      continue;
    }
    const auto& against = *format.steady->against;
    note = fmt::format(
        "Steady: products gap-free at a settled clock; best shape: with pauses. Shares are of "
        "steady: of the {} ({}{}) and of what the clock allowed.",
        against.basis == "--peak" ? "peak given" : "dense datasheet peak",
        format.precision + " " + format_quantity(number(against.peak), Unit::flop_per_second, 4),
        against.clock_hz ? " at " + format_quantity(number(*against.clock_hz), Unit::hertz, 4)
                         : "");
    if (format.precision == "bf16") {
      break;
    }
  }
  return note;
}

Table products(const GpuResult& gpu) {
  Table table{"gpu_products",
              "",
              {parameter("precision", fmt::format("GPU {}", gpu.identity.ordinal)),
               measure("steady", "steady", Unit::flop_per_second),
               measure("best", "best shape", Unit::flop_per_second),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("at_clock", "at its clock", Unit::percent),
               measure("clock", "clock", Unit::hertz),
               measure("power", "power", Unit::watts),
               measure("energy", "energy", Unit::flop_per_joule)},
              {},
              {}};
  table.columns[5].digits = 4;
  for (const GpuFormat& format : gpu.formats) {
    const auto& steady = format.steady;
    const auto& best = format.best_shape;
    const bool against = steady && steady->against;
    table.rows.push_back({{model::format_text(format.precision, format.fast_accumulation),
                           steady ? Cell{number(steady->rate)} : Cell{},
                           best ? Cell{number(best->rate)} : Cell{},
                           against ? Cell{number(steady->against->fraction)} : Cell{},
                           against ? cell_or_absent(steady->against->fraction_at_clock) : Cell{},
                           steady ? cell_or_absent(steady->conditions.clock_hz) : Cell{},
                           steady ? cell_or_absent(steady->conditions.power_w) : Cell{},
                           steady ? cell_or_absent(steady->flop_per_joule) : Cell{}}});
  }
  const std::string note = peak_note(gpu);
  if (!note.empty() && !table.rows.empty()) {
    table.notes.push_back(note);
  }
  return table;
}

/// The user's own products and a model's layers.
Table own_products(const GpuResult& gpu) {
  Table table{"gpu_own_products",
              "",
              {parameter("layer", fmt::format("GPU {} own", gpu.identity.ordinal)),
               parameter("precision", "format"),
               parameter("shape", "shape"),
               measure("intensity", "intensity", Unit::flop_per_byte),
               measure("rate", "rate", Unit::flop_per_second),
               measure("fraction", "of its roof", Unit::percent),
               measure("of_datasheet", "of datasheet", Unit::percent),
               measure("bound", "bound")},
              {},
              {}};
  for (const auto& placement : gpu.placements) {
    if (placement.name.empty()) {
      continue;
    }
    const auto& gemm = placement.gemm;
    table.rows.push_back({{placement.name,
                           gemm.precision,
                           fmt::format("{}x{}x{}", gemm.m, gemm.n, gemm.k),
                           number(gemm.intensity),
                           number(gemm.rate),
                           number(gemm.fraction),
                           cell_or_absent(placement.of_datasheet),
                           std::string(bound_name(gemm.bound))}});
  }
  return table;
}

constexpr std::array levels{"shared", "L1", "L2", "memory"};

using Values = std::vector<std::optional<Number>>;

bool any(const Values& values) {
  return std::any_of(
      values.begin(), values.end(), [](const auto& value) { return value.has_value(); });
}

Values rates_of(const GpuResult& gpu, const std::string& kernel) {
  Values values;
  for (const std::string label : levels) {
    std::optional<Number> rate;
    for (const auto& found : gpu.memory_levels) {
      if (found.level.label == label && found.level.kernel == kernel) {
        rate = number(found.level.rate);
      }
    }
    values.push_back(rate);
  }
  return values;
}

template <class Figure>
Values latencies_of(const GpuResult& gpu, const Figure& figure) {
  Values values;
  for (const std::string label : levels) {
    std::optional<Number> value;
    for (const auto& found : gpu.latency_levels) {
      if (found.level.label == label) {
        value = figure(found);
      }
    }
    values.push_back(value);
  }
  return values;
}

/// Rates and latencies differ in unit, so their rows are text.
Table memory(const GpuResult& gpu) {
  Table table{"gpu_levels", "", {}, {}, {}};
  table.columns.push_back(parameter("what", fmt::format("GPU {} memory", gpu.identity.ordinal)));
  for (const char* label : levels) {
    table.columns.push_back(measure(label, label));
  }
  for (const char* kernel : {"read", "write", "copy", "triad"}) {
    const Values rates = rates_of(gpu, kernel);
    if (any(rates)) {
      table.rows.push_back(row_of(kernel, rates, Unit::bytes_per_second));
    }
  }
  const Values times = latencies_of(
      gpu, [](const auto& found) { return std::optional(number(found.level.latency)); });
  const Values cycles = latencies_of(gpu, [](const auto& found) { return found.cycles; });
  if (any(times)) {
    table.rows.push_back(row_of("latency", times, Unit::seconds));
  }
  if (any(cycles)) {
    table.rows.push_back(row_of("latency (cycles)", cycles, Unit::plain));
  }
  for (const auto& found : gpu.memory_levels) {
    if (found.of_datasheet && found.level.kernel == "read") {
      table.notes.push_back(fmt::format(
          "Memory reads are {} % of the datasheet's {}.",
          format_number(number(*found.of_datasheet), Unit::percent, scale_for(Unit::percent, 1.0)),
          format_quantity(number(*gpu.identity.datasheet->memory_bandwidth),
                          Unit::bytes_per_second)));
    }
  }
  return table;
}

Row transfer_row(const std::string& name, const GpuTransfer& transfer) {
  return {{name,
           number(transfer.plateau),
           cell_or_absent(transfer.of_link),
           cell_or_absent(transfer.alpha),
           cell_or_absent(transfer.half_size)}};
}

const GpuTransfer* host_transfer(const GpuResult& gpu, bool to_gpu, bool both) {
  for (const GpuTransfer& transfer : gpu.transfers) {
    const std::string& host = to_gpu ? transfer.source : transfer.target;
    if (host == "host (pinned)" && transfer.both_directions == both && !transfer.together &&
        transfer.engine == "copy engine") {
      return &transfer;
    }
  }
  return nullptr;
}

/// One way to another GPU by the copy engine: the slowest and the fastest pair of the node.
void add_peers(const std::vector<GpuResult>& gpus, Table& table) {
  const GpuTransfer* slowest = nullptr;
  const GpuTransfer* fastest = nullptr;
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& transfer : gpu.transfers) {
      const bool peers = transfer.source.starts_with("gpu") && transfer.target.starts_with("gpu") &&
                         transfer.source != transfer.target;
      if (!peers || transfer.both_directions || transfer.together ||
          transfer.engine != "copy engine") {
        continue;
      }
      const auto rate = transfer.plateau.value;
      slowest = slowest == nullptr || rate < slowest->plateau.value ? &transfer : slowest;
      fastest = fastest == nullptr || rate > fastest->plateau.value ? &transfer : fastest;
    }
  }
  if (slowest == nullptr) {
    return;
  }
  const auto name = [](const char* which, const GpuTransfer& transfer) {
    return fmt::format("{} pair: {} to {}", which, transfer.source, transfer.target);
  };
  table.rows.push_back(transfer_row(name("slowest", *slowest), *slowest));
  if (fastest != slowest) {
    table.rows.push_back(transfer_row(name("fastest", *fastest), *fastest));
  }
}

Table transfers(const GpuResult& gpu, const std::vector<GpuResult>& gpus) {
  Table table{"gpu_links",
              "",
              {parameter("what", fmt::format("GPU {} transfers", gpu.identity.ordinal)),
               measure("rate", "rate", Unit::bytes_per_second),
               measure("of_link", "of link", Unit::percent),
               measure("alpha", "latency", Unit::seconds),
               measure("half_size", "half the rate at", Unit::bytes)},
              {},
              {}};
  table.columns.back().own_scale = true;
  struct Wanted {
    const char* name;
    bool to_gpu, both;
  };
  for (const Wanted& wanted : {Wanted{"host to GPU (pinned)", true, false},
                               Wanted{"GPU to host (pinned)", false, false},
                               Wanted{"both directions", true, true}}) {
    if (const auto* transfer = host_transfer(gpu, wanted.to_gpu, wanted.both)) {
      table.rows.push_back(transfer_row(wanted.name, *transfer));
    }
  }
  add_peers(gpus, table);
  return table;
}

}  // namespace

Section gpu_summary(const model::Analysis& analysis) {
  Section section{"gpus", "", {}, {}, {}};
  for (const Kind& kind : kinds_of(analysis.gpus)) {
    section.lead.push_back(kind_line(kind));
    for (Table& table : std::vector<Table>{products(*kind.told),
                                           own_products(*kind.told),
                                           memory(*kind.told),
                                           transfers(*kind.told, analysis.gpus)}) {
      if (!table.rows.empty()) {
        section.tables.push_back(std::move(table));
      }
    }
  }
  return section;
}

}  // namespace scaleworth::report
