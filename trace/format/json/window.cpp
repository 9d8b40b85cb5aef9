// SPDX-License-Identifier: Apache-2.0
#include "trace/format/json/window.h"

#include <algorithm>
#include <cstring>

namespace scaleworth::trace {

JsonWindow::JsonWindow(ByteSource& source, std::size_t bytes, std::size_t most)
    : source_(source), most_(most), buffer_(front_slack + bytes + back_slack, ' ') {}

void JsonWindow::consume(std::size_t bytes) {
  bytes = std::min(bytes, end_ - begin_);
  begin_ += bytes;
  position_ += bytes;
}

bool JsonWindow::more() {
  if (ended_) return false;
  if (begin_ > front_slack) {
    std::memmove(buffer_.data() + front_slack, data(), end_ - begin_);
    end_ -= begin_ - front_slack;
    begin_ = front_slack;
  }
  std::size_t room = buffer_.size() - back_slack - end_;
  if (room == 0) {
    const auto bytes = std::min(2 * (end_ - begin_), most_);
    buffer_.resize(front_slack + bytes + back_slack, ' ');
    room = buffer_.size() - back_slack - end_;
    if (room == 0) return false;
  }
  const auto got = source_.read({buffer_.data() + end_, room});
  end_ += got;
  ended_ = got < room;
  return got > 0;
}

}  // namespace scaleworth::trace
