// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/cupti/nccl_payload.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

namespace scaleworth::gpu {
namespace {

using trace::recording::CollectiveRow;

struct KnownField {
  std::string_view name;
  PayloadField field;
};
constexpr std::array<KnownField, 7> known_fields{
    {{"NCCL communicator ID", PayloadField::communicator},
     {"Message size [bytes]", PayloadField::bytes},
     {"Root", PayloadField::root},
     {"Peer rank", PayloadField::peer},
     {"Rank", PayloadField::rank},
     {"No. of ranks", PayloadField::ranks},
     {"CUDA device", PayloadField::device}}};

/// Bytes of a predefined integer type; 0 for what is none.
std::size_t integer_bytes(std::uint64_t type) {
  switch (type) {
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
      return 4;
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
      return 8;
    default:
      return 0;
  }
}

std::optional<PayloadField> field_of(const nvtxPayloadSchemaEntry_t& entry) {
  if (entry.name == nullptr) return std::nullopt;
  const auto found =
      std::find_if(known_fields.begin(), known_fields.end(), [&](const KnownField& known) {
        return known.name == entry.name;
      });
  if (found == known_fields.end()) return std::nullopt;
  return found->field;
}

void set_field(PayloadField field, std::uint64_t value, CollectiveRow& row) {
  const auto small = static_cast<std::uint32_t>(value);
  switch (field) {
    case PayloadField::communicator:
      row.communicator = value;
      break;
    case PayloadField::bytes:
      row.bytes = value;
      row.fields |= trace::recording::collective_has_bytes;
      break;
    case PayloadField::root:
      row.root = small;
      row.fields |= trace::recording::collective_has_root;
      break;
    case PayloadField::peer:
      row.peer = small;
      row.fields |= trace::recording::collective_has_peer;
      break;
    case PayloadField::rank:
      row.rank = small;
      break;
    case PayloadField::ranks:
      row.ranks = small;
      row.fields |= trace::recording::collective_has_ranks;
      break;
    case PayloadField::device:
      row.device = small;
      break;
  }
}

}  // namespace

PayloadLayout nccl_layout(const nvtxPayloadSchemaAttr_t& schema) {
  PayloadLayout layout;
  if (schema.entries == nullptr) return layout;
  bool has_communicator = false;
  for (std::size_t i = 0; i < schema.numEntries; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = schema.entries[i];
    const auto field = field_of(entry);
    const std::size_t bytes = integer_bytes(entry.type);
    if (!field || bytes == 0) continue;
    has_communicator = has_communicator || *field == PayloadField::communicator;
    layout.push_back({*field, entry.offset, bytes});
  }
  // "Rank" and "Root" alone may be anybody's.
  if (!has_communicator) layout.clear();
  return layout;
}

void read_payload(const PayloadLayout& layout,
                  std::span<const std::byte> payload,
                  CollectiveRow& row) {
  for (const PayloadPlace& place : layout) {
    if (place.offset > payload.size() || place.bytes > payload.size() - place.offset) continue;
    std::uint64_t value = 0;
    std::memcpy(&value, payload.data() + place.offset, place.bytes);
    set_field(place.field, value, row);
  }
}

}  // namespace scaleworth::gpu
