// SPDX-License-Identifier: Apache-2.0
/// Failures of CUDA and NCCL whose reason is that memory is lacking.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace scaleworth::gpu {

/// Whether NCCL's result code and its sentence about the last failure say so: a failed CUDA or
/// system call (ncclUnhandledCudaError, ncclSystemError) that was to get memory of a GPU, of the
/// host, or shared between processes. The words are those of the warnings in NCCL's alloc.h and
/// shmutils.cc; other failures have the same codes.
bool tells_lack_of_memory(int code, std::string_view words);

/// Runs `action`, and throws OutOfMemory naming `who` for what it throws for lack of memory; other
/// exceptions pass.
void name_lack_of_memory(const std::string& who, const std::function<void()>& action);

}  // namespace scaleworth::gpu
