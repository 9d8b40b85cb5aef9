// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"

#include "report/names.h"
#include "report/run/run_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {
std::string subtitle(const Run& run) {
  const auto measured = std::count_if(run.probes.begin(), run.probes.end(), [](const auto& probe) {
    return probe.status == ProbeStatus::measured;
  });
  return fmt::format("{}, suite {}, {} of {} probes measured",
                     run.started_at.empty() ? "start time unknown" : run.started_at,
                     run.suite.empty() ? "unknown" : run.suite,
                     measured,
                     run.probes.size());
}

std::string incomplete(const Run& run) {
  if (run.complete && run.interruption.empty()) {
    return "";
  }
  std::string missing;
  for (const ProbeRecord& probe : run.probes) {
    if (probe.status == ProbeStatus::pending) {
      missing += (missing.empty() ? "" : ", ") + probe.name;
    }
  }
  return fmt::format(
      "Incomplete run ({}). {}",
      run.interruption.empty() ? "it ended without saying why" : run.interruption,
      missing.empty() ? "Every probe was reached." : "Not reached: " + missing + ".");
}

std::vector<NextCommand> next_commands(const Run& run,
                                       const model::Analysis& analysis,
                                       const RenderOptions& options) {
  const std::string report = "scaleworth report " + (options.input.empty() ? "RUN" : options.input);
  std::vector<NextCommand> next;
  if (!run.complete) {
    next.push_back({"scaleworth bench --suite " + (run.suite.empty() ? "quick" : run.suite),
                    "the whole measurement"});
  } else if (run.suite == "quick") {
    next.push_back({"scaleworth bench --suite standard", "full grids, narrower intervals"});
  }
  if (!analysis.assumptions.price_per_rank) {
    next.push_back({report + " --price USD_PER_RANK_HOUR", "cost per million tokens"});
  }
  next.push_back({report + " --format html > report.html", "charts, in one file"});
  return next;
}

}  // namespace

Document compose(const Run& run, const model::Analysis& analysis, const RenderOptions& options) {
  Document document;
  document.title = "scaleworth " + run.tool_version + ": is scaling worth it?";
  document.subtitle = subtitle(run);
  document.incomplete = incomplete(run);
  document.verdict = judge(analysis);
  std::vector<Section> sections{findings_section(analysis),
                                training_section(analysis.scaling),
                                decide_section(analysis.scaling, analysis.assumptions)};
  if (analysis.roofline) {
    sections.push_back(roofline_section(*analysis.roofline));
  }
  sections.push_back(gpu_section(analysis));
  sections.push_back(collectives_section(analysis.collectives, analysis.algorithms));
  sections.push_back(machine_section(run));
  sections.push_back(warnings_section(run, analysis));
  sections.push_back(unmeasured_section(run));
  for (Section& section : sections) {
    if (has_content(section)) {
      document.sections.push_back(std::move(section));
    }
  }
  document.next = next_commands(run, analysis, options);
  return document;
}

std::string document_title(const std::string& tool_version, const std::string& question) {
  return "scaleworth" + (tool_version.empty() ? "" : " " + tool_version) + ": " + question;
}

void drop_empty_tables(Section& section) {
  std::erase_if(section.tables, [](const Table& table) { return table.rows.empty(); });
}

bool has_content(const Section& section) {
  return !section.lead.empty() || !section.list.empty() || !section.tables.empty();
}

namespace {
bool same(const Cell& a, const Cell& b) {
  if (const auto* text = std::get_if<std::string>(&a)) {
    const auto* other = std::get_if<std::string>(&b);
    return other != nullptr && *text == *other;
  }
  const auto* left = std::get_if<Number>(&a);
  const auto* right = std::get_if<Number>(&b);
  return left != nullptr && right != nullptr && left->value == right->value;
}

Column renamed(Column column, const std::string& header) {
  column.header = header;
  column.detail = false;
  return column;
}
}  // namespace

const Table* find_table(const Document& document, const std::string& id) {
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      if (table.id == id) {
        return &table;
      }
    }
  }
  return nullptr;
}

std::size_t column_of(const Table& table, const std::string& id) {
  const auto found = std::find_if(table.columns.begin(),
                                  table.columns.end(),
                                  [&id](const Column& column) { return column.id == id; });
  return static_cast<std::size_t>(found - table.columns.begin());
}

