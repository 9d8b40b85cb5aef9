// SPDX-License-Identifier: Apache-2.0
/// What PyTorch says of the collective that a kernel carries out.
#pragma once

#include "trace/format/kineto/fields.h"
#include "trace/timeline/recording.h"

#include <optional>
#include <string_view>
#include <vector>

namespace scaleworth::trace {

/// The kind in PyTorch's or a framework's spelling: "allreduce", "_allgather_base",
/// "all_to_allv", "grads-reduce-scatter", ...
attribution::CollectiveKind parse_collective_name(std::string_view name);

/// Bytes of one element of PyTorch's type: "Float", "BFloat16", ...; absent for other words.
std::optional<std::int64_t> element_bytes(std::string_view type);

/// Ranks of "[0, 1]"; none when the list is not complete ("[0, 1, ...]").
std::vector<std::int32_t> parse_rank_list(std::string_view list);

/// Adds the communication that `fields` describe, and its group, to `recording`. Returns its
/// index; no_index when the event says nothing of a collective.
std::uint32_t add_communication(const KinetoFields& fields, Recording& recording);

}  // namespace scaleworth::trace
