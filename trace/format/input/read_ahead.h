// SPDX-License-Identifier: Apache-2.0
/// A stream whose bytes are made on a thread of their own, ahead of whoever takes them.
#pragma once

#include "trace/format/input/byte_source.h"

namespace scaleworth::trace {

/// So much is read by the caller's own thread first: short streams need no other.
inline constexpr std::size_t bytes_before_reading_ahead = std::size_t{2} << 20;

/// The most that is read and not yet taken.
inline constexpr std::size_t bytes_read_ahead = std::size_t{2} << 20;

/// The same bytes, the same damage and the same exceptions at the same place as `source` itself.
/// The thread ends with the stream or with the object, whichever is first. Where there is but one
/// processor, or no thread can be had, the caller's thread does all.
std::unique_ptr<ByteSource> read_ahead(std::unique_ptr<ByteSource> source);

}  // namespace scaleworth::trace
