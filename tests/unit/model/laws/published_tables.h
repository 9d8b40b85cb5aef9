// SPDX-License-Identifier: Apache-2.0
/// Published scaling tables as series of the time of the same work.
#pragma once

#include "src/model/laws/contention_law.h"

#include <string>
#include <vector>

namespace scaleworth::model::published {

/// One system in variants; each series ascends by count, one point per count.
struct DataSet {
  std::string name;
  bool weak = false;
  std::vector<std::vector<TimePoint>> series;
};

/// Every table with a system at three counts or more. Not among them: tables whose rows are other
/// models or layouts, not other counts (NeMo, Llama 3, Korthikanti, PaLM), MaxText on v5p (no model
/// at three sizes) and the collectives. Empty, with the reason on the output (ctest then shows the
/// case as skipped), without the tables.
std::vector<DataSet> data_sets();

/// One of them; no series without the tables.
DataSet data_set(const std::string& name);

}  // namespace scaleworth::model::published
