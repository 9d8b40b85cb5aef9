// SPDX-License-Identifier: Apache-2.0
#include "src/cli/mfu/telling.h"

#include "src/cli/colour.h"

namespace scaleworth::cli {

report::Telling telling_of(const MfuOptions& options) {
  report::Telling telling;
  telling.format = report::parse_format(options.format);
  telling.colour = colour_wanted();
  telling.details = options.details;
  telling.currency = options.currency;
  return telling;
}

}  // namespace scaleworth::cli
