// SPDX-License-Identifier: Apache-2.0
#include "report/document.h"

#include "report/run/run_report.h"
#include "report/words.h"

#include <cmath>
#include <variant>

namespace scaleworth::report {
namespace {
std::string incomplete(const Run& run) {
  if (run.complete && !run.interruption) return "";
  const std::string missing = listed(run.probes, [](const ProbeRecord& probe) {
    return probe.status == ProbeStatus::pending ? probe.name : "";
  });
  return fmt::format(
      "Incomplete run ({}). {}",
      run.interruption ? said(*run.interruption) : "it ended without saying why",
      missing.empty() ? "Every probe was reached." : "Not reached: " + missing + ".");
}

std::vector<NextCommand> next_commands(const Run& run,
                                       const model::Analysis& analysis,
                                       const RenderOptions& options) {
  const std::string input = options.input.empty() ? "RUN" : shell_words({options.input});
  const std::string report = "scaleworth report " + input;
  std::vector<NextCommand> next;
  if (!run.complete) {
    next.push_back({"scaleworth bench --suite " + (run.suite.empty() ? "quick" : run.suite),
                    "the whole measurement"});
  } else if (run.suite == "quick") {
    next.push_back({"scaleworth bench --suite standard", "full grids, narrower intervals"});
  }
  if (!analysis.scaling.empty() && !analysis.assumptions.price_per_rank) {
    next.push_back({report + " --price USD_PER_RANK_HOUR", "cost per million tokens"});
  }
  if (shows_scaling(analysis) && options.details)
    next.push_back({"scaleworth decide " + input, "laws, knees, causes and costs of each count"});
  next.push_back({report + " --format html > report.html", "charts, in one file"});
  return next;
}

void drop_empty_tables(Section& section) {
  std::erase_if(section.tables,
                [](const Table& table) { return table.rows.empty() || table.columns.empty(); });
}

bool is_empty(const Section& section) {
  return section.lead.empty() && section.list.empty() && section.tables.empty();
}

constexpr std::size_t most_findings = 6;

/// Findings that no table or verdict shows; how many more warnings there are; what has no result.
Section remarks_summary(const Run& run, const model::Analysis& analysis) {
  Section section{"remarks", ""};
  section.list = results_of(run, analysis);
  if (section.list.size() > most_findings) section.list.resize(most_findings);
  const auto missing = [](const ProbeRecord& probe) -> std::string {
    // The first lines name those that were not reached.
    const bool skipped = probe.status == ProbeStatus::skipped;
    if (!skipped && probe.status != ProbeStatus::failed) return "";
    return fmt::format(
        "{} {} ({})", probe.name, skipped ? "skipped" : "failed", said(probe.reason));
  };
  const std::string probes = listed(run.probes, missing, "; ");
  if (!probes.empty()) section.lead.push_back("Not measured: " + probes + ".");
  return section;
}

void add_tiles(const Table& table, std::vector<KeyFigure>& figures) {
  if (table.tiles.empty()) return;
  const bool whole = only_detail(table);
  const Printed printed = print_table(table, whole);
  // "61.3 ms"; empty for a column that is not there or a cell that is absent.
  const auto text_of = [&](const Tile& tile, const std::string& id) -> std::string {
    const auto column = std::ranges::find(table.columns, id, &Column::id);
    const auto shown = std::ranges::find(printed.ids, id);
    if (column == table.columns.end() || shown == printed.ids.end()) return "";
    const auto cell = table.rows[tile.row].cells.begin() + (column - table.columns.begin());
    if (std::holds_alternative<std::monostate>(*cell)) return "";
    const auto end = table.rows.begin() + tile.row;
    const auto before = std::count_if(
        table.rows.begin(), end, [&](const Row& row) { return whole || !row.detail; });
    const auto c = static_cast<std::size_t>(shown - printed.ids.begin());
    const std::string& text = printed.rows[before][c];
    return printed.units[c].empty() ? text : text + " " + printed.units[c];
  };
  for (const Tile& tile : table.tiles) {
    if (tile.row >= table.rows.size() || (!whole && table.rows[tile.row].detail)) continue;
    const std::string value = text_of(tile, tile.column);
    if (value.empty()) continue;
    std::string note = text_of(tile, tile.note_column);
    if (!note.empty() && !tile.note.empty()) note += ' ';
    const auto column = std::ranges::find(table.columns, tile.column, &Column::id);
    const auto* number =
        std::get_if<Number>(&table.rows[tile.row].cells[column - table.columns.begin()]);
    figures.push_back({tile.label,
                       value,
                       note + tile.note,
                       tile.loss && number ? std::optional(number->value) : std::nullopt});
  }
}

/// Its tables as far as they are in the summary, below `lead`.
Section summary_of(const Section& full, std::vector<std::string> lead = {}) {
  return {full.id, "", std::move(lead), {}, mapped(full.tables, [](const Table& one) {
            return report::summary_of(one);
          })};
}
}  // namespace

std::vector<KeyFigure> key_figures(const Document& document) {
  std::vector<KeyFigure> figures;
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) add_tiles(table, figures);
  }
  // An absent loss is less than any.
  std::ranges::stable_sort(figures, std::greater{}, &KeyFigure::loss);
  return figures;
}

const char* answer_name(Answer answer) {
  return answer == Answer::yes ? "yes" : answer == Answer::no ? "no" : "unknown";
}

int word_count(std::string_view text) {
  int count = 0;
  bool between = true;
  for (const char letter : text) {
    count += between && letter != ' ' ? 1 : 0;
    between = letter == ' ';
  }
  return count;
}

std::string if_it_fits(std::string sentence, const std::string& more) {
  const std::string longer = sentence + more;
  return word_count(longer) <= most_first_words ? longer : sentence;
}

