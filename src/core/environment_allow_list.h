// SPDX-License-Identifier: Apache-2.0
/// The environment variables that can change a measurement, and no others: a run is made to be
/// shown, so the environment as a whole (tokens, passwords, paths) never enters it.
#pragma once

#include "src/core/run/record.h"

#include <string>
#include <string_view>
#include <vector>

namespace scaleworth {

/// Whether a variable of this name may be recorded: thread counts and placement (OMP_*, OPENBLAS_*,
/// ...), communication (NCCL_*), GPUs and their libraries (CUDA_*, CUBLAS_*, CUBLASLT_*, a few of
/// NVIDIA_*), ranks and their rendezvous. Names that smell of a secret (KEY, TOKEN, SECRET, PASS,
/// CREDENTIAL, AUTH) never, whatever their prefix.
bool may_record_variable(std::string_view name);

/// The section "environment_variables" of those `entries` ("NAME=value") that may be recorded, by
/// name; values beyond 1024 bytes are cut and end in "...".
FactSection allowed_variables(const std::vector<std::string>& entries);

/// The same of this process.
FactSection allowed_variables();

}  // namespace scaleworth
