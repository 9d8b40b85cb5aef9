// SPDX-License-Identifier: Apache-2.0
#include "trace/format/kineto/collective.h"

#include "trace/format/json/number.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <utility>

namespace scaleworth::trace {

namespace {

using attribution::CollectiveKind;

std::optional<std::int64_t> product(std::optional<std::int64_t> count,
                                    std::optional<std::int64_t> bytes) {
  if (!count || !bytes || *count < 0) return std::nullopt;
  std::int64_t result = 0;
  if (__builtin_mul_overflow(*count, *bytes, &result)) return std::nullopt;
  return result;
}

std::optional<std::int32_t> small_number(std::string_view token) {
  const auto value = parse_integer(token);
  if (!value || *value < 0 || *value > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return static_cast<std::int32_t>(*value);
}

/// The other rank of a send or receive.
std::optional<std::int32_t> peer_of(CollectiveKind kind, const KinetoFields& fields) {
  if (kind == CollectiveKind::send) return small_number(fields.destination_rank);
  if (kind == CollectiveKind::receive) return small_number(fields.source_rank);
  return std::nullopt;
}

void add_group(NameId id, const KinetoFields& fields, Recording& recording) {
  auto& group = recording.groups[id];
  if (group.description.empty()) group.description = bare_token(fields.group_description);
  if (!group.size) group.size = small_number(fields.group_size);
  if (group.ranks.empty()) group.ranks = parse_rank_list(bare_token(fields.group_ranks));
}

}  // namespace

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

std::vector<std::int32_t> parse_rank_list(std::string_view list) {
  std::vector<std::int32_t> ranks;
  if (list.size() < 2 || list.front() != '[' || list.back() != ']') return {};
  list = list.substr(1, list.size() - 2);
  while (!bare_token(list).empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const auto rank = small_number(list.substr(0, comma));
    if (!rank) return {};
    ranks.push_back(*rank);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return ranks;
}

std::uint32_t add_communication(const KinetoFields& fields, Recording& recording) {
  if (fields.collective.empty() && fields.group.empty() && fields.sequence.empty()) return no_index;
  Communication communication;
  communication.kind = parse_collective_name(bare_token(fields.collective));
  communication.group = recording.names.intern(bare_token(fields.group));
  communication.sequence = parse_integer(fields.sequence);
  const auto bytes = element_bytes(bare_token(fields.element_type));
  communication.input_bytes = product(parse_integer(fields.elements_in), bytes);
  communication.output_bytes = product(parse_integer(fields.elements_out), bytes);
  communication.peer = peer_of(communication.kind, fields);
  communication.root = small_number(fields.root_rank);
  if (communication.group != NameId::none) add_group(communication.group, fields, recording);
  recording.communications.push_back(communication);
  return static_cast<std::uint32_t>(recording.communications.size() - 1);
}

}  // namespace scaleworth::trace
