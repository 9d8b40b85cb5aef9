// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/session/inbox.h"

#include <algorithm>
#include <utility>

namespace scaleworth::gpu {

template <class Row>
void Inbox::put(std::vector<Row>& rows, Row row) {
  const std::scoped_lock lock(mutex_);
  if (rows.size() < most_of_a_kind) {
    rows.push_back(std::move(row));
  } else {
    ++dropped_;
  }
}

void Inbox::add(SaidCollective said) {
  put(collectives_, std::move(said));
}

void Inbox::add(SaidMark said) {
  put(marks_, std::move(said));
}

void Inbox::add(const trace::recording::NetworkRow& row) {
  put(networks_, row);
}

void Inbox::add(const trace::recording::ChannelRow& row) {
  put(channels_, row);
}

void Inbox::add(SaidWindow said) {
  const std::scoped_lock lock(mutex_);
  if (windows_.size() < most_of_a_kind) windows_.push_back(std::move(said));
}

void Inbox::remark(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  const auto known = [&](const std::vector<std::string>& lines) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  if (!known(remarks_) && !known(remarks_ago_)) remarks_.push_back(line);
}

void Inbox::empty_into(
    trace::recording::Batch& batch,
    const std::function<std::uint32_t(std::string_view, trace::recording::Batch&)>& name) {
  std::vector<SaidCollective> collectives;
  std::vector<SaidMark> marks;
  std::vector<SaidWindow> windows;
  {
    const std::scoped_lock lock(mutex_);
    collectives.swap(collectives_);
    marks.swap(marks_);
    windows.swap(windows_);
    batch.networks.insert(batch.networks.end(), networks_.begin(), networks_.end());
    batch.channels.insert(batch.channels.end(), channels_.begin(), channels_.end());
    networks_.clear();
    channels_.clear();
    for (const std::string& line : remarks_) batch.facts.emplace_back("remark", line);
    remarks_ago_.insert(remarks_ago_.end(), remarks_.begin(), remarks_.end());
    remarks_.clear();
    if (dropped_ > 0) batch.losses.emplace_back("dropped_host_events", std::exchange(dropped_, 0));
  }
  for (SaidCollective& said : collectives) {
    said.row.function = name(said.function, batch);
    said.row.algorithm = name(said.algorithm, batch);
    said.row.protocol = name(said.protocol, batch);
    batch.collectives.push_back(said.row);
  }
  for (SaidMark& said : marks) {
    said.row.name = name(said.name, batch);
    batch.marks.push_back(said.row);
  }
  for (SaidWindow& said : windows) {
    said.row.why = name(said.why, batch);
    batch.windows.push_back(said.row);
  }
}

}  // namespace scaleworth::gpu
