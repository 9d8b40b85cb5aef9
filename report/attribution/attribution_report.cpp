// SPDX-License-Identifier: Apache-2.0
#include "report/attribution/attribution_report.h"

#include "report/attribution/attribution_charts.h"
#include "report/attribution/attribution_document.h"
#include "report/tell_document.h"

namespace scaleworth::report {

std::string render_attribution(const attribution::Attribution& attribution,
                               Format format,
                               const AttributionOptions& options) {
  const AttributionView view{attribution, options, average(attribution)};
  const auto document = [&] {
    return options.details ? compose_attribution(view) : summarise_attribution(view);
  };
  return tell_document({document,
                        [&] { return compose_attribution(view); },
                        [&] { return attribution_json(view); },
                        [&] { return attribution_charts(view); },
                        {"step",
                         "rank",
                         "waited_for",
                         "part",
                         "cause",
                         "class",
                         "kind",
                         "way",
                         "group",
                         "index",
                         "what"}},
                       {format, options.colour, options.width, options.details});
}

}  // namespace scaleworth::report
