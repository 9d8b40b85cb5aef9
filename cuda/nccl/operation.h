// SPDX-License-Identifier: Apache-2.0
/// One collective as NCCL calls, on buffers of fp32 elements.
#pragma once

#include "cuda/nccl/communicator.h"
#include "probes/collectives/message.h"

#include <cuda_runtime_api.h>

namespace scaleworth::gpu {

struct CollectiveBuffers {
  float* send = nullptr;
  float* receive = nullptr;
};

/// Both buffers within one of max(send, receive) elements, as NCCL defines in place: the same
/// address, or the rank's own block of the larger one. Throws NothingToMeasure for all_to_all and
/// send_receive, which have no such form.
CollectiveBuffers in_place_buffers(probes::Collective collective,
                                   const probes::MessageShape& shape,
                                   float* memory,
                                   int rank);

/// Enqueues it once on `stream`. Rank 0 is the root; send_receive goes round a ring. all_to_all,
/// gather and scatter are grouped sends and receives before NCCL 2.28. Throws LibraryError.
void enqueue(probes::Collective collective,
             const probes::MessageShape& shape,
             const CollectiveBuffers& buffers,
             const Communicator& communicator,
             cudaStream_t stream);

}  // namespace scaleworth::gpu
