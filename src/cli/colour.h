// SPDX-License-Identifier: Apache-2.0
/// Whether what goes to stdout may be coloured.
#pragma once

namespace scaleworth::cli {

/// Colour only on a terminal that did not ask for none (no-color.org: set and not empty).
bool colour_wanted();

}  // namespace scaleworth::cli
