// SPDX-License-Identifier: Apache-2.0
/// The answers to the questions of probes/gpu/device.h, one function each, on a workbench whose GPU
/// is current. They throw gpu::Error for a failed call, besides what the questions say.
#pragma once

#include "cuda/device/workbench.h"
#include "probes/gpu/device.h"

namespace scaleworth::gpu {

/// Chains on the CUDA cores: fp64, fp32, fp16, bf16. An operation is one launch of about 1 ms.
/// The end values of shorter chains are compared with the host's, bit by bit.
probes::DeviceMeasured time_cuda_cores(Workbench& bench,
                                       probes::NumberFormat format,
                                       const probes::Target& target);

/// mma.sync on registers: fp64, tf32, bf16, fp16, int8. Checked with constant operands.
probes::DeviceMeasured time_tensor_cores(Workbench& bench,
                                         probes::NumberFormat format,
                                         const probes::Target& target);

/// Scope device. An operation is one walk over the working set. Results are checked: copy, triad
/// and write by samples, read by its sum.
probes::DeviceMeasured time_device_stream(Workbench& bench,
                                          const probes::StreamWork& work,
                                          const probes::Target& target);

/// Scopes multiprocessor and shared, read only; an operation is one walk of all multiprocessors,
/// each over its own working set. Sums are checked.
probes::DeviceMeasured time_multiprocessor_read(Workbench& bench,
                                                const probes::StreamWork& work,
                                                const probes::Target& target);

/// An operation is one load. That the chain goes where it should is checked.
probes::DeviceMeasured time_chase(Workbench& bench,
                                  const probes::ChaseWork& work,
                                  const probes::Target& target);

/// An operation is one walk over the working set. Samples are compared with the host's chain, bit
/// by bit.
probes::DeviceMeasured time_ladder(Workbench& bench,
                                   const probes::LadderWork& work,
                                   const probes::Target& target);

/// An operation is one transfer, both ways at once if asked so. What arrived is checked by samples.
probes::DeviceMeasured time_transfer(Workbench& bench,
                                     const probes::TransferWork& work,
                                     const probes::Target& target);

/// An operation is one launch.
probes::DeviceMeasured time_launch(Workbench& bench,
                                   probes::LaunchKind kind,
                                   const probes::Target& target);

}  // namespace scaleworth::gpu
