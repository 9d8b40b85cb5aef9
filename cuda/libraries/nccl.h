// SPDX-License-Identifier: Apache-2.0
/// NCCL's functions, opened at run time.
#pragma once

#include "cuda/libraries/library.h"

#include <nccl.h>

namespace scaleworth::gpu {
// Of NCCL after 2.18, the oldest whose header this is built with: a test compares it with newer
// ones.
/// ncclGather and ncclScatter, 2.28.
using NcclRooted = ncclResult_t (*)(const void* source,
                                    void* target,
                                    std::size_t count,
                                    ncclDataType_t,
                                    int root,
                                    ncclComm_t,
                                    cudaStream_t);

/// Pointers that may be null name the version from which on they are set. For `check`
/// ncclInProgress, which a communicator that does not block returns, is no success: poll
/// get_async_error before.
struct Nccl : CheckedLibrary<Nccl, ncclResult_t> {
  static constexpr const char* name = "NCCL";
  decltype(&ncclGetErrorString) error_words = need("ncclGetErrorString");
  decltype(&ncclGetLastError) last_error = need("ncclGetLastError");
  decltype(&ncclGetUniqueId) get_unique_id = need("ncclGetUniqueId");
  decltype(&ncclCommInitRank) init_rank = need("ncclCommInitRank");
  decltype(&ncclCommInitRankConfig) init_rank_config = need("ncclCommInitRankConfig");
  decltype(&ncclCommAbort) abort = need("ncclCommAbort");
  decltype(&ncclCommGetAsyncError) get_async_error = need("ncclCommGetAsyncError");
  decltype(&ncclAllReduce) all_reduce = need("ncclAllReduce");
  decltype(&ncclAllGather) all_gather = need("ncclAllGather");
  decltype(&ncclReduceScatter) reduce_scatter = need("ncclReduceScatter");
  decltype(&ncclBroadcast) broadcast = need("ncclBroadcast");
  decltype(&ncclReduce) reduce = need("ncclReduce");
  decltype(&ncclSend) send = need("ncclSend");
  decltype(&ncclRecv) receive = need("ncclRecv");
  decltype(&ncclGroupStart) group_start = need("ncclGroupStart");
  decltype(&ncclGroupEnd) group_end = need("ncclGroupEnd");

  decltype(&ncclAllGather) all_to_all = take("ncclAlltoAll");  // 2.28, with the same arguments
  NcclRooted gather = take("ncclGather");                      // 2.28
  NcclRooted scatter = take("ncclScatter");                    // 2.28

  /// Of a failure that has just happened.
  std::string words(ncclResult_t status) const;
};

/// Version 2.18 or later, the first with ncclCommSplit. Skipped or Failed as `open_library` says.
Outcome<std::shared_ptr<const Nccl>> open_nccl(const std::string& user_path,
                                               const SearchScope& scope = {});
}  // namespace scaleworth::gpu
