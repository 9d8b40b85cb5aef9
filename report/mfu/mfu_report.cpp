// SPDX-License-Identifier: Apache-2.0
#include "report/mfu/mfu_report.h"

#include "report/mfu/mfu_view.h"
#include "report/tell_document.h"

namespace scaleworth::report {

std::string render_mfu(const model::TrainingRun& run,
                       const model::TrainingUse& use,
                       Format format,
                       const MfuReportOptions& options) {
  MfuReportOptions complete = options;
  complete.details = true;
  const MfuView whole{run, use, complete};
  const MfuView asked{run, use, options};
  return tell_document({[&] { return compose_mfu(asked); },
                        [&] { return compose_mfu(whole); },
                        [&] { return mfu_json(whole); },
                        [&] { return mfu_charts(whole); },
                        {"peak", "convention", "part", "tokens"}},
                       {format, options.colour, options.width, options.details, options.currency});
}

}  // namespace scaleworth::report
