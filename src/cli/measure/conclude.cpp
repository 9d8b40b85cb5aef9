// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/conclude.h"

#include "src/cli/exit_code.h"
#include "src/cli/tell.h"
#include "src/core/error.h"

#include <string>

#include <fmt/format.h>

namespace scaleworth::cli {

int conclude(Session& session,
             const TellOptions& tell_options,
             const std::optional<Interrupted>& interruption) {
  session.write_report(tell_options);
  session.close(interruption ? interruption->what() : "");
  fmt::print("{}", tell(session.run(), tell_options, session.directory()));
  if (!interruption) return session.exit_code();
  fmt::print(stderr,
             "scaleworth: {}; what was measured is kept in {}\n",
             interruption->what(),
             session.directory());
  return exit_interrupted(interruption->signal());
}

}  // namespace scaleworth::cli
