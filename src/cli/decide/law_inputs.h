// SPDX-License-Identifier: Apache-2.0
/// What the user knows beside a scaling table, for laws that ask for it.
#pragma once

#include "src/cli/decide/decide.h"
#include "src/model/decide/laws/further_laws.h"

namespace scaleworth::cli {

/// Throws UserError where a part of a law's inputs is missing.
decide::LawInputs law_inputs(const DecideOptions& options);

}  // namespace scaleworth::cli
