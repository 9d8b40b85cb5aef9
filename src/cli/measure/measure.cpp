// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/measure.h"

#include "src/cli/measure/as_parent.h"
#include "src/cli/measure/as_rank.h"
#include "src/core/launch/launch_environment.h"

namespace scaleworth::cli {

int measure(const MeasureOptions& options, const std::vector<std::string>& arguments) {
  const LaunchEnvironment launch = detect_launch(launch_variables());
  if (launch.launcher == Launcher::none || options.dry_run)
    return measure_as_parent(options, arguments);
  return measure_as_rank(options, arguments, launch);
}

}  // namespace scaleworth::cli
