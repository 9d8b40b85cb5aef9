// SPDX-License-Identifier: Apache-2.0
#include "src/cli/application.h"
#include "src/cli/commands.h"
#include "src/cli/flags.h"
#include "src/cli/measure/session.h"
#include "src/core/error.h"
#include "src/core/process.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

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

int conclude(Session& session,
             const ReportOptions& options,
             const std::optional<Interrupted>& interruption) {
  session.write_report(options);
  session.close(interruption ? interruption->what() : "");
  fmt::print("{}", render_run(session.run(), options, session.directory()));
  if (!interruption) return session.exit_code();
  fmt::print(stderr,
             "scaleworth: {}; what was measured is kept in {}\n",
             interruption->what(),
             session.directory());
  return exit_interrupted(interruption->signal());
}
}  // namespace scaleworth::cli
