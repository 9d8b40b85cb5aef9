// SPDX-License-Identifier: Apache-2.0
/// The version number that CUDA's libraries share: 10000 major + 100 minor + patch.
#pragma once

#include <cstdint>
#include <string>

namespace scaleworth::gpu {

/// "2.28.9" of 22809.
std::string version_text(std::int64_t version);

}  // namespace scaleworth::gpu
