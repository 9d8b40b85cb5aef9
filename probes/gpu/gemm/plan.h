// SPDX-License-Identifier: Apache-2.0
/// Which matrix products are measured on a GPU, how thoroughly, and how long that takes.
#pragma once

#include "probes/gpu/gemm/search/algorithm_search.h"
#include "probes/gpu/gemm/search/settle.h"
#include "probes/gpu/registry.h"

#include <cstdint>
#include <vector>

namespace scaleworth::probes {

/// One number format as it is measured.
struct GemmFormat {
  NumberFormat input = NumberFormat::bf16;
  bool fast_accumulation = true;
};

/// quick: bf16 (fp16 where there is none), fp8, tf32 and fp32; standard: all that the compute
/// capability has, fp8 with fast and with precise accumulation where the two differ. The first is
/// the one by which GPUs are compared.
std::vector<GemmFormat> gemm_formats(Suite suite, int compute_capability);

/// How thoroughly one format is measured.
struct GemmEffort {
  SearchEffort reference;   // of the reference cube and the user's own products
  SearchEffort best_shape;  // of what the shape search found
  SearchEffort brief;       // of other shapes
  SettleRule settle;
  Seconds pause{1.0};  // before the burst
  Seconds steady{5.0};
  Seconds brief_steady{1.0};  // of the other cubes
  Seconds shape_search{10.0};
  std::size_t shape_trials = 40;
};

/// `leading`: a format that gets most of the time: 16-bit and the first fp8.
GemmEffort gemm_effort(Suite suite, bool leading);
bool is_leading(const GemmFormat& format);

/// The burst lasts this long: clocks fall within a few hundred milliseconds.
inline constexpr Seconds burst_time{0.1};
/// A product that lasts longer than this is left out of the cubes.
inline constexpr Seconds longest_product{0.1};

/// GPUs by kind (same name, multiprocessors and memory), by index, in the order of the node.
std::vector<std::vector<std::size_t>> device_kinds(const std::vector<DeviceDescription>& devices);
/// The first GPU of each kind.
std::vector<std::size_t> representative_devices(const std::vector<DeviceDescription>& devices);

/// Expected time of one format on one GPU, of one of the user's products, and of a short search.
Seconds format_time(const GemmEffort& effort, Suite suite);
Seconds own_product_time(const GemmEffort& effort);
Seconds search_time(const SearchEffort& effort);

}  // namespace scaleworth::probes
