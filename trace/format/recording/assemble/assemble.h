// SPDX-License-Identifier: Apache-2.0
/// From the rows of a capture to a Recording: names resolved, waits and ranges joined with calls.
#pragma once

#include "trace/format/recording/assemble/devices.h"
#include "trace/format/recording/assemble/nccl_uses.h"
#include "trace/format/recording/rows/rows.h"
#include "trace/timeline/recording.h"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace scaleworth::trace::recording {

class Assembler {
 public:
  /// Takes a batch in the order of the file.
  void add(const Batch& batch);
  /// When all is in: events sorted. `file` is for the origin. To be called once.
  Recording finish(const std::string& file);
  /// What NCCL told of the ranks of the process's devices, by communicator; after `finish`.
  const std::map<std::uint64_t, DeviceRanks>& device_ranks() const { return device_ranks_; }

 private:
  void add_texts(const Batch& batch);
  void add_device_work(const Batch& batch);
  void add_host_work(const Batch& batch);
  void join_waits();
  /// Time, thread and function of what NCCL attached to a range come from the range's start.
  void place_payloads();
  void add_facts(const std::string& file);
  void add_device();

  NameId name(std::uint32_t number);
  std::uint32_t thread(std::uint32_t system_id);
  /// Sets start and end; false, and counted as lost, when no clock shows such times.
  template <class Event>
  bool set_times(Event& event, std::uint64_t start_ns, std::uint64_t duration_ns);

  Recording recording_;
  std::vector<NameId> names_{NameId::none};  // by the file's numbers
  std::unordered_map<std::uint32_t, std::uint32_t> threads_;
  std::map<std::string, std::string> facts_;
  std::vector<WaitRow> waits_;
  std::unordered_map<std::uint64_t, EventRow> event_records_;  // by event_use
  std::vector<MarkRow> marks_;
  std::vector<CollectiveRow> collectives_;
  NcclUses nccl_uses_;
  std::map<std::uint64_t, DeviceRanks> device_ranks_;
};

}  // namespace scaleworth::trace::recording
