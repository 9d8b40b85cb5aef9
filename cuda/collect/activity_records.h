// SPDX-License-Identifier: Apache-2.0
/// CUPTI's records as plain values.
#pragma once

#include "cuda/collect/activity.h"

#include <cupti.h>

namespace scaleworth::gpu {

/// Adds what `record` says; one that carries no times counts as dropped, one of another kind is
/// passed over.
void add_record(const CUpti_Activity& record, RecordedActivities& recorded);

}  // namespace scaleworth::gpu
