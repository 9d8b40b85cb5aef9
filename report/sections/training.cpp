// SPDX-License-Identifier: Apache-2.0
#include "report/names.h"
#include "report/sections/sections.h"

#include <algorithm>

namespace scaleworth::report {
namespace {

using Scaling = std::vector<model::ScalingResult>;

Table steps(const Scaling& scaling) {
  Table table{"step_times",
              "Step time by rank count",
              {parameter("mode", "scaling"),
               parameter("ranks", "ranks", Unit::count),
               parameter("global_batch_sequences", "batch", Unit::count),
               measure("step_time", "step", Unit::seconds),
               measure("speedup", "speed-up"),
               measure("efficiency", "efficiency", Unit::percent),
               measure("karp_flatt", "Karp-Flatt serial part"),
               measure("tokens_per_second", "throughput", Unit::tokens_per_second),
               measure("final_loss", "loss")},
              {},
              {}};
  table.columns.back().digits = 5;
  table.columns[6].detail = true;
  for (const auto& result : scaling) {
    for (const auto& row : result.rows) {
      table.rows.push_back({{result.mode,
                             count_cell(row.ranks),
                             count_cell(row.global_batch),
                             number(row.step),
                             cell_or_absent(row.speedup),
                             cell_or_absent(row.efficiency),
                             cell_or_absent(row.karp_flatt),
                             in_inverse_proportion(row.tokens_per_second, row.step),
                             cell_or_absent(row.final_loss)}});
    }
    if (!result.quality_note.empty()) {
      table.notes.push_back(result.mode + " scaling: " + result.quality_note);
    }
  }
  table.notes.push_back(
      "Step: slowest rank, median with 95 % interval. Strong: the batch is shared out; weak: the "
      "batch grows with the ranks. The loss is computed, not sampled: it has no interval.");
  return table;
}

/// Part names in the order of first appearance, so that all counts share the columns.
std::vector<std::string> part_names(const Scaling& scaling) {
  std::vector<std::string> names;
  for (const auto& result : scaling) {
    for (const auto& row : result.rows) {
      for (const auto& share : row.shares) {
        if (std::find(names.begin(), names.end(), share.part) == names.end()) {
          names.push_back(share.part);
        }
      }
    }
  }
  return names;
}

const model::StepShare* find_part(const std::vector<model::StepShare>& shares,
                                  const std::string& part) {
  const auto found = std::find_if(
      shares.begin(), shares.end(), [&](const auto& share) { return share.part == part; });
  return found == shares.end() ? nullptr : &*found;
}

Table shares(const Scaling& scaling) {
  Table table{"step_shares",
              "Where the step goes (% of the step, mean over ranks)",
              {parameter("mode", "scaling"), parameter("ranks", "ranks", Unit::count)},
              {},
              {"Shares are of medians over the steps and add up to the step; no interval is kept "
               "for a single share."}};
  const auto names = part_names(scaling);
  for (const auto& name : names) {
    table.columns.push_back(measure("share_" + name, words(name), Unit::percent));
    std::replace(table.columns.back().id.begin(), table.columns.back().id.end(), ' ', '_');
  }
  table.columns.push_back(measure("share_sum", "sum", Unit::percent));
  for (const auto& result : scaling) {
    for (const auto& row : result.rows) {
      if (row.shares.empty()) {
        continue;
      }
      Row line{{result.mode, count_cell(row.ranks)}, false};
      double sum = 0.0;
      for (const auto& name : names) {
        const auto* share = find_part(row.shares, name);
        sum += share ? share->share : 0.0;
        line.cells.push_back(share ? Cell{number(share->share)} : Cell{});
      }
      line.cells.push_back(number(sum));
      table.rows.push_back(std::move(line));
    }
  }
  return table;
}

Table per_rank(const Scaling& scaling) {
  Table table{"rank_shares",
              "Where the step goes, rank by rank",
              {parameter("mode", "scaling"),
               parameter("ranks", "ranks", Unit::count),
               parameter("rank", "rank", Unit::count),
               parameter("part", "part"),
               measure("time", "time", Unit::seconds),
               measure("share", "share", Unit::percent)},
              {},
              {}};
  for (const auto& result : scaling) {
    for (const auto& row : result.rows) {
      for (const auto& rank : row.per_rank) {
        for (const auto& part : rank.parts) {
          table.rows.push_back({{result.mode,
                                 count_cell(row.ranks),
                                 count_cell(rank.rank),
                                 words(part.part),
                                 number(part.time),
                                 number(part.share)},
                                true});
        }
      }
    }
  }
  return table;
}

Cell utilisation_cell(const std::optional<double>& value, const Estimate<Seconds>& step) {
  return value ? Cell{in_inverse_proportion(*value, step)} : Cell{};
}

Table utilisation(const Scaling& scaling) {
  Table table{
      "model_flop_utilisation",
      "Model FLOP utilisation (MFU)",
      {parameter("mode", "scaling"),
       parameter("ranks", "ranks", Unit::count),
       measure("mfu_measured", "MFU of the measured ceiling", Unit::percent),
       measure("mfu_peak", "MFU of --peak", Unit::percent)},
      {},
      {"FLOPs of the model's matrix products over the step time, against our FMA ceiling of "
       "as many workers and against --peak per rank (n/a when not given: a peak is never "
       "guessed). The interval is the step's; the ceiling counts as exact."}};
  std::vector<std::string> bases{""};
  for (const auto& result : scaling) {
    for (const auto& row : result.rows) {
      if (row.mfu_measured || row.mfu_peak) {
        if (std::find(bases.begin(), bases.end(), row.mfu_basis) == bases.end()) {
          bases.push_back(row.mfu_basis);
        }
        table.rows.push_back({{result.mode,
                               count_cell(row.ranks),
                               utilisation_cell(row.mfu_measured, row.step),
                               utilisation_cell(row.mfu_peak, row.step)}});
      }
    }
  }
  for (std::size_t i = 1; i < bases.size(); ++i) {
    table.notes.push_back("Ceiling: " + bases[i] + ".");
  }
  return table;
}

}  // namespace

Section training_section(const Scaling& scaling) {
  Section section{"training", "Training step: what scaling gives", {}, {}, {}};
  for (Table& table : std::vector<Table>{
           steps(scaling), shares(scaling), utilisation(scaling), per_rank(scaling)}) {
    if (!table.rows.empty()) {
      section.tables.push_back(std::move(table));
    }
  }
  return section;
}

}  // namespace scaleworth::report
