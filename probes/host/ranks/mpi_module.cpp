// SPDX-License-Identifier: Apache-2.0
/// The only translation unit that includes mpi.h: thin C functions over MPI 3, built as a shared
/// object of its own.
#include "probes/host/ranks/mpi_module.h"

#include <array>
#include <climits>
#include <cstdio>
#include <cstring>
#include <vector>

#include <mpi.h>

namespace scaleworth::probes::host {
namespace {
constexpr int success = 0;
constexpr int failure = 1;
constexpr int tag = 7;  // any: communicators are our own

using Message = std::array<char, MPI_MAX_ERROR_STRING + 128>;  // and what was being done

// A C interface has nowhere else to keep the text of its last error.
Message& message() {
  static Message text{};
  return text;
}

int check(int code, const char* function) {
  if (code == MPI_SUCCESS) return success;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  std::snprintf(message().data(), message().size(), "%s: %s", function, text.data());
  return failure;
}

// MPI 3 counts are int. Nothing here sends 2 GiB blocks, so more is refused instead of cut.
bool fits(std::size_t count, const char* function) {
  if (count <= static_cast<std::size_t>(INT_MAX)) return true;
  std::snprintf(message().data(),
                message().size(),
                "%s: a count of %zu exceeds the limit of MPI 3 (2^31 - 1); use smaller messages",
                function,
                count);
  return false;
}

/// Calls `call` with `count` as MPI takes it.
template <class Call>
int counted(std::size_t count, const char* function, const Call& call) {
  return fits(count, function) ? check(call(static_cast<int>(count)), function) : failure;
}

// NOLINTBEGIN(bugprone-sizeof-expression): the size of the handle is meant, not of what it names.
// Handles are int in some MPI libraries and pointers in others; both fit into a pointer.
template <class Handle>
void* to_opaque(Handle handle, Handle null) {
  static_assert(sizeof(Handle) <= sizeof(void*));
  if (handle == null) return nullptr;
  void* opaque = nullptr;
  std::memcpy(&opaque, &handle, sizeof(handle));
  return opaque;
}

template <class Handle>
Handle from_opaque(void* opaque, Handle null) {
  if (opaque == nullptr) return null;
  Handle handle = null;
  std::memcpy(&handle, &opaque, sizeof(handle));
  return handle;
}
// NOLINTEND(bugprone-sizeof-expression)

MPI_Comm comm(MpiGroup group) {
  return from_opaque<MPI_Comm>(group, MPI_COMM_NULL);
}

const char* library_version() {
  static std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text.data();
}

const char* last_error() {
  return message().data();
}

int init() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) {
    int provided = MPI_THREAD_SINGLE;
    const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    if (check(code, "MPI_Init_thread") != success) return failure;
    if (provided < MPI_THREAD_FUNNELED) {
      std::snprintf(message().data(), message().size(), "MPI was built without thread support");
      return failure;
    }
  }
  return check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
               "MPI_Comm_set_errhandler");
}

int finalize() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0 ? success : check(MPI_Finalize(), "MPI_Finalize");
}

void abort_job(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
}

MpiGroup world() {
  return to_opaque<MPI_Comm>(MPI_COMM_WORLD, MPI_COMM_NULL);
}

int rank(MpiGroup group) {
  int value = 0;
  MPI_Comm_rank(comm(group), &value);
  return value;
}

int size(MpiGroup group) {
  int value = 0;
  MPI_Comm_size(comm(group), &value);
  return value;
}

int node_size(MpiGroup group) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm(group), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  if (node == MPI_COMM_NULL) return 1;
  int value = 1;
  MPI_Comm_size(node, &value);
  MPI_Comm_free(&node);
  return value;
}

MpiGroup prefix(MpiGroup parent, int count) {
  const int own = rank(parent);
  MPI_Comm part = MPI_COMM_NULL;
  const int code = MPI_Comm_split(comm(parent), own < count ? 0 : MPI_UNDEFINED, own, &part);
  if (check(code, "MPI_Comm_split") != success || part == MPI_COMM_NULL) return nullptr;
  MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN);
  return to_opaque<MPI_Comm>(part, MPI_COMM_NULL);
}

void release(MpiGroup group) {
  MPI_Comm part = comm(group);
  if (part != MPI_COMM_NULL && part != MPI_COMM_WORLD) MPI_Comm_free(&part);
}

int barrier(MpiGroup group) {
  return check(MPI_Barrier(comm(group)), "MPI_Barrier");
}

int all_reduce_f32(MpiGroup group, const float* send, float* receive, std::size_t count) {
  return counted(count, "MPI_Allreduce", [&](int n) {
    return MPI_Allreduce(send, receive, n, MPI_FLOAT, MPI_SUM, comm(group));
  });
}

int all_reduce_max_f64(MpiGroup group, const double* send, double* receive, std::size_t count) {
  return counted(count, "MPI_Allreduce", [&](int n) {
    return MPI_Allreduce(send, receive, n, MPI_DOUBLE, MPI_MAX, comm(group));
  });
}

int all_gather_bytes(MpiGroup group, const void* send, void* receive, std::size_t bytes) {
  return counted(bytes, "MPI_Allgather", [&](int n) {
    return MPI_Allgather(send, n, MPI_BYTE, receive, n, MPI_BYTE, comm(group));
  });
}