namespace {
constexpr const char* not_reliable_words = "Not reliable: ";

/// The warning with as many of its words as the first sentence takes.
std::string cut_warning(std::string warning, const std::string& end) {
  while (word_count(not_reliable_words + warning + end) > most_first_words)
    warning = warning.substr(0, warning.find_last_of(' ', warning.size() - 5)) + " ...";
  return warning;
}
}  // namespace

std::string not_reliable(const std::string& first_warning,
                         std::size_t warnings,
                         const std::string& again) {
  const std::string end = "; " + again + ".";
  const std::string begin = not_reliable_words + cut_warning(first_warning, end);
  const std::string more =
      warnings < 2 ? ""
                   : fmt::format(", and {} more warning{}", warnings - 1, warnings > 2 ? "s" : "");
  return word_count(begin + more + end) > most_first_words ? begin + end : begin + more + end;
}

std::string not_reliable(const std::vector<Finding>& warnings) {
  const Words first = words_of(warnings.front());
  return not_reliable(first.text, warnings.size(), first.again);
}

std::vector<std::string> told_below(const std::vector<Finding>& warnings, Audience audience) {
  std::vector<std::string> lines = sentences(warnings, audience);
  const Words first = words_of(warnings.front());
  const bool whole =
      first.text == first.whole() && cut_warning(first.text, "; " + first.again + ".") == first.text;
  if (whole) lines.erase(lines.begin());
  return lines;
}

std::string action_sentence(const Verdict& verdict) {
  return verdict.action.empty() ? "" : "To do: " + verdict.action;
}

std::vector<std::string> sentences(const Verdict& verdict) {
  std::vector<std::string> all{action_sentence(verdict)};
  std::ranges::copy(verdict.lines, std::back_inserter(all));
  std::erase(all, "");
  return all;
}

Document compose(const Run& run, const model::Analysis& analysis, const RenderOptions& options) {
  Document document;
  document.title = document_title(
      run.tool_version,
      shows_scaling(analysis) ? "is scaling worth it?" : "what can this machine do?");
  document.subtitle =
      fmt::format("{}, suite {}, {} of {} probes measured",
                  run.started_at.empty() ? "start time unknown" : run.started_at,
                  run.suite.empty() ? "unknown" : run.suite,
                  std::ranges::count(run.probes, ProbeStatus::measured, &ProbeRecord::status),
                  run.probes.size());
  document.incomplete = incomplete(run);
  const model::RunFindings findings = model::run_findings(run, analysis);
  document.verdict = judge(analysis, findings, options.audience);
  if (const ProbeRecord* first = run.probes.empty() ? nullptr : &run.probes.front();
      first && first->reason &&
      std::ranges::count(run.probes, ProbeStatus::measured, &ProbeRecord::status) == 0)
    document.verdict.headline = fmt::format("Nothing was measured: {}.", said(*first->reason));
  std::vector<Section> sections{{"findings", "Findings", {}, results_of(run, analysis)},
                                training_section(analysis.scaling, options.audience),
                                forecast_section(analysis, options.audience)};
  if (analysis.roofline) sections.push_back(roofline_section(*analysis.roofline));
  sections.push_back(gpu_section(analysis));
  sections.push_back(collectives_section(
      analysis.collectives, analysis.algorithms, analysis.levels, analysis.communication));
  sections.push_back(machine_section(run));
  sections.push_back(warnings_section(run, analysis, findings, options.audience));
  sections.push_back(unmeasured_section(run));
  std::erase_if(sections, is_empty);
  for (Section& section : sections) std::ranges::for_each(section.tables, drop_summary_columns);
  document.sections = std::move(sections);
  document.next = next_commands(run, analysis, options);
  return document;
}

std::string document_title(const std::string& tool_version, const std::string& question) {
  return "scaleworth" + (tool_version.empty() ? "" : " " + tool_version) + ": " + question;
}

Section section_of(std::string id, std::string title, std::vector<Table> tables) {
  Section section{std::move(id), std::move(title), {}, {}, std::move(tables)};
  drop_empty_tables(section);
  return section;
}

std::vector<Section> with_content(std::vector<Section> sections) {
  std::ranges::for_each(sections, drop_empty_tables);
  std::erase_if(sections, is_empty);
  return sections;
}

void symmetric_intervals(Table& table) {
  for (Row& row : table.rows) {
    for (Cell& cell : row.cells) {
      Number* number = std::get_if<Number>(&cell);
      if (!number || !number->interval) continue;
      const double longer = std::max(number->high() - number->value, number->value - number->low());
      if (longer <= 0.5 * std::abs(number->value)) {
        number->interval = Interval<double>{number->value - longer, number->value + longer};
      }
    }
  }
}

Document summarise(const Run& run, const model::Analysis& analysis, const RenderOptions& options) {
  Document document = compose(run, analysis, options);
  const Section gpus = gpu_section(analysis);
  document.sections = with_content(
      {summary_of(training_section(analysis.scaling, options.audience)),
       remarks_summary(run, analysis),
       summary_of(forecast_section(analysis, options.audience)),
       summary_of(gpus, gpus.lead),
       summary_of(roofline_section(analysis.roofline.value_or(model::RooflineResult{})),
                  {machine_line(run)}),
       summary_of(collectives_section({}, analysis.algorithms)),
       summary_of(collectives_section(analysis.collectives, {}, analysis.levels))});
  for (Section& part : document.sections) std::ranges::for_each(part.tables, symmetric_intervals);
  const std::string directory = options.input.empty() ? "RUN" : shell_words({options.input});
  document.next.insert(
      document.next.begin(),
      {"scaleworth report " + directory + " --details", "every section, table and warning"});
  return document;
}
}  // namespace scaleworth::report
