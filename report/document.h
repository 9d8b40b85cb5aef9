// SPDX-License-Identifier: Apache-2.0
/// The report before it has a format: a verdict, sections of text and tables, the next command.
#pragma once

#include "report/report.h"
#include "report/table.h"
#include "report/verdict.h"
#include "src/core/run/record.h"
#include "src/model/analysis.h"

#include <string>
#include <vector>

namespace scaleworth::report {

struct Section {
  std::string id;  // anchor in HTML: "roofline"
  std::string title;
  std::vector<std::string> lead;  // paragraphs before the tables
  std::vector<std::string> list;  // numbered in every format
  std::vector<Table> tables;
};

/// A command that makes sense now, and what it would give.
struct NextCommand {
  std::string command;
  std::string reason;
};

struct Document {
  std::string title;       // tool and machine
  std::string subtitle;    // when, suite, probes
  std::string incomplete;  // why the run ended early and what is missing, empty when it did not
  bool intervals = true;   // numbers may carry 95 % intervals, which the page then explains
  Verdict verdict;
  std::vector<Section> sections;
  std::vector<NextCommand> next;
};

/// Builds the whole report. Sections without content are left out; what could not be measured is
/// its own section.
Document compose(const Run& run, const model::Analysis& analysis, const RenderOptions& options);

}  // namespace scaleworth::report