int reduce_scatter_f32(MpiGroup group, const float* send, float* receive, std::size_t count) {
  return counted(count, "MPI_Reduce_scatter_block", [&](int n) {
    return MPI_Reduce_scatter_block(send, receive, n, MPI_FLOAT, MPI_SUM, comm(group));
  });
}

int all_to_all_bytes(MpiGroup group, const void* send, void* receive, std::size_t bytes) {
  return counted(bytes, "MPI_Alltoall", [&](int n) {
    return MPI_Alltoall(send, n, MPI_BYTE, receive, n, MPI_BYTE, comm(group));
  });
}

int broadcast_bytes(MpiGroup group, void* buffer, std::size_t bytes, int root) {
  return counted(
      bytes, "MPI_Bcast", [&](int n) { return MPI_Bcast(buffer, n, MPI_BYTE, root, comm(group)); });
}

int send_receive_bytes(
    MpiGroup group, const void* send, int to, void* receive, int from, std::size_t bytes) {
  if (!fits(bytes, "MPI_Sendrecv")) return failure;
  const int count = static_cast<int>(bytes);
  // Open MPI refuses a null buffer of a half that is left out unless its count is zero.
  return check(MPI_Sendrecv(send,
                            to < 0 ? 0 : count,
                            MPI_BYTE,
                            to < 0 ? MPI_PROC_NULL : to,
                            tag,
                            receive,
                            from < 0 ? 0 : count,
                            MPI_BYTE,
                            from < 0 ? MPI_PROC_NULL : from,
                            tag,
                            comm(group),
                            MPI_STATUS_IGNORE),
               "MPI_Sendrecv");
}

int gather_bytes(MpiGroup group,
                 const void* send,
                 std::size_t bytes,
                 void* receive,
                 const std::size_t* bytes_of_rank) {
  std::vector<int> counts;
  std::vector<int> offsets;
  std::size_t total = bytes;
  if (rank(group) == 0) {
    total = 0;
    for (int r = 0; r < size(group) && fits(total + bytes_of_rank[r], "MPI_Gatherv"); ++r) {
      counts.push_back(static_cast<int>(bytes_of_rank[r]));
      offsets.push_back(static_cast<int>(total));
      total += bytes_of_rank[r];
    }
    if (counts.size() < static_cast<std::size_t>(size(group))) return failure;
  }
  if (!fits(total, "MPI_Gatherv")) return failure;
  return check(MPI_Gatherv(send,
                           static_cast<int>(bytes),
                           MPI_BYTE,
                           receive,
                           counts.data(),
                           offsets.data(),
                           MPI_BYTE,
                           0,
                           comm(group)),
               "MPI_Gatherv");
}

// NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): starting and waiting are two calls of the
// user.
int start_barrier(MpiGroup group, MpiRequest* request) {
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Ibarrier(comm(group), &started);
  *request = to_opaque<MPI_Request>(started, MPI_REQUEST_NULL);
  return check(code, "MPI_Ibarrier");
}

int start_all_reduce_f32(
    MpiGroup group, const float* send, float* receive, std::size_t count, MpiRequest* request) {
  *request = nullptr;
  if (!fits(count, "MPI_Iallreduce")) return failure;
  MPI_Request started = MPI_REQUEST_NULL;
  const int code = MPI_Iallreduce(
      send, receive, static_cast<int>(count), MPI_FLOAT, MPI_SUM, comm(group), &started);
  *request = to_opaque<MPI_Request>(started, MPI_REQUEST_NULL);
  return check(code, "MPI_Iallreduce");
}

int test(MpiRequest* request, int* done) {
  MPI_Request pending = from_opaque<MPI_Request>(*request, MPI_REQUEST_NULL);
  const int code = MPI_Test(&pending, done, MPI_STATUS_IGNORE);
  *request = to_opaque<MPI_Request>(pending, MPI_REQUEST_NULL);
  return check(code, "MPI_Test");
}

int wait(MpiRequest* request) {
  MPI_Request pending = from_opaque<MPI_Request>(*request, MPI_REQUEST_NULL);
  const int code = MPI_Wait(&pending, MPI_STATUS_IGNORE);
  *request = to_opaque<MPI_Request>(pending, MPI_REQUEST_NULL);
  return check(code, "MPI_Wait");
}
// NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker)

constexpr MpiModule table{.abi = mpi_module_abi,
                          .library_version = library_version,
                          .last_error = last_error,
                          .init = init,
                          .finalize = finalize,
                          .abort = abort_job,
                          .world = world,
                          .rank = rank,
                          .size = size,
                          .node_size = node_size,
                          .prefix = prefix,
                          .release = release,
                          .barrier = barrier,
                          .all_reduce_f32 = all_reduce_f32,
                          .all_reduce_max_f64 = all_reduce_max_f64,
                          .all_gather_bytes = all_gather_bytes,
                          .reduce_scatter_f32 = reduce_scatter_f32,
                          .all_to_all_bytes = all_to_all_bytes,
                          .broadcast_bytes = broadcast_bytes,
                          .send_receive_bytes = send_receive_bytes,
                          .gather_bytes = gather_bytes,
                          .start_barrier = start_barrier,
                          .start_all_reduce_f32 = start_all_reduce_f32,
                          .test = test,
                          .wait = wait};
}  // namespace
}  // namespace scaleworth::probes::host

extern "C" __attribute__((visibility("default"))) const scaleworth::probes::host::MpiModule*
scaleworth_mpi_module() {
  return &scaleworth::probes::host::table;
}
