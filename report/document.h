// SPDX-License-Identifier: Apache-2.0
/// The report before it has a format: a verdict, sections of text and tables, the next command.
#pragma once

#include "report/render_options.h"
#include "report/table.h"
#include "src/core/run.h"
#include "src/model/analysis.h"

namespace scaleworth::report {
enum class Answer { yes, no, unknown };
const char* answer_name(Answer answer);

struct Verdict {
  Answer answer = Answer::unknown;
  std::string headline;            // one sentence with its numbers
  std::vector<std::string> lines;  // counts, rule, cause, prediction, cost
  std::string action = {};         // what to do, before the lines; empty: nothing to advise
};

/// A reader sees finding, amount and action at once in so many words, which blanks divide.
inline constexpr int most_first_words = 30;
int word_count(std::string_view text);
/// `sentence` with `more` at its end where that is not too long; it has no full stop yet.
std::string if_it_fits(std::string sentence, const std::string& more);
/// "Not reliable: other programs used 34 % of the CPUs, and 1 more warning; run again on an idle
/// machine.": the first sentence where figures may be wrong, in place of any advice by them. The
/// first warning is cut where it is too long, `again`, what to measure again, never.
std::string not_reliable(const std::string& first_warning,
                         std::size_t warnings,
                         const std::string& again);
/// Of at least one.
std::string not_reliable(const std::vector<Finding>& warnings);
/// What not_reliable() had no room for: all of them but a first one that it tells in full.
std::vector<std::string> told_below(const std::vector<Finding>& warnings, Audience audience);

/// "To do: ..." where there is an action, empty without one.
std::string action_sentence(const Verdict& verdict);
/// That sentence and the lines.
std::vector<std::string> sentences(const Verdict& verdict);

/// The decision on the strong-scaling counts, as `judge_decision` words it, with what the laws and
/// the findings add. Yes where it takes more ranks than the fewest, no where it takes the fewest.
/// The answer is unknown when there are not two counts, when the losses disagree across counts,
/// when nothing is recommended, or when the 95 % intervals do not separate the count from the
/// fewest, or when a finding says that the run is not reliable.
Verdict judge(const model::Analysis& analysis,
              const model::RunFindings& findings = {},
              Audience audience = Audience::terminal);

/// Whether there are two counts of strong scaling, no rank slowed on purpose; else the verdict says
/// what the machine can do.
bool shows_scaling(const model::Analysis& analysis);

struct Section {
  std::string id;  // anchor in HTML: "roofline"
  std::string title;
  std::vector<std::string> lead = {};  // paragraphs before the tables
  std::vector<std::string> list = {};  // numbered in every format
  std::vector<Table> tables = {};
};

/// A command that makes sense now, and what it would give.
struct NextCommand {
  std::string command;
  std::string reason;
};

/// A figure at the head of the page.
struct KeyFigure {
  std::string label;
  std::string value;  // with its unit
  std::string note;
  std::optional<double> loss = {};  // in base units, where it is one
};

struct Document {
  std::string title;         // tool and question
  std::string subject = {};  // of the page: a model; empty: by the input
  std::string subtitle;      // when, suite, probes
  std::string incomplete =
      {};                 // why the run ended early and what is missing, empty when it did not
  bool intervals = true;  // numbers may carry 95 % intervals, which the page then explains
  Verdict verdict;
  std::vector<Section> sections;
  std::vector<NextCommand> next;
};

/// The tiles of its tables, with the digits and units printed there; losses first, the largest
/// before others.
std::vector<KeyFigure> key_figures(const Document& document);

/// Builds the whole report. Sections without content are left out; what could not be measured is
/// its own section.
Document compose(const Run& run, const model::Analysis& analysis, const RenderOptions& options);

// What the documents of all commands have in common: a title, and nothing empty.

/// "scaleworth 0.1.0: how many to buy?"; without a version only the name.
std::string document_title(const std::string& tool_version, const std::string& question);

/// Of those of the tables that have rows.
Section section_of(std::string id, std::string title, std::vector<Table> tables);

/// The sections with a paragraph, a list or a table, without the tables that have no rows.
std::vector<Section> with_content(std::vector<Section> sections);

/// Intervals whose longer arm is at most half of the value become value ± longer arm, which is
/// wider than the interval, never narrower, and leaves room in a line.
void symmetric_intervals(Table& table);

/// The document with its sections replaced by a summary: sections without title whose tables carry
/// their subject in the first header. What needs more room is counted and the command that shows it
/// is the next one.
Document summarise(const Run& run, const model::Analysis& analysis, const RenderOptions& options);
}  // namespace scaleworth::report
