// SPDX-License-Identifier: Apache-2.0
#include "report/sections/gpu/tables.h"

#include <algorithm>
#include <utility>

namespace scaleworth::report {

using model::GpuResult;
using model::GpuTransfer;

namespace {

std::string directions_text(const GpuTransfer& transfer) {
  return transfer.both_directions ? "both" : "one";
}

std::string pass_text(const GpuTransfer& transfer) {
  return transfer.together ? "all at once" : "alone";
}

std::vector<Column> transfer_parameters() {
  Column gpu = gpu_column();
  gpu.detail = true;  // the ends name it
  return {std::move(gpu),
          parameter("source", "from"),
          parameter("target", "to"),
          parameter("engine", "engine"),
          parameter("directions", "directions"),
          parameter("pass", "GPUs")};
}

std::vector<Cell> transfer_cells(const GpuResult& gpu, const GpuTransfer& transfer) {
  return {gpu_cell(gpu),
          transfer.source,
          transfer.target,
          transfer.engine,
          directions_text(transfer),
          pass_text(transfer)};
}

}  // namespace

Table gpu_transfer_table(const Gpus& gpus) {
  Table table{"gpu_transfers",
              "Transfers: T(n) = alpha + n beta",
              transfer_parameters(),
              {},
              {"Rate at the largest size, all directions together. Half at: the size that reaches "
               "half of it. Of link: of the raw rate of the slowest link on the way, where it is "
               "known."}};
  for (const Column& column : {measure("rate", "rate", Unit::bytes_per_second),
                               measure("of_link", "of link", Unit::percent),
                               measure("link", "link"),
                               measure("alpha", "alpha", Unit::seconds),
                               measure("half_size", "half at", Unit::bytes)}) {
    table.columns.push_back(column);
  }
  for (Column& column : table.columns) {
    column.detail = column.detail || column.id == "link";
  }
  table.columns.back().own_scale = true;
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& transfer : gpu.transfers) {
      Row row{transfer_cells(gpu, transfer)};
      row.cells.insert(row.cells.end(),
                       {number(transfer.plateau),
                        cell_or_absent(transfer.of_link),
                        transfer.link,
                        cell_or_absent(transfer.alpha),
                        cell_or_absent(transfer.half_size)});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table gpu_transfer_point_table(const Gpus& gpus) {
  Table table{"gpu_transfer_points", "Transfers, every size", transfer_parameters(), {}, {}};
  table.columns.push_back(parameter("message_bytes", "size", Unit::bytes));
  table.columns.push_back(measure("rate", "rate", Unit::bytes_per_second));
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& transfer : gpu.transfers) {
      for (const auto& point : transfer.points) {
        Row row{transfer_cells(gpu, transfer), true};
        row.cells.emplace_back(number(point.size));
        row.cells.emplace_back(number(point.rate));
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

namespace {

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    names.push_back(name);
  }
}

/// One way, copy engine, alone, pinned memory, not within one GPU.
std::vector<const GpuTransfer*> matrix_entries(const Gpus& gpus) {
  std::vector<const GpuTransfer*> entries;
  for (const GpuResult& gpu : gpus) {
    for (const GpuTransfer& transfer : gpu.transfers) {
      const bool pageable =
          (transfer.source + transfer.target).find("pageable") != std::string::npos;
      if (transfer.both_directions || transfer.together || transfer.engine != "copy engine" ||
          pageable || transfer.source == transfer.target) {
        continue;
      }
      entries.push_back(&transfer);
    }
  }
  return entries;
}

}  // namespace

Table gpu_matrix_table(const Gpus& gpus) {
  Table table{"gpu_transfer_matrix",
              "Who reaches whom how fast (copy engine, one way, one pair at a time)",
              {parameter("source", "from")},
              {},
              {}};
  table.in_csv = false;
  const auto entries = matrix_entries(gpus);
  std::vector<std::string> sources;
  std::vector<std::string> targets;
  for (const GpuTransfer* entry : entries) {
    add_once(sources, entry->source);
    add_once(targets, entry->target);
  }
  if (sources.size() < 3) {
    return table;
  }
  std::sort(sources.begin(), sources.end());
  std::sort(targets.begin(), targets.end());
  for (const std::string& target : targets) {
    table.columns.push_back(measure(target, "to " + target, Unit::bytes_per_second));
  }
  for (const std::string& source : sources) {
    Row row{{source}};
    for (const std::string& target : targets) {
      const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto* entry) {
        return entry->source == source && entry->target == target;
      });
      row.cells.push_back(found == entries.end() ? Cell{} : Cell{number((*found)->plateau)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table gpu_launch_table(const Gpus& gpus) {
  Table table{
      "gpu_launches",
      "Launches",
      {gpu_column(), parameter("launch", "what"), measure("time", "time", Unit::seconds)},
      {},
      {"Kernel and graph node: per launch in a long queue. Launch and wait: as the host sees "
       "it."}};
  for (const GpuResult& gpu : gpus) {
    for (const auto& launch : gpu.launches) {
      table.rows.push_back({{gpu_cell(gpu), launch.kind, number(launch.time)}});
    }
  }
  return table;
}

}  // namespace scaleworth::report
