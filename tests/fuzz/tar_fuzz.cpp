// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a tar archive: its members are never larger than the archive, and it ends.
#include "trace/formats/byte_source.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace scaleworth::trace;

class Bytes final : public ByteSource {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  const std::string& name() const override { return name_; }
  const std::string& damage() const override { return damage_; }
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size());
    std::copy_n(bytes_.data(), count, buffer.data());
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string name_ = "fuzz.tar";
  std::string_view bytes_;
  std::string damage_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes archive({reinterpret_cast<const char*>(data), size});
  TarReader reader(archive);
  std::array<char, 700> buffer{};
  std::size_t total = 0;
  bool read = true;  // every second member is passed over
  while (const auto member = reader.next()) {
    if (member->name().empty()) std::abort();
    while (read)
      if (const std::size_t got = member->read(buffer); got > 0)
        total += got;
      else
        break;
    read = !read;
  }
  if (total > size) std::abort();
  return 0;
}
