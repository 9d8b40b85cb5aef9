// SPDX-License-Identifier: Apache-2.0
/// A run of events in memory, parsed at once.
#pragma once

#include "trace/format/json/walk.h"

#include <cstddef>

namespace scaleworth::trace {

class EventBatch {
 public:
  explicit EventBatch(TraceReader& reader) : reader_(reader) {}

  struct Parsed {
    /// All events went to the reader. Else an error stands at the first event behind `bytes`.
    bool well = false;
    std::size_t bytes = 0;     // that are done with, from the front
    std::size_t events = 0;    // among them
    bool array_ended = false;  // the `]` of the events was among them
  };
  /// Parses `text`, events with commas between them, of `bytes`. Those before it by
  /// JsonWindow::front_slack and behind it by back_slack belong to the caller's buffer; they are
  /// the same again on return.
  Parsed parse(char* text, std::size_t bytes);

 private:
  Parsed walk(const char* text, std::size_t bytes);

  simdjson::ondemand::parser parser_;  // keeps its memory from batch to batch
  TraceReader& reader_;
};

}  // namespace scaleworth::trace
