// SPDX-License-Identifier: Apache-2.0
/// How the flags of `scaleworth mfu` want a report told.
#pragma once

#include "report/tell_document.h"
#include "src/cli/mfu/mfu.h"

namespace scaleworth::cli {

/// Throws UserError for a format that is not known.
report::Telling telling_of(const MfuOptions& options);

}  // namespace scaleworth::cli