Table pick(const Table& full, const std::vector<Pick>& picks) {
  Table table{full.id, "", {}, {}, {}};
  std::vector<std::size_t> positions;
  for (const Pick& one : picks) {
    const std::size_t at = column_of(full, one.id);
    if (at < full.columns.size()) {
      positions.push_back(at);
      table.columns.push_back(renamed(full.columns[at], one.header));
    }
  }
  for (const Row& row : full.rows) {
    if (row.detail) {
      continue;
    }
    table.rows.emplace_back();
    for (const std::size_t at : positions) {
      table.rows.back().cells.push_back(row.cells[at]);
    }
  }
  return table;
}

void join(Table& table,
          const Table& other,
          const std::vector<std::string>& keys,
          const Pick& column) {
  const std::size_t from = column_of(other, column.id);
  for (Row& row : table.rows) {
    const auto match =
        std::find_if(other.rows.begin(), other.rows.end(), [&](const Row& candidate) {
          return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
            return same(row.cells[column_of(table, key)], candidate.cells[column_of(other, key)]);
          });
        });
    row.cells.push_back(match == other.rows.end() ? Cell{} : match->cells[from]);
  }
  table.columns.push_back(renamed(other.columns[from], column.header));
}

void even_out(Table& table) {
  for (Row& row : table.rows) {
    for (Cell& cell : row.cells) {
      Number* number = std::get_if<Number>(&cell);
      if (!number || !number->interval) {
        continue;
      }
      const double longer =
          std::max(number->interval->high - number->value, number->value - number->interval->low);
      if (longer <= 0.5 * std::abs(number->value)) {
        number->interval = Interval<double>{number->value - longer, number->value + longer};
      }
    }
  }
}

Section step_summary(const Document& full) {
  Section section{"step", "", {}, {}, {}};
  const Table* times = find_table(full, "step_times");
  if (!times) {
    return section;
  }
  section.tables.push_back(pick(*times,
                                {{"mode", "Training step"},
                                 {"ranks", "ranks"},
                                 {"step_time", "step"},
                                 {"speedup", "speed-up"},
                                 {"efficiency", "efficiency"}}));
  if (const Table* utilisation = find_table(full, "model_flop_utilisation")) {
    join(section.tables.front(),
         *utilisation,
         {"mode", "ranks"},
         {"mfu_measured", "MFU of ceiling"});
  }
  if (const Table* shares = find_table(full, "step_shares")) {
    std::vector<Pick> picks{{"mode", "Where it goes"}, {"ranks", "ranks"}};
    for (const Column& column : shares->columns) {
      const bool part = column.id.starts_with("share_") && column.id != "share_sum";
      const std::size_t prefix = column.header.starts_with("exposed ") ? 8 : 0;
      if (part) {
        picks.push_back({column.id, column.header.substr(prefix)});
      }
    }
    Table parts = pick(*shares, picks);
    for (Column& column : parts.columns) {
      column.own_scale = column.unit == Unit::percent;
    }
    section.tables.push_back(std::move(parts));
  }
  return section;
}

namespace {
/// The size that all rows share, in words where they do not.
std::string common_size(const Table& ends, const std::string& column) {
  const std::size_t at = column_of(ends, column);
  const auto* size =
      ends.rows.empty() ? nullptr : std::get_if<Number>(&ends.rows.front().cells[at]);
  const bool common = size && std::all_of(ends.rows.begin(), ends.rows.end(), [&](const Row& row) {
                        const auto* other = std::get_if<Number>(&row.cells[at]);
                        return other && other->value == size->value;
                      });
  return common ? format_quantity(*size, Unit::bytes)
                : column.substr(0, column.find('_')) + " size";
}

/// All rows are of the same count: it moves from its column into the first header.
void name_ranks_once(Table& table) {
  const auto at = static_cast<std::ptrdiff_t>(column_of(table, "ranks"));
  if (table.rows.empty()) {
    return;
  }
  const auto& ranks = std::get<Number>(table.rows.front().cells[static_cast<std::size_t>(at)]);
  table.columns.front().header = "Among " + ranks_phrase(static_cast<int>(ranks.value));
  table.columns.erase(table.columns.begin() + at);
  for (Row& row : table.rows) {
    row.cells.erase(row.cells.begin() + at);
  }
}
}  // namespace

