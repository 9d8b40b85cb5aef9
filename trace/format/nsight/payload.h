// SPDX-License-Identifier: Apache-2.0
/// The binary payloads of NCCL's NVTX ranges, by the schemas that the file holds.
#pragma once

#include "trace/format/nsight/database.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace scaleworth::trace::nsight {

/// What a payload may tell; its schema decides which fields there are.
struct NcclPayload {
  std::optional<std::int64_t> communicator;  // its hash, equal on all of its ranks
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> root;
  std::optional<std::int64_t> peer;
  std::optional<std::int64_t> ranks;  // of the communicator that is created
  std::optional<std::int64_t> rank;   // in that communicator
  std::optional<std::int64_t> device;
};

class PayloadSchemas {
 public:
  explicit PayloadSchemas(Database& database);

  /// Empty when `data` is too short for what it announces or of a schema that the file lacks.
  NcclPayload parse(std::span<const unsigned char> data) const;

 private:
  struct Field {
    std::optional<std::int64_t> NcclPayload::*value;
    std::size_t offset;
    std::size_t width;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Field>> fields_;  // domain, schema
};

}  // namespace scaleworth::trace::nsight
