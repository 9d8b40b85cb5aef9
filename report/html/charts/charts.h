// SPDX-License-Identifier: Apache-2.0
/// Charts as Vega-Lite specifications: data and grammar, no drawing.
#pragma once

#include "report/json/parts.h"
#include "report/report.h"

#include <string>
#include <vector>

namespace scaleworth::report {

struct Chart {
  std::string id;
  std::string section;      // whose tables it stands beside
  std::string title;        // states what the picture says
  std::string how_to_read;  // axes and marks in one or two sentences
  Json spec;                // null: no picture, `missing` says why
  std::string missing;
};

/// Every chart of the report in page order. A chart without data has a reason instead.
std::vector<Chart> make_charts(const model::Analysis& analysis, const RenderOptions& options);

}  // namespace scaleworth::report
