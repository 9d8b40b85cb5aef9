// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a recording file, and as the payload of a frame whose checksum is right: refused
/// with one line, or read into events in order that end after they start.
#include "src/core/error.h"
#include "trace/formats/read_job.h"
#include "trace/formats/swtrace/rows.h"
#include "trace/formats/swtrace/swtrace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using namespace scaleworth::trace;

class Bytes : public ByteSource {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  const std::string& name() const override { return name_; }
  std::size_t read(std::span<char> buffer) override {
    const std::size_t count = std::min(buffer.size(), bytes_.size());
    std::copy_n(bytes_.data(), count, buffer.data());
    bytes_.remove_prefix(count);
    return count;
  }
  const std::string& damage() const override { return damage_; }

 private:
  std::string name_ = "fuzz.swtrace";
  std::string_view bytes_;
  std::string damage_;
};

void require(bool holds) {
  if (!holds) std::abort();
}

void judge(const Recording& recording) {
  for (const DeviceEvent& event : recording.device_events) {
    require(event.end >= event.start);
    require(recording.names.size() > static_cast<std::size_t>(event.name));
    require(event.communication == no_index ||
            event.communication < recording.communications.size());
  }
  for (const HostEvent& event : recording.host_events) {
    require(event.end >= event.start);
    require(event.thread < recording.threads.size());
  }
  require(std::is_sorted(recording.device_events.begin(),
                         recording.device_events.end(),
                         [](const auto& a, const auto& b) { return a.start < b.start; }));
}

/// A file of the payloads, each with one byte of kind and two of length before it.
std::string file_of_frames(std::string_view bytes) {
  std::string file = recording::file_header();
  while (bytes.size() >= 3) {
    const auto kind = static_cast<recording::FrameKind>(static_cast<unsigned char>(bytes[0]) % 20);
    const std::size_t length =
        static_cast<unsigned char>(bytes[1]) +
        256U * static_cast<std::size_t>(static_cast<unsigned char>(bytes[2]));
    bytes.remove_prefix(3);
    const std::string_view payload = bytes.substr(0, length);
    bytes.remove_prefix(payload.size());
    recording::append_frame(kind, file, [&](std::string& to) { to += payload; });
  }
  return file;
}

void read(std::string_view bytes) {
  try {
    Bytes source(bytes);
    Job job;
    job.recordings = read_recording(source);
    for (const Recording& recording : job.recordings) judge(recording);
    assign_ranks(job);
  } catch (const scaleworth::UserError& error) {
    const std::string_view message = error.what();
    require(message == scaleworth::printable(message));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  read(file_of_frames(bytes));
  return 0;
}
