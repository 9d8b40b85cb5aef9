// SPDX-License-Identifier: Apache-2.0
#include "trace/format/nsight/contents.h"

#include "src/core/error.h"

#include <fmt/format.h>

namespace scaleworth::trace::nsight {
namespace {

constexpr std::size_t most_processes = 1024;
constexpr std::size_t most_devices = 64;  // of one process

/// Thread and process numbers are 24 bits each of what the file calls a global id.
constexpr std::int64_t number_mask = 0xFFFFFF;

std::int64_t process_of(std::int64_t global_id) {
  return global_id & ~number_mask;
}

bool in_range(std::int64_t time) {
  return time > -largest_time && time < largest_time;
}

}  // namespace

Side& Contents::device(std::int64_t global_id, std::int32_t device) {
  Process& process = processes[process_of(global_id)];
  Side& side = process.devices[device];
  if (processes.size() > most_processes || process.devices.size() > most_devices)
    throw UserError(fmt::format(
        "the file names more than {} processes, or more than {} devices of one process: "
        "it is damaged; export the report again",
        most_processes,
        most_devices));
  return side;
}

Process* Contents::process(std::int64_t global_id) {
  const auto found = processes.find(process_of(global_id));
  return found == processes.end() ? nullptr : &found->second;
}

std::uint32_t Contents::thread(Process& process, std::int64_t global_id) {
  std::vector<std::string>& names = process.host.recording.threads;
  const auto [entry, added] =
      process.threads.emplace(global_id, static_cast<std::uint32_t>(names.size()));
  if (added)
    names.push_back(fmt::format("{}/{}", (global_id >> 24) & number_mask, global_id & number_mask));
  return entry->second;
}

std::optional<TimeInterval> Contents::interval(const Rows& row, Recording& recording) const {
  const auto start = row.integer(0);
  const auto end = row.integer(1);
  const auto lost = [&](const char* why) {
    ++recording.losses[why];
    return std::nullopt;
  };
  if (!start || !end || (*start == 0 && *end == 0)) return lost("events_without_times");
  if (!in_range(*start) || !in_range(*end) || !in_range(*start + epoch.count()) ||
      !in_range(*end + epoch.count()))
    return lost("times_out_of_range");
  if (*end < *start) return lost("events_ending_before_their_start");
  return TimeInterval{nanoseconds(*start) + epoch, nanoseconds(*end) + epoch};
}

NameId Contents::name(Side& side, std::optional<std::int64_t> id, Shorten* shorten) {
  if (!id) return NameId::none;
  const auto found = side.names.find(*id);
  if (found != side.names.end()) return found->second;
  const std::string text = database.string(*id).value_or("");
  const NameId name = side.recording.names.intern(shorten ? shorten(text) : text);
  side.names.emplace(*id, name);
  return name;
}

}  // namespace scaleworth::trace::nsight
