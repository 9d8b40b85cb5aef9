// SPDX-License-Identifier: Apache-2.0
/// The capture of this process: one writer thread that empties buffers and inbox into the file.
#pragma once

#include "cuda/inject/cupti/buffer_desk.h"
#include "cuda/inject/cupti/tracer.h"
#include "cuda/inject/process/output_file.h"
#include "cuda/inject/session/inbox.h"
#include "cuda/inject/session/window_control.h"
#include "trace/capture/settings.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include <unistd.h>

namespace scaleworth::gpu {

/// One line to stderr, as long as the program's own output is not flooded by it.
void complain(const std::string& line);

/// Lives as long as the process: callbacks and exit handlers may come at any time.
class Session {
 public:
  /// The one of this process, made at the first call; null where nothing is to be recorded, the
  /// file cannot be written, or in a forked child. Never throws.
  static Session* of_process();
  /// The same without making one.
  static Session* existing();

  /// Listens to CUPTI, once; what cannot be had is said in the file.
  void trace_device();
  /// Whether CUPTI is ours; absent while that was not tried.
  std::optional<bool> traces_device() const;

  Inbox& inbox() { return inbox_; }
  /// How many communicators of NCCL were begun before.
  std::uint32_t next_communicator() { return communicators_++; }
  WindowControl& window() { return window_; }
  const trace::CaptureSettings& settings() const { return settings_; }
  /// Whether rows of now are inside of the window.
  bool recording() const { return open_; }
  /// Looks at the window again and switches records on or off.
  void follow_window(const char* why);

  /// Writes what there is and ends the file; waits for the writer at most a few seconds.
  void finish();
  /// From a signal handler: the writer ends the file and then ends the process by `signal`.
  void finish_by_signal(int signal);
  /// From a signal handler: writes soon what there is.
  void hurry();
  /// In a forked child: leaves file and thread to the parent.
  void forked();

 private:
  explicit Session(trace::CaptureSettings settings);
  bool start();
  void write_until_finished();
  void wait_for_work() const;
  void write_period(bool last);
  void drain();
  void drain_buffer(const FilledBuffer& buffer);
  void add_losses();
  void write(bool last);
  void tell_failure(const std::string& failure);
  void wake() const;
  static void poke(int descriptor);

  const trace::CaptureSettings settings_;
  const pid_t owner_;
  BufferDesk desk_;
  Inbox inbox_;
  WindowControl window_;
  OutputFile file_;
  std::atomic<Tracer*> tracer_{nullptr};
  std::atomic<int> device_tried_{0};  // 0 not yet, 1 ours, 2 not ours
  RecordDecoder decoder_;
  bool decoder_asks_ = false;
  trace::recording::Batch batch_;  // the writer's; kept for its memory, as are the bytes
  std::string bytes_;
  std::atomic<std::uint32_t> communicators_{0};
  std::atomic<bool> open_{false};
  std::atomic<bool> finishing_{false};
  std::atomic<bool> finished_{false};
  std::atomic<int> signal_{0};
  int wake_descriptor_ = -1;
  int finished_descriptor_ = -1;
  std::uint64_t lost_bytes_ = 0;  // by failed writes, not yet told
  bool complained_of_writing_ = false;
};

}  // namespace scaleworth::gpu
