// SPDX-License-Identifier: Apache-2.0
/// Ranks out of the names of files: "rank-3.json", "trace_rank12.json.gz", "worker7", "run_5.json".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace scaleworth::trace {

/// The number that follows "rank", "worker" or "gpu", or that ends the name before its extensions;
/// "worker" as torch.profiler writes it, with host and pid ("host_123.456.pt.trace.json"), tells no
/// rank. A path or an archive's member may stand before the name.
std::optional<std::int32_t> file_name_rank(std::string_view path);

}  // namespace scaleworth::trace
