// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/kineto.h"

#include <array>
#include <cctype>

namespace scaleworth::trace {
CollectiveKind parse_collective_name(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  // In this order: "reducescatter" holds "reduce", "alltoall" nothing of the others.
  using enum CollectiveKind;
  constexpr std::array<std::pair<std::string_view, CollectiveKind>, 13> words = {{
      {"reducescatter", reduce_scatter},
      {"allreduce", all_reduce},
      {"allgather", all_gather},
      {"alltoall", all_to_all},
      {"broadcast", broadcast},
      {"barrier", barrier},
      {"sendrecv", send_receive},
      {"send", send},
      {"recv", receive},
      {"receive", receive},
      {"reduce", reduce},
      {"gather", gather},
      {"scatter", scatter},
  }};
  for (const auto& [word, kind] : words)
    if (letters.find(word) != std::string::npos) return kind;
  return unknown;
}

std::optional<CollectiveKind> nccl_function_kind(std::string_view function) {
  using enum CollectiveKind;
  constexpr std::array<std::pair<std::string_view, CollectiveKind>, 12> functions = {{
      {"AllReduce", all_reduce},
      {"AllGather", all_gather},
      {"ReduceScatter", reduce_scatter},
      {"AlltoAll", all_to_all},
      {"AllToAll", all_to_all},
      {"Broadcast", broadcast},
      {"Bcast", broadcast},
      {"Reduce", reduce},
      {"Gather", gather},
      {"Scatter", scatter},
      {"Send", send},
      {"Recv", receive},
  }};
  if (function.starts_with("nccl")) function.remove_prefix(4);
  for (const auto& [name, kind] : functions)
    if (function == name) return kind;
  return std::nullopt;
}

CollectiveKind kind_of_both(CollectiveKind a, CollectiveKind b) {
  using enum CollectiveKind;
  const auto point_to_point = [](CollectiveKind kind) {
    return kind == send || kind == receive || kind == send_receive;
  };
  if (a == b) return a;
  return point_to_point(a) && point_to_point(b) ? send_receive : unknown;
}

std::optional<std::int64_t> element_bytes(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 17> types = {{
      {"Float", 4},
      {"BFloat16", 2},
      {"Half", 2},
      {"Double", 8},
      {"Long", 8},
      {"Int", 4},
      {"Short", 2},
      {"Byte", 1},
      {"Char", 1},
      {"Bool", 1},
      {"UInt16", 2},
      {"UInt32", 4},
      {"UInt64", 8},
      {"ComplexHalf", 4},
      {"ComplexFloat", 8},
      {"ComplexDouble", 16},
      {"Float8", 1},
  }};
  if (type.starts_with("Float8_")) type = "Float8";
  for (const auto& [name, bytes] : types)
    if (type == name) return bytes;
  return std::nullopt;
}
}  // namespace scaleworth::trace
