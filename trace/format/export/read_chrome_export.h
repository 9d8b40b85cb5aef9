// SPDX-License-Identifier: Apache-2.0
/// Reads back what ChromeWriter wrote: a Kineto file for each rank, in one.
#pragma once

#include "trace/classify/rules.h"
#include "trace/format/input/byte_source.h"
#include "trace/timeline/recording.h"

#include <string_view>
#include <vector>

namespace scaleworth::trace {

/// True for the front of a file that ChromeWriter wrote.
bool is_chrome_export(std::string_view front);

/// One recording per exported rank. The file is held in memory. Throws UserError when it was
/// changed so that it no longer has one event a line.
std::vector<Recording> read_chrome_export(ByteSource& source, const RuleTable& rules);

}  // namespace scaleworth::trace
