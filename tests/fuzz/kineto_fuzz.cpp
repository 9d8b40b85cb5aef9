// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a Kineto file and as a framework's timeline, in windows small enough that all their
/// edges are met: refused, or read into recordings whose parts hold together.
#include "src/core/error.h"
#include "tests/unit/trace/formats/text_source.h"
#include "trace/formats/framework_timeline.h"
#include "trace/formats/json_events.h"
#include "trace/formats/kineto.h"
#include "trace/formats/read_job.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace scaleworth::trace;
using scaleworth::testing::TextSource;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename Event>
void check_span(const Event& event) {
  const std::chrono::nanoseconds farthest = farthest_time;
  require(event.start <= event.end && event.start >= -farthest && event.end <= 2 * farthest);
}

void check(const Recording& recording) {
  for (const auto& event : recording.device_events) {
    check_span(event);
    recording.names.at(event.name);
    require(event.copy == no_index || event.copy < recording.copies.size());
    require(event.communication == no_index ||
            event.communication < recording.communications.size());
  }
  for (const auto& event : recording.host_events) {
    check_span(event);
    recording.names.at(event.name);
    require(event.thread < recording.threads.size());
    require(event.synchronization == no_index ||
            event.synchronization < recording.synchronizations.size());
  }
  for (const auto& mark : recording.step_marks) check_span(mark);
  for (const auto& [loss, count] : recording.losses) require(count >= 0);
}

void read_as_kineto(const std::string& text, const WalkOptions& options) {
  const KeepOperation keep = [](std::string_view name) { return name.size() % 2 == 0; };
  try {
    TextSource source(text);
    Job job;
    job.recordings = read_kineto(source, keep, &options);
    for (const Recording& recording : job.recordings) check(recording);
    assign_ranks(job);
  } catch (const scaleworth::UserError&) {
  }
}

void read_as_timeline(const std::string& text) {
  try {
    TextSource source(text);
    Job job;
    job.recordings = read_operation_timers(source);
    for (const auto& recording : job.recordings) check(recording);
    assign_ranks(job);
  } catch (const scaleworth::UserError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_as_kineto(text, {.batch_bytes = 64, .window_bytes = 128, .most_bytes = 1024});
  read_as_kineto(text, {.batch_bytes = 4096, .window_bytes = 8192, .most_bytes = 65536});
  read_as_timeline(text);
  return 0;
}
