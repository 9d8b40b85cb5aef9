// SPDX-License-Identifier: Apache-2.0
/// Algorithm and bus bandwidth as nccl-tests defines them.
#pragma once

#include "src/core/units.h"

#include <string>

namespace scaleworth::model {

/// busbw / algbw of a collective among `ranks`:
///   all_reduce                                  2 (n - 1) / n
///   all_gather, reduce_scatter, all_to_all      (n - 1) / n
///   gather, scatter                             (n - 1) / n
///   broadcast, reduce, send_receive             1
/// Throws UserError for another name or fewer than two ranks.
/// Source: nccl-tests doc/PERFORMANCE.md and src/*.cu. Assumes a schedule in which the slowest link
/// carries that share of the message (ring-like); reduction inside a switch can exceed it.
double bus_factor(const std::string& collective, int ranks);

/// Bus bandwidth: the rate at the slowest link, comparable across rank counts.
///   busbw = message / time * bus_factor
/// `message`  one rank's buffer (all_reduce, broadcast, reduce, send_receive), else the sum over
/// ranks `time`     the slowest rank's duration of one operation Throws UserError as `bus_factor`
/// does, and when `time` is not positive.
BytesPerSecond bus_bandwidth(const std::string& collective, Bytes message, Seconds time, int ranks);

}  // namespace scaleworth::model
