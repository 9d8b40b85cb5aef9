// SPDX-License-Identifier: Apache-2.0
/// What a table says of its rows and of itself, as JSON.
#pragma once

#include "report/json/parts.h"
#include "src/model/decide/table/metrics.h"

namespace scaleworth::report {

/// Members of a row: Gustafson's fraction, layout, batch, price, power, latencies.
Json row_facts_json(const decide::DecisionRow& row);
/// "run", "step", "units of work".
const char* times_of_name(decide::TimeBasis basis);
/// "ranks", "nodes", "load".
const char* counts_of_name(decide::Axis axis);

}  // namespace scaleworth::report
