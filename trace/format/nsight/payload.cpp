// SPDX-License-Identifier: Apache-2.0
#include "trace/format/nsight/payload.h"

#include <array>
#include <bit>
#include <cstring>
#include <string_view>

namespace scaleworth::trace::nsight {
namespace {

static_assert(std::endian::native == std::endian::little, "payloads are little endian");

/// Before each payload: domain (4 bytes, 4 unused), schema (4, 4 unused), its size (8), size with
/// this header (8). Met in exports of Nsight Systems 2026.
constexpr std::size_t header_size = 32;
constexpr std::size_t schema_at = 8;
constexpr std::size_t largest_offset = 1 << 16;

struct Label {
  std::string_view name;
  std::optional<std::int64_t> NcclPayload::*value;
};

/// As NCCL names the entries of its schemas (nvtx_payload_schemas.h).
constexpr std::array labels = {Label{"NCCL communicator ID", &NcclPayload::communicator},
                               Label{"Message size [bytes]", &NcclPayload::bytes},
                               Label{"Root", &NcclPayload::root},
                               Label{"Peer rank", &NcclPayload::peer},
                               Label{"No. of ranks", &NcclPayload::ranks},
                               Label{"Rank", &NcclPayload::rank},
                               Label{"CUDA device", &NcclPayload::device}};

/// Bytes of NVTX's numeric entry types; 0 for those that no known entry has.
std::size_t width_of(std::int64_t type) {
  switch (type) {
    case 5:   // int
    case 6:   // unsigned
    case 15:  // int32
    case 16:  // uint32
      return 4;
    case 7:   // long
    case 8:   // unsigned long
    case 9:   // long long
    case 10:  // unsigned long long
    case 17:  // int64
    case 18:  // uint64
    case 22:  // size_t
      return 8;
    default:
      return 0;
  }
}

std::int64_t load(const unsigned char* from, std::size_t width) {
  if (width == 4) {
    std::int32_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::int64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

PayloadSchemas::PayloadSchemas(Database& database) {
  Rows row = database.select("NVTX_PAYLOAD_SCHEMA_ENTRIES",
                             {"domainId", "schemaId", "type", "name", "offset"});
  while (row.next()) {
    const auto name = row.text(3);
    const std::size_t width = width_of(row.integer(2).value_or(0));
    const std::int64_t offset = row.integer(4).value_or(0);  // the first one has none
    if (!name || width == 0 || offset < 0 || offset > static_cast<std::int64_t>(largest_offset))
      continue;
    for (const Label& label : labels)
      if (*name == label.name)
        fields_[{row.integer(0).value_or(0), row.integer(1).value_or(0)}].push_back(
            {label.value, static_cast<std::size_t>(offset), width});
  }
}

NcclPayload PayloadSchemas::parse(std::span<const unsigned char> data) const {
  NcclPayload payload;
  if (data.size() < header_size) return payload;
  const auto found = fields_.find({load(data.data(), 4), load(data.data() + schema_at, 4)});
  if (found == fields_.end()) return payload;
  const auto body = data.subspan(header_size);
  for (const Field& field : found->second)
    if (field.offset + field.width <= body.size())
      payload.*field.value = load(body.data() + field.offset, field.width);
  return payload;
}

}  // namespace scaleworth::trace::nsight
