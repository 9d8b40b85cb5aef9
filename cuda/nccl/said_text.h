// SPDX-License-Identifier: Apache-2.0
/// What a process learned in the warm-up, on its way to rank 0.
#pragma once

#include "cuda/nccl/plugins/plugin_desk.h"
#include "src/core/units.h"

#include <string>

namespace scaleworth::gpu {

struct WarmUpNews {
  NcclSaid said;
  Seconds operation;  // slowest of the process's ranks; 0: none of its ranks took part
};

std::string news_text(const WarmUpNews& news);
/// Throws ProbeFailure for anything else than such a text.
WarmUpNews news_of(const std::string& text);

/// Samples as bytes of the doubles: processes of one job run on one kind of machine.
std::string samples_text(const std::vector<double>& samples);
std::vector<double> samples_of(const std::string& text);

/// Makes each element the larger one; an empty vector of a rank that slept changes nothing. Throws
/// ProbeFailure when the lengths differ.
void take_slowest(std::vector<double>& slowest, const std::vector<double>& other);

}  // namespace scaleworth::gpu
