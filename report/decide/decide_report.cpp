// SPDX-License-Identifier: Apache-2.0
#include "report/decide/decide_report.h"

#include "report/decide/decide_view.h"
#include "report/tell_document.h"

namespace scaleworth::report {
std::string render_decision(const decide::Decision& decision,
                            Format format,
                            const DecideReportOptions& options) {
  DecideReportOptions complete = options;
  complete.details = true;
  const DecideView whole{decision, complete};
  const DecideView asked{decision, options};
  return tell_document({[&] { return compose_decision(asked); },
                        [&] { return compose_decision(whole); },
                        [&] { return decision_json(whole); },
                        [&] { return decision_charts(whole); },
                        {"count", "from", "to", "regime", "part", "law", "parameter", "input"}},
                       {format, options.colour, options.width, options.details, options.currency});
}

}  // namespace scaleworth::report
