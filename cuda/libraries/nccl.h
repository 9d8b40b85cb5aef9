// SPDX-License-Identifier: Apache-2.0
/// NCCL's functions, opened at run time.
#pragma once

#include "cuda/libraries/library.h"

#include <memory>
#include <source_location>
#include <string>

#include <nccl.h>

namespace scaleworth::gpu {
/// Pointers of the first part are set; those of the second are null before the version named.
struct Nccl : OpenedLibrary {
  int version_number = 0;  // 10000 major + 100 minor + patch
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) error_words = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRank) init_rank = nullptr;
  decltype(&ncclCommInitRankConfig) init_rank_config = nullptr;
  decltype(&ncclCommInitAll) init_all = nullptr;
  decltype(&ncclCommSplit) split = nullptr;
  decltype(&ncclCommFinalize) finalize = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclCommGetAsyncError) get_async_error = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;

  // From 2.19
  decltype(&ncclMemAlloc) memory_allocate = nullptr;
  decltype(&ncclMemFree) memory_free = nullptr;
  decltype(&ncclCommRegister) register_buffer = nullptr;
  decltype(&ncclCommDeregister) deregister_buffer = nullptr;
  // From 2.22
  decltype(&ncclGroupSimulateEnd) group_simulate_end = nullptr;
  // From 2.23
  decltype(&ncclCommInitRankScalable) init_rank_scalable = nullptr;
  // From 2.27
  decltype(&ncclCommWindowRegister) window_register = nullptr;
  decltype(&ncclCommWindowDeregister) window_deregister = nullptr;
  // From 2.28
  decltype(&ncclAlltoAll) all_to_all = nullptr;
  decltype(&ncclGather) gather = nullptr;
  decltype(&ncclScatter) scatter = nullptr;

  /// Throws LibraryError naming the call site unless `status` is success. ncclInProgress, which a
  /// communicator that does not block returns, is no success: poll get_async_error before.
  void check(ncclResult_t status,
             std::source_location where = std::source_location::current()) const;
};

/// Version 2.18 or later, the first with ncclCommSplit. Skipped or Failed as `open_library` says.
Outcome<std::shared_ptr<const Nccl>> open_nccl(const std::string& user_path,
                                               const SearchScope& scope = {});
}  // namespace scaleworth::gpu
