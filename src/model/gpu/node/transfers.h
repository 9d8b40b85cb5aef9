// SPDX-License-Identifier: Apache-2.0
/// Transfers between this node's memory and its GPUs: latency, plateau, and their share of the
/// link.
#pragma once

#include "src/core/run/record.h"
#include "src/model/gpu/gpu_analysis.h"

#include <optional>
#include <string>
#include <vector>

namespace scaleworth::model {

/// A link between two ends and its raw rate in one direction.
struct RawLink {
  BytesPerSecond rate;
  std::string name;  // "PCIe", "18 NVLinks"
};

/// Host to GPU: the GPU's PCIe link. GPU to GPU: by the run's section "gpu links", its NVLinks at
/// the recorded speed (else half of what the datasheet counts for both directions), or PCIe.
/// Absent within one GPU, without peer access, and where the facts do not tell.
std::optional<RawLink> link_between(const Run& run,
                                    const std::string& source,
                                    const std::string& target,
                                    const GpuIdentity& gpu);

/// What the GPU's PCIe link lacks: GPU and slot can do more (facts pcie_generation, pcie_width)
/// than the highest that any point of `probe` saw while bytes moved. Absent when it lacks nothing,
/// and without readings.
std::optional<std::string> lowered_pcie_link(const Run& run, const ProbeRecord& probe, int ordinal);

/// One entry per (source, target, engine, directions, alone or together) of roofline.gpu.transfer,
/// by engine and ends. T(n) = alpha + n beta by relative error from three sizes on
/// (n: bytes of one direction; alpha, beta >= 0); rates count all directions.
/// Throws UserError when a point lacks a parameter, an amount or a series.
std::vector<GpuTransfer> transfers_of(const Run& run,
                                      const ProbeRecord& probe,
                                      const GpuIdentity& gpu);

}  // namespace scaleworth::model