Section communication_summary(const Document& full) {
  Section section{"communication", "", {}, {}, {}};
  const Table* fits = find_table(full, "collective_fits");
  const Table* ends = find_table(full, "collective_ends");
  if (!fits || !ends) {
    return section;
  }
  Table isolated = *fits;
  const std::size_t mode = column_of(isolated, "mode");
  std::erase_if(isolated.rows, [mode](const Row& row) {
    return std::get<std::string>(row.cells[mode]) != "isolated";
  });
  Table table =
      pick(*ends,
           {{"collective", "Communication"},
            {"ranks", "ranks"},
            {"latency_isolated", common_size(*ends, "smallest_bytes") + " isolated"},
            {"busbw_back_to_back", "back-to-back busbw, " + common_size(*ends, "largest_bytes")}});
  const std::vector<std::string> keys{"collective", "ranks"};
  join(table, isolated, keys, {"alpha", "alpha"});
  join(table, isolated, keys, {"inverse_beta", "1/beta"});
  join(table, isolated, keys, {"held_out_error", "fit error"});
  name_ranks_once(table);
  section.tables.push_back(std::move(table));
  return section;
}

Section nccl_summary(const Document& full) {
  Section section{"nccl", "", {}, {}, {}};
  const Table* choice = find_table(full, "nccl_choice");
  if (!choice) {
    return section;
  }
  Table whole = *choice;
  const std::size_t what = column_of(whole, "what");
  std::erase_if(whole.rows, [what](const Row& row) {
    return !std::get<std::string>(row.cells[what]).ends_with("all ranks");
  });
  if (whole.rows.empty()) {
    return section;
  }
  Table table = pick(whole,
                     {{"what", "NCCL"},
                      {"collective", "collective"},
                      {"ranks", "GPUs"},
                      {"latency", "time of smallest"},
                      {"busbw", "busbw, " + common_size(whole, "largest_bytes")},
                      {"ran", "ran"}});
  if (const Table* predictions = find_table(full, "nccl_predictions")) {
    join(table, *predictions, {"what", "collective", "ranks"}, {"library_error", "NCCL's error"});
  }
  section.tables.push_back(std::move(table));
  return section;
}

namespace {
constexpr std::size_t most_findings = 6;

/// Findings that no table or verdict shows; how many more warnings there are; what has no result.
Section remarks_summary(const Run& run, const model::Analysis& analysis) {
  Section section{"remarks", "", {}, {}, {}};
  for (const auto& finding : analysis.findings) {
    if (!finding.warning && !finding.restates && section.list.size() < most_findings) {
      section.list.push_back(finding.text);
    }
  }
  const Section unmeasured = unmeasured_section(run);
  std::string missing;
  for (const Table& table : unmeasured.tables) {
    for (const Row& row : table.rows) {
      if (std::get<std::string>(row.cells[1]) == "not reached") {
        continue;  // the first lines name these
      }
      missing += fmt::format("{}{} {} ({})",
                             missing.empty() ? "Not measured: " : "; ",
                             std::get<std::string>(row.cells[0]),
                             std::get<std::string>(row.cells[1]),
                             std::get<std::string>(row.cells[2]));
    }
  }
  if (!missing.empty()) {
    section.lead.push_back(missing + ".");
  }
  return section;
}
}  // namespace

Document summarise(const Run& run, const model::Analysis& analysis, const RenderOptions& options) {
  Document document = compose(run, analysis, options);
  std::vector<Section> parts{capability_summary(run, analysis),
                             gpu_summary(analysis),
                             communication_summary(document),
                             nccl_summary(document),
                             step_summary(document),
                             worth_summary(analysis),
                             remarks_summary(run, analysis)};
  std::erase_if(parts, [](const Section& part) {
    return part.lead.empty() && part.list.empty() && part.tables.empty();
  });
  for (Section& part : parts) {
    std::for_each(part.tables.begin(), part.tables.end(), even_out);
  }
  document.sections = std::move(parts);
  const std::string directory = options.input.empty() ? "RUN" : options.input;
  document.next.insert(
      document.next.begin(),
      {"scaleworth report " + directory + " --details", "every section, table and warning"});
  return document;
}
}  // namespace scaleworth::report
