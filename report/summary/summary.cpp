// SPDX-License-Identifier: Apache-2.0
#include "report/summary/summary.h"

#include "report/sections/sections.h"
#include "report/summary/parts.h"
#include "report/summary/select.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace scaleworth::report {
namespace {

constexpr std::size_t most_findings = 6;

/// Findings that no table or verdict shows; how many more warnings there are; what has no result.
Section remarks_summary(const Run& run, const model::Analysis& analysis) {
  Section section{"remarks", "", {}, {}, {}};
  for (const auto& finding : analysis.findings) {
    if (!finding.doubt && !finding.restates && section.list.size() < most_findings) {
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
  const std::string directory = options.run_directory.empty() ? "RUN" : options.run_directory;
  document.next.insert(
      document.next.begin(),
      {"scaleworth report " + directory + " --details", "every section, table, doubt and warning"});
  return document;
}

}  // namespace scaleworth::report
