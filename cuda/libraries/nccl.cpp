// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/nccl.h"

#include "cuda/libraries/library.h"

#include <type_traits>

#include <fmt/format.h>

namespace scaleworth::gpu {
namespace {
// The library that is opened need not be the header's version: these are what both sides must
// share.
static_assert(sizeof(ncclUniqueId) == 128);
static_assert(ncclInt8 == 0 && ncclFloat32 == 7 && ncclBfloat16 == 9);
static_assert(ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3 && ncclAvg == 4);
static_assert(ncclInProgress == 7);
static_assert(std::is_same_v<decltype(&ncclAllReduce),
                             ncclResult_t (*)(const void* source,
                                              void* target,
                                              std::size_t count,
                                              ncclDataType_t,
                                              ncclRedOp_t,
                                              ncclComm_t,
                                              cudaStream_t)>);
static_assert(std::is_same_v<
              decltype(&ncclCommInitRankConfig),
              ncclResult_t (*)(ncclComm_t*, int ranks, ncclUniqueId, int rank, ncclConfig_t*)>);

const LibraryNames& names() {
  static const LibraryNames entry{"NCCL",
                                  "--nccl-lib",
                                  "pip's nvidia-nccl-cu13 or the package libnccl2",
                                  {"libnccl.so.2", "libnccl.so"},
                                  {"nccl/lib"},
                                  {"lib64", "lib"}};
  return entry;
}

void read_version(const SharedLibrary& library, Nccl& table) {
  library.need(table.get_version, "ncclGetVersion");
  if (table.get_version(&table.version_number) != ncclSuccess) {
    throw UnusableLibrary("ncclGetVersion fails");
  }
  constexpr int oldest = 21800;
  table.version = version_text(table.version_number);
  // Before 2.9 the number had one digit less for the major version.
  if (table.version_number < oldest) {
    throw UnusableLibrary(fmt::format(
        "version number {} is too old, {} is needed", table.version_number, version_text(oldest)));
  }
}

void fill_always(const SharedLibrary& library, Nccl& table) {
  library.need(table.error_words, "ncclGetErrorString");
  library.need(table.last_error, "ncclGetLastError");
  library.need(table.get_unique_id, "ncclGetUniqueId");
  library.need(table.init_rank, "ncclCommInitRank");
  library.need(table.init_rank_config, "ncclCommInitRankConfig");
  library.need(table.init_all, "ncclCommInitAll");
  library.need(table.split, "ncclCommSplit");
  library.need(table.finalize, "ncclCommFinalize");
  library.need(table.destroy, "ncclCommDestroy");
  library.need(table.abort, "ncclCommAbort");
  library.need(table.get_async_error, "ncclCommGetAsyncError");
  library.need(table.all_reduce, "ncclAllReduce");
  library.need(table.all_gather, "ncclAllGather");
  library.need(table.reduce_scatter, "ncclReduceScatter");
  library.need(table.broadcast, "ncclBroadcast");
  library.need(table.reduce, "ncclReduce");
  library.need(table.send, "ncclSend");
  library.need(table.receive, "ncclRecv");
  library.need(table.group_start, "ncclGroupStart");
  library.need(table.group_end, "ncclGroupEnd");
}

void fill_newer(const SharedLibrary& library, Nccl& table) {
  library.take(table.memory_allocate, "ncclMemAlloc");
  library.take(table.memory_free, "ncclMemFree");
  library.take(table.register_buffer, "ncclCommRegister");
  library.take(table.deregister_buffer, "ncclCommDeregister");
  library.take(table.group_simulate_end, "ncclGroupSimulateEnd");
  library.take(table.init_rank_scalable, "ncclCommInitRankScalable");
  library.take(table.window_register, "ncclCommWindowRegister");
  library.take(table.window_deregister, "ncclCommWindowDeregister");
  library.take(table.all_to_all, "ncclAlltoAll");
  library.take(table.gather, "ncclGather");
  library.take(table.scatter, "ncclScatter");
}

void fill(const SharedLibrary& library, Nccl& table) {
  read_version(library, table);
  fill_always(library, table);
  fill_newer(library, table);
}
}  // namespace

void Nccl::check(ncclResult_t status, std::source_location where) const {
  if (status == ncclSuccess) return;
  std::string words = error_words(status);
  // NCCL keeps the sentence that explains the last failure; the argument is unused by design.
  const char* detail = last_error(nullptr);
  if (detail != nullptr && *detail != '\0') words += fmt::format("; {}", detail);
  throw LibraryError("NCCL", words, static_cast<int>(status), where);
}

Outcome<std::shared_ptr<const Nccl>> open_nccl(const std::string& user_path,
                                               const SearchScope& scope) {
  return open_table<Nccl>(names(), user_path, scope, &fill);
}
}  // namespace scaleworth::gpu
