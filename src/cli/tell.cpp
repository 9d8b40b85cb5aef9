// SPDX-License-Identifier: Apache-2.0
#include "src/cli/tell.h"

#include "report/report.h"
#include "src/cli/colour.h"
#include "src/model/analyse.h"

namespace scaleworth::cli {
std::string tell(const Run& run, const TellOptions& options, const std::string& directory) {
  report::RenderOptions render_options;
  render_options.colour = !options.plain && colour_wanted();
  render_options.assumptions = options.analysis_options();
  render_options.run_directory = directory;
  render_options.details = options.details;
  const model::Analysis analysis = model::analyse(run, render_options.assumptions);
  return report::render(run, analysis, report::parse_format(options.format), render_options);
}

}  // namespace scaleworth::cli
