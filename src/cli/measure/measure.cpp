// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/measure.h"

#include "src/cli/measure/as_parent.h"
#include "src/cli/measure/as_rank.h"
#include "src/cli/measure/gpu/devices.h"
#include "src/cli/measure/gpu/on_devices.h"
#include "src/core/launch/launch_environment.h"

#include <optional>
#include <utility>

namespace scaleworth::cli {

int measure(const MeasureOptions& options, const std::vector<std::string>& arguments) {
  LaunchEnvironment launch;
  if (!options.dry_run) launch = detect_launch(launch_variables(), options.launch_flags);
  if (std::optional<ChosenDevices> chosen = choose_devices(options)) {
    return measure_on_devices(options, arguments, launch, std::move(*chosen));
  }
  if (launch.launcher == Launcher::none) return measure_as_parent(options, arguments);
  return measure_as_rank(options, arguments, launch);
}

}  // namespace scaleworth::cli
