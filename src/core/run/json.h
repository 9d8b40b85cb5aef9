// SPDX-License-Identifier: Apache-2.0
/// A run as the text of run.json and back; docs/run.schema.json describes that text.
#pragma once

#include "src/core/run/record.h"

#include <string>
#include <string_view>

namespace scaleworth {

/// The text of run.json, ending in a newline: one line per fact and per point. Absent values and
/// empty reasons are null. Bytes that are no UTF-8 are replaced by U+FFFD.
/// Throws ProbeFailure naming the place of a number that is NaN or infinite.
std::string run_to_json(const Run& run);

/// The run in `text`. Unknown members are ignored; statistics are not in it.
/// Throws UserError, one line with `where` (the file name), position and remedy, for text that is
/// no such run: malformed, of wrong types, with a member missing, or of a newer schema version.
Run run_from_json(std::string_view text, const std::string& where);

/// Throws ProbeFailure naming the first NaN or infinity in the point. Call it before a point is
/// kept: one bad number would make the whole run unwritable.
void require_finite(const Point& point);

}  // namespace scaleworth
