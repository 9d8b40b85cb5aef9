// SPDX-License-Identifier: Apache-2.0
/// Arrows from the kernel of the rank that came last to the ranks that waited for it.
#pragma once

#include "trace/attribute.h"
#include "trace/format/export/selection.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace scaleworth::trace {

class Arrows {
 public:
  /// Only arrows between events that the selection shows.
  Arrows(const Job& job, const Attributed& attributed, const Selection& selection);

  /// Numbers of the arrows that begin at the start of a rank's device event.
  std::span<const std::uint64_t> out_of(std::size_t rank, std::uint32_t event) const;
  /// Number of the arrow that ends where a rank's waiting does.
  std::optional<std::uint64_t> into(std::size_t rank, std::uint32_t event) const;

 private:
  struct OfRank {
    // By event; the numbers stand apart, so that those of one event are a span.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> out;
    std::vector<std::uint64_t> out_numbers;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> in;
  };
  std::vector<OfRank> by_rank_;
};

}  // namespace scaleworth::trace
