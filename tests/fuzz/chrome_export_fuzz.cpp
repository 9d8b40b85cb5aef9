// SPDX-License-Identifier: Apache-2.0
/// Any bytes behind the head of an exported timeline: refused with one line, or read into events
/// that end after they start.
#include "src/core/error.h"
#include "trace/formats/export/export_writer.h"
#include "trace/formats/export/export.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using namespace scaleworth::trace;

class Bytes final : public ByteSource {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& name() const override { return name_; }
  const std::string& damage() const override { return damage_; }
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size() - taken_);
    std::copy_n(bytes_.data() + taken_, count, buffer.data());
    taken_ += count;
    return count;
  }

 private:
  std::string name_ = "fuzz.json";
  std::string bytes_;
  std::string damage_;
  std::size_t taken_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const RuleTable rules = RuleTable::built_in();
  Bytes source(std::string(chrome_export_begin) +
               std::string(reinterpret_cast<const char*>(data), size));
  try {
    for (const Recording& recording : read_chrome_export(source, rules))
      for (const DeviceEvent& event : recording.device_events)
        if (event.end < event.start) std::abort();
  } catch (const scaleworth::UserError&) {
  }
  return 0;
}
