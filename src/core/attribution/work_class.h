// SPDX-License-Identifier: Apache-2.0
/// What a piece of work on a GPU is for, as the classification rules say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace scaleworth::attribution {

enum class WorkClass : std::uint8_t {
  unclassified,  // no rule knows it: counted as compute, and always shown
  communication,
  gemm,
  attention,
  convolution,
  normalization,
  elementwise,
  reduction,
  embedding,
  optimizer,
  other_compute,
  copy,  // copies and fills of memory
};
inline constexpr std::size_t work_classes = 12;

/// "gemm", "other compute", ...: as in reports.
const char* work_class_name(WorkClass work_class);
/// The class of a name in a rule file ("other_compute"); absent when there is none.
std::optional<WorkClass> parse_work_class(std::string_view name);

/// Which operation a communication kernel carries out.
enum class CollectiveKind : std::uint8_t {
  unknown,  // communication of which only the existence is known
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  gather,
  scatter,
  send,
  receive,
  send_receive,  // grouped or unspecified point-to-point calls
  barrier,
};
const char* collective_kind_name(CollectiveKind kind);
std::optional<CollectiveKind> parse_collective_kind(std::string_view name);

/// Why the host was late with the next piece of work while its GPU had nothing to do.
enum class HostCause : std::uint8_t {
  data_loading,
  synchronizing_call,
  allocation,
  module_loading,  // lazy loading of kernels, compilation by the driver
  garbage_collection,
  launch_bound,  // the host did nothing but launch, and launched too slowly
  other,         // something else, or nothing that the recording shows
};
inline constexpr std::size_t host_causes = 7;
const char* host_cause_name(HostCause cause);
std::optional<HostCause> parse_host_cause(std::string_view name);

}  // namespace scaleworth::attribution
