// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts/charts.h"

namespace scaleworth::report {

std::vector<Chart> make_charts(const model::Analysis& analysis, const RenderOptions& options) {
  static_cast<void>(analysis);
  static_cast<void>(options);
  return {};
}

}  // namespace scaleworth::report
