// SPDX-License-Identifier: Apache-2.0
#include "src/cli/tell.h"

#include "report/report.h"
#include "src/model/analyse.h"

#include <cstdlib>

#include <unistd.h>

namespace scaleworth::cli {
namespace {

/// Colour only on a terminal that did not ask for none (no-color.org: set and not empty).
bool colour_wanted() {
  const char* no_colour = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace

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
