// SPDX-License-Identifier: Apache-2.0
#include "src/core/attribution/work_class.h"

namespace scaleworth::attribution {
namespace {

// Names in rule files; reports print them with spaces.
constexpr std::array<std::pair<WorkClass, std::string_view>, work_classes> class_names{
    {{WorkClass::unclassified, "unclassified"},
     {WorkClass::communication, "communication"},
     {WorkClass::gemm, "gemm"},
     {WorkClass::attention, "attention"},
     {WorkClass::convolution, "convolution"},
     {WorkClass::normalization, "normalization"},
     {WorkClass::elementwise, "elementwise"},
     {WorkClass::reduction, "reduction"},
     {WorkClass::embedding, "embedding"},
     {WorkClass::optimizer, "optimizer"},
     {WorkClass::other_compute, "other_compute"},
     {WorkClass::copy, "copy"}}};

constexpr std::array<std::pair<CollectiveKind, std::string_view>, 13> kind_names{
    {{CollectiveKind::unknown, "unknown"},
     {CollectiveKind::all_reduce, "all_reduce"},
     {CollectiveKind::all_gather, "all_gather"},
     {CollectiveKind::reduce_scatter, "reduce_scatter"},
     {CollectiveKind::all_to_all, "all_to_all"},
     {CollectiveKind::broadcast, "broadcast"},
     {CollectiveKind::reduce, "reduce"},
     {CollectiveKind::gather, "gather"},
     {CollectiveKind::scatter, "scatter"},
     {CollectiveKind::send, "send"},
     {CollectiveKind::receive, "receive"},
     {CollectiveKind::send_receive, "send_receive"},
     {CollectiveKind::barrier, "barrier"}}};

constexpr std::array<std::pair<HostCause, std::string_view>, host_causes> cause_names{
    {{HostCause::data_loading, "data_loading"},
     {HostCause::synchronizing_call, "synchronizing_call"},
     {HostCause::allocation, "allocation"},
     {HostCause::module_loading, "module_loading"},
     {HostCause::garbage_collection, "garbage_collection"},
     {HostCause::launch_bound, "launch_bound"},
     {HostCause::other, "other"}}};

template <class Names>
auto parse(const Names& names, std::string_view text) {
  std::optional<typename Names::value_type::first_type> found;
  for (const auto& [value, name] : names) {
    if (name == text) found = value;
  }
  return found;
}

}  // namespace

const char* work_class_name(WorkClass work_class) {
  return work_class == WorkClass::other_compute
             ? "other compute"
             : class_names[static_cast<std::size_t>(work_class)].second.data();
}

std::optional<WorkClass> parse_work_class(std::string_view name) {
  return parse(class_names, name);
}

const char* collective_kind_name(CollectiveKind kind) {
  return kind_names[static_cast<std::size_t>(kind)].second.data();
}

std::optional<CollectiveKind> parse_collective_kind(std::string_view name) {
  return parse(kind_names, name);
}

const char* host_cause_name(HostCause cause) {
  switch (cause) {
    case HostCause::data_loading:
      return "data loading";
    case HostCause::synchronizing_call:
      return "synchronizing call";
    case HostCause::allocation:
      return "allocation";
    case HostCause::module_loading:
      return "module loading";
    case HostCause::garbage_collection:
      return "garbage collection";
    case HostCause::launch_bound:
      return "launch-bound";
    case HostCause::other:
      return "other";
  }
  return "other";
}

std::optional<HostCause> parse_host_cause(std::string_view name) {
  return parse(cause_names, name);
}

}  // namespace scaleworth::attribution
