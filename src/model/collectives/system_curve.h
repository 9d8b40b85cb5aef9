// SPDX-License-Identifier: Apache-2.0
/// A library that chooses among ways is as fast as the fastest of their lines.
#pragma once

#include "src/model/analysis.h"

#include <optional>
#include <span>
#include <vector>

namespace scaleworth::model {

/// The line through the points of one way: alpha and beta by `fit_relative` as in
/// communication_fit.h, with its held-out error. Without segments below 3 points.
CommunicationFit fit_way(const std::vector<CollectivePoint>& points);

/// Index of the line that is fastest at `message` among those that were measured there (largest
/// size within their range; below it a line holds by its alpha). Absent when none was.
std::optional<std::size_t> fastest_line(std::span<const AlgorithmLine> lines, Bytes message);

/// Least over the lines at `message`; absent as above.
std::optional<Seconds> system_time(std::span<const AlgorithmLine> lines, Bytes message);

/// The regimes from the smallest to the largest measured size. A boundary is where two lines cross:
/// (alpha2 - alpha1) / (beta1 - beta2), or where a line's measured range ends.
std::vector<AlgorithmRegime> regimes(std::span<const AlgorithmLine> lines);

}  // namespace scaleworth::model
