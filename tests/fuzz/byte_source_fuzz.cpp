// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a stored file, compressed or not: they end, in the same bytes whatever the size of
/// the pieces they are read in; of a damaged one, more or less of them.
#include "src/core/error.h"
#include "tests/unit/trace/formats/text_source.h"
#include "trace/formats/byte_source.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::size_t enough = 1 << 20;  // of what a small file may decompress to

struct Front {
  std::string bytes;
  bool damaged = false;
};

Front front_of(const std::string& stored, std::size_t piece) {
  const auto source =
      scaleworth::trace::decompressed(std::make_unique<scaleworth::testing::TextSource>(stored));
  Front front;
  std::array<char, 8192> buffer{};
  for (std::size_t got = piece; got == piece && front.bytes.size() < enough;) {
    got = source->read({buffer.data(), piece});
    if (got > piece) std::abort();
    front.bytes.append(buffer.data(), got);
  }
  front.bytes.resize(std::min(front.bytes.size(), enough));
  front.damaged = !source->damage().empty();
  return front;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string stored(reinterpret_cast<const char*>(data), size);
  const auto large = front_of(stored, 8192);
  const auto small = front_of(stored, 61);
  const auto same = std::min(large.bytes.size(), small.bytes.size());
  if (large.bytes.compare(0, same, small.bytes, 0, same) != 0) std::abort();
  if (!large.damaged && !small.damaged && large.bytes.size() != small.bytes.size()) std::abort();
  return 0;
}
