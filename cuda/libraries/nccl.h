// SPDX-License-Identifier: Apache-2.0
/// NCCL's functions, opened at run time.
#pragma once

#include "cuda/libraries/library.h"

#include <nccl.h>

namespace scaleworth::gpu {
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

  decltype(&ncclMemAlloc) memory_allocate = take("ncclMemAlloc");                            // 2.19
  decltype(&ncclMemFree) memory_free = take("ncclMemFree");                                  // 2.19
  decltype(&ncclCommRegister) register_buffer = take("ncclCommRegister");                    // 2.19
  decltype(&ncclCommDeregister) deregister_buffer = take("ncclCommDeregister");              // 2.19
  decltype(&ncclCommWindowRegister) register_window = take("ncclCommWindowRegister");        // 2.27
  decltype(&ncclCommWindowDeregister) deregister_window = take("ncclCommWindowDeregister");  // 2.27
  decltype(&ncclAlltoAll) all_to_all = take("ncclAlltoAll");                                 // 2.28
  decltype(&ncclGather) gather = take("ncclGather");                                         // 2.28
  decltype(&ncclScatter) scatter = take("ncclScatter");                                      // 2.28

  /// Of a failure that has just happened.
  std::string words(ncclResult_t status) const;
};

/// Version 2.18 or later, the first with ncclCommSplit. Skipped or Failed as `open_library` says.
Outcome<std::shared_ptr<const Nccl>> open_nccl(const std::string& user_path,
                                               const SearchScope& scope = {});
}  // namespace scaleworth::gpu
