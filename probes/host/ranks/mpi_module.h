// SPDX-License-Identifier: Apache-2.0
/// The C interface of the small module that is linked with MPI and opened at run time, so that the
/// program itself starts on machines without MPI.
#pragma once

#include <cstddef>

namespace scaleworth::probes::host {
/// Bumped on every change of MpiModule; the loader refuses another number.
inline constexpr int mpi_module_abi = 1;
/// A function without arguments that returns the module's `const MpiModule*`.
inline constexpr const char* mpi_module_symbol = "scaleworth_mpi_module";

/// Opaque handles: a communicator, an operation in flight.
using MpiGroup = void*;
using MpiRequest = void*;

/// Every int result is 0 on success; otherwise `last_error` describes it. Buffers are raw memory;
/// counts are elements of the type in the name, or bytes where the name says so; a count beyond
/// 2^31 - 1 is refused. `rank`, `size` and `node_size` return their number. One thread calls.
struct MpiModule {
  int abi;
  const char* (*library_version)();
  const char* (*last_error)();
  int (*init)();  // MPI_THREAD_FUNNELED, errors returned rather than fatal
  int (*finalize)();
  void (*abort)(int exit_code);  // ends every rank of the job
  MpiGroup (*world)();
  int (*rank)(MpiGroup);
  int (*size)(MpiGroup);
  /// Ranks that share this rank's memory (one node). Collective over the group.
  int (*node_size)(MpiGroup);
  /// Group of ranks 0..count-1 of `parent`; null on the others. Collective over `parent`.
  MpiGroup (*prefix)(MpiGroup parent, int count);
  void (*release)(MpiGroup);

  int (*barrier)(MpiGroup);
  int (*all_reduce_f32)(MpiGroup, const float* send, float* receive, std::size_t count);  // sum
  int (*all_reduce_max_f64)(MpiGroup, const double* send, double* receive, std::size_t count);
  int (*all_gather_bytes)(MpiGroup, const void* send, void* receive, std::size_t bytes_per_rank);
  int (*reduce_scatter_f32)(MpiGroup,
                            const float* send,
                            float* receive,
                            std::size_t count_per_rank);
  int (*all_to_all_bytes)(MpiGroup, const void* send, void* receive, std::size_t bytes_per_pair);
  int (*broadcast_bytes)(MpiGroup, void* buffer, std::size_t bytes, int root);
  /// Sends to `to` and receives from `from` at once; a negative rank leaves that half out.
  int (*send_receive_bytes)(
      MpiGroup, const void* send, int to, void* receive, int from, std::size_t bytes);
  /// Concatenates blocks of differing size on rank 0; `receive` and `bytes_of_rank` matter there
  /// only.
  int (*gather_bytes)(MpiGroup,
                      const void* send,
                      std::size_t bytes,
                      void* receive,
                      const std::size_t* bytes_of_rank);

  int (*start_barrier)(MpiGroup, MpiRequest*);
  int (*start_all_reduce_f32)(
      MpiGroup, const float* send, float* receive, std::size_t count, MpiRequest*);  // sum
  /// Sets *done to 1 and frees the request once complete. Drives progress of everything in flight.
  int (*test)(MpiRequest*, int* done);
  int (*wait)(MpiRequest*);
};
}  // namespace scaleworth::probes::host
