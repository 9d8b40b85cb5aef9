// SPDX-License-Identifier: Apache-2.0
/// The compressions that open_byte_source takes off; each reads `stored` to its end.
#pragma once

#include "trace/format/input/byte_source.h"

namespace scaleworth::trace {

/// gzip, of one member or several after each other.
std::unique_ptr<ByteSource> gzip_source(std::unique_ptr<ByteSource> stored);

/// zstd, of one frame or several after each other.
std::unique_ptr<ByteSource> zstd_source(std::unique_ptr<ByteSource> stored);

/// How much of the compressed stream is in memory at a time.
inline constexpr std::size_t compressed_piece_bytes = 256 * 1024;

}  // namespace scaleworth::trace
