// SPDX-License-Identifier: Apache-2.0
/// Reads what the PyTorch profiler (Kineto) writes: Chrome JSON, of any of its versions.
#pragma once

#include "trace/classify.h"
#include "trace/formats/byte_source.h"
#include "trace/recording.h"

#include <cstdint>
#include <optional>
#include <variant>

namespace scaleworth::trace {
struct WalkOptions;  // trace/formats/json_events.h

/// Whether to keep a framework's operator or Python function of this name.
using KeepOperation = std::function<bool(std::string_view)>;

/// The one recording in `source`, on the clock of the file: nanoseconds since 1970 where the file
/// says from when its times count. Of operators and Python functions only what `keep` wants.
/// Throws UserError when it holds no events.
std::vector<Recording> read_kineto(ByteSource& source,
                                   const KeepOperation& keep,
                                   const WalkOptions* options = nullptr);

/// Keeps the operators in which the host rules see a cause.
inline std::vector<Recording> read_kineto(ByteSource& source, const RuleTable& rules) {
  return read_kineto(source, [&](std::string_view name) { return rules.host(name).has_value(); });
}

/// What an event is that is neither work on a GPU nor an activity of the host.
enum class OtherEvent : std::uint8_t { unused, gpu_annotation, metadata };
using KinetoCategory = std::variant<OtherEvent, DeviceOperation, HostActivity>;

/// "kernel", "cuda_runtime", ...: as today's profiler calls it. Not for unused events and metadata.
std::string_view kineto_category_name(KinetoCategory category);

/// The kind in PyTorch's or a framework's spelling: "allreduce", "_allgather_base",
/// "all_to_allv", "grads-reduce-scatter", ...
CollectiveKind parse_collective_name(std::string_view name);

/// The kind by NCCL's function, "AllReduce" or "ncclAllReduce"; absent for calls that move nothing:
/// groups, creation of communicators.
std::optional<CollectiveKind> nccl_function_kind(std::string_view function);

/// What a group of calls of both kinds is: sends with receives, else unknown unless they are equal.
CollectiveKind kind_of_both(CollectiveKind a, CollectiveKind b);

/// Puts each of the tool's records of waiting on the thread whose call it belongs to, by
/// correlation; those without a call stay where they are.
void place_synchronizations(Recording& recording);

/// Bytes of one element of a type as PyTorch, its bindings or C++ name it: "Float",
/// "c10::BFloat16", "long int"; of several the first in a list of theirs; absent for other words.
std::optional<std::int64_t> element_bytes(std::string_view types);
}  // namespace scaleworth::trace
