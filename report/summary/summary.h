// SPDX-License-Identifier: Apache-2.0
/// The report on one page: the numbers that decide, without the tables behind them.
#pragma once

#include "report/document.h"

namespace scaleworth::report {

/// The document with its sections replaced by a summary: sections without title whose tables carry
/// their subject in the first header. What needs more room is counted and the command that shows it
/// is the next one.
Document summarise(const Run& run, const model::Analysis& analysis, const RenderOptions& options);

}  // namespace scaleworth::report
