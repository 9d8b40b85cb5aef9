// SPDX-License-Identifier: Apache-2.0
/// A document as one self-contained HTML file.
#pragma once

#include "report/document.h"
#include "report/html/charts/charts.h"

#include <string>
#include <vector>

namespace scaleworth::report {

/// Sections with their charts above their tables. `json` is the same report for programs, kept in
/// the page as <script type="application/json" id="scaleworth-report">.
std::string render_page(const Document& document,
                        const std::vector<Chart>& charts,
                        const std::string& json);

}  // namespace scaleworth::report
