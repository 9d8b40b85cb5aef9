// SPDX-License-Identifier: Apache-2.0
#include "src/cli/measure/session.h"
#include "src/core/process.h"

#include <cstdio>

#include <unistd.h>

namespace scaleworth::cli {
namespace {
constexpr int bar_width = 24;
constexpr std::chrono::milliseconds redraw_interval{100};
}  // namespace

Progress::Progress(bool quiet, Seconds total)
    : style_(quiet                        ? Style::quiet
             : isatty(STDERR_FILENO) != 0 ? Style::bar
                                          : Style::lines),
      total_(total) {}

void Progress::begin(const std::string& probe, Seconds estimate) {
  probe_ = probe;
  current_ = estimate;
  fraction_ = 0.0;
  if (style_ == Style::lines) {
    print_error("{} (about {:.0f} s)\n", probe_, std::max(1.0, estimate.value()));
  }
  if (style_ == Style::bar) draw("");
}

void Progress::update(double fraction, const std::string& what) {
  fraction_ = std::clamp(fraction, 0.0, 1.0);
  if (style_ != Style::bar) return;
  if (std::chrono::steady_clock::now() - last_draw_ >= redraw_interval) draw(what);
}

void Progress::end(const std::string& outcome, double seconds) {
  finished_ += current_;
  clear();
  if (style_ != Style::quiet) print_error("{}: {} in {:.1f} s\n", probe_, outcome, seconds);
  current_ = Seconds{};
}

void Progress::note(const std::string& line) {
  clear();
  if (style_ != Style::quiet) print_error("{}\n", line);
}

void Progress::draw(const std::string& what) {
  const double done = total_.value() > 0.0 ? (finished_ + fraction_ * current_) / total_ : 0.0;
  const int filled = static_cast<int>(std::clamp(done, 0.0, 1.0) * bar_width);
  const Seconds left = total_ * std::max(0.0, 1.0 - done);
  // Erase to the end of the line: the previous text may have been longer.
  print_error("\r[{:#<{}}{:.<{}}] {:3.0f} %  {} {}  (about {:.0f} s left)\x1b[K",
              "",
              filled,
              "",
              bar_width - filled,
              100.0 * std::min(done, 1.0),
              probe_,
              what,
              left.value());
  drawn_ = true;
  last_draw_ = std::chrono::steady_clock::now();
}

void Progress::clear() {
  if (!drawn_) return;
  print_error("\r\x1b[K");
  drawn_ = false;
}
}  // namespace scaleworth::cli
