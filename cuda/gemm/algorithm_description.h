// SPDX-License-Identifier: Apache-2.0
/// An algorithm of cuBLASLt in words.
#pragma once

#include "cuda/libraries/cublas_lt.h"

#include <string>

namespace scaleworth::gpu {

/// "algorithm 66, tile 128x256, stages 64 x auto, cluster 2x1, split-k 1, ...": every setting of the
/// configuration that can be asked for and is not its default.
std::string describe_algorithm(const CublasLt& library, const cublasLtMatmulAlgo_t& algorithm);

/// "128x256"; "id 570" for tiles that are rarely used.
std::string tile_name(int tile);
/// "64 x 4", "64 x auto".
std::string stages_name(int stages);
/// "2x1", "auto".
std::string cluster_name(int cluster);

}  // namespace scaleworth::gpu
