// SPDX-License-Identifier: Apache-2.0
/// What threads of the program leave for the writer: rows whose names are still texts.
#pragma once

#include "trace/format/recording/rows/rows.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::gpu {

struct SaidCollective {
  trace::recording::CollectiveRow row;
  std::string function;
  std::string algorithm;
  std::string protocol;
};

struct SaidMark {
  trace::recording::MarkRow row;
  std::string name;
};

struct SaidWindow {
  trace::recording::WindowRow row;
  std::string why;
};

/// Bounded: what does not fit is dropped and counted.
class Inbox {
 public:
  void add(SaidCollective said);
  void add(SaidMark said);
  void add(SaidWindow said);
  void add(const trace::recording::NetworkRow& row);
  void add(const trace::recording::ChannelRow& row);
  /// One line for people, once per text.
  void remark(const std::string& line);

  /// Moves everything into `batch`, names turned into numbers.
  void empty_into(
      trace::recording::Batch& batch,
      const std::function<std::uint32_t(std::string_view, trace::recording::Batch&)>& name);

 private:
  static constexpr std::size_t most_of_a_kind = 1U << 18U;
  /// Adds `row` to `rows` while there is room.
  template <class Row>
  void put(std::vector<Row>& rows, Row row);

  std::mutex mutex_;
  std::vector<SaidCollective> collectives_;
  std::vector<SaidMark> marks_;
  std::vector<SaidWindow> windows_;
  std::vector<trace::recording::NetworkRow> networks_;
  std::vector<trace::recording::ChannelRow> channels_;
  std::vector<std::string> remarks_;      // not written yet
  std::vector<std::string> remarks_ago_;  // written
  std::uint64_t dropped_ = 0;
};

}  // namespace scaleworth::gpu
