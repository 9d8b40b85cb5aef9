// SPDX-License-Identifier: Apache-2.0
/// The capture of this process: one writer thread that empties buffers and inbox into the file.
#pragma once

#include "cuda/inject/tracer.h"
#include "src/core/non_copyable.h"
#include "trace/capture_settings.h"
#include "trace/formats/swtrace/rows.h"

#include <chrono>
#include <string_view>

#include <unistd.h>

namespace scaleworth::gpu {
// What threads of the program leave for the writer: rows whose names are still texts.
struct ReportedCollective {
  CollectiveRow row;
  std::string function;
  std::string algorithm;
  std::string protocol;
};

struct ReportedMark {
  MarkRow row;
  std::string name;
};

struct ReportedStretch {
  OverheadRow row;
  std::string name;
};

/// Bounded: what does not fit is dropped and counted.
class Inbox {
 public:
  void add(ReportedCollective report) { put(collectives_, std::move(report)); }
  void add(ReportedMark report) { put(marks_, std::move(report)); }
  void add(ReportedStretch report) { put(stretches_, std::move(report)); }
  /// One line for people, once per text.
  void remark(const std::string& line);

  /// Moves everything into `batch`, names turned into numbers.
  void empty_into(Batch& batch, const std::function<std::uint32_t(std::string_view, Batch&)>& name);

 private:
  // Until the writer comes, once a second: presumed, far above what programs bring. More rows are
  // lost, and counted.
  static constexpr std::size_t most_of_a_kind = 1U << 18U;
  /// Adds `row` to `rows` while there is room.
  template <class Row>
  void put(std::vector<Row>& rows, Row row) {
    const std::scoped_lock lock(mutex_);
    if (rows.size() < most_of_a_kind) {
      rows.push_back(std::move(row));
    } else {
      ++dropped_;
    }
  }

  std::mutex mutex_;
  std::vector<ReportedCollective> collectives_;
  std::vector<ReportedMark> marks_;
  std::vector<ReportedStretch> stretches_;
  std::vector<std::string> remarks_;
  std::size_t remarks_written_ = 0;
  std::uint64_t dropped_ = 0;
};

/// What the program does while it calls nothing: by its clocks, read every millisecond by a thread
/// that costs a hundredth of a core. The main thread's own time on a core, that of all threads and
/// whether the main thread could run now (/proc/self/task/ID/stat) say which of three states a tick
/// was in: half of it decides. Where other threads work while the main one sleeps, nothing is said.
class HostSampler : NonCopyable {
 public:
  explicit HostSampler(pid_t main_thread);
  ~HostSampler();
  /// Looks again; returns the stretch of one state that has ended with this look, if any.
  std::optional<ReportedStretch> sample();
  /// The stretch up to the last look, if any; what comes is no part of it.
  std::optional<ReportedStretch> end();

 private:
  struct Reading {
    std::uint64_t time_ns = 0;
    std::uint64_t main_ns = 0;  // of the main thread on a core
    std::uint64_t all_ns = 0;   // of all threads
  };
  Reading read() const;
  /// Whether the main thread runs, or waits for a core.
  bool runnable() const;
  const char* state_between(const Reading& before, const Reading& now) const;

  const pid_t main_thread_;
  const int descriptor_;  // of stat; -1 where it cannot be read
  std::optional<Reading> last_;
  const char* state_ = nullptr;  // since `since_ns_`
  std::uint64_t since_ns_ = 0;
};

/// When to record, decided from the program's steps, ranges and calls of the profiler API, and the
/// time. Used by any thread. All conditions of the window have to hold at once.
class WindowControl {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit WindowControl(CaptureWindow window) : window_(std::move(window)) {}

  /// Whether to record at this moment.
  bool open(Time now);
  /// cudaProfilerStart or cudaProfilerStop was called.
  void profiler(bool started);
  /// `range`: a number of its own.
  void range_opened(std::string_view name, std::uint32_t range);
  void range_closed(std::uint32_t range);

  /// Whether ranges matter at all, and whether the profiler API does.
  bool watches_ranges() const { return window_.steps.has_value() || !window_.range.empty(); }
  bool watches_profiler() const { return window_.profiler_api; }
  /// When recording has to end; absent when it does not or has not begun.
  std::optional<Time> deadline();
  /// What was waited for, in words, where recording never began; empty when it did.
  std::string never_opened();

 private:
  bool conditions_hold() const;
  std::optional<Time> end_of_duration() const;

  const CaptureWindow window_;
  std::mutex mutex_;
  bool profiling_ = false;
  std::optional<std::uint32_t> range_;       // the open range of the name that was asked for
  std::optional<std::uint32_t> step_range_;  // of the current step
  std::optional<std::int32_t> step_;         // the current one
  std::int32_t bare_steps_ = 0;              // ranges that name a step without a number, so far
  std::optional<Time> opened_;               // when recording first began
};

/// The file of one process: bytes are only ever appended, and a failed write leaves whole frames.
class OutputFile : NonCopyable {
 public:
  OutputFile() = default;
  ~OutputFile() { abandon(); }

  /// Creates `directory`/`stem`.swtrace, or with -2, -3, ... where that is there already. Returns
  /// the reason when that is not possible; empty when it is open.
  std::string create(const std::string& directory, const std::string& stem);
  bool is_open() const { return descriptor_ >= 0; }

  /// Appends all of `bytes` or nothing; returns the reason of a failure, empty for none.
  std::string append(std::string_view bytes);

  /// Closes the descriptor and writes nothing: for a forked child.
  void abandon();

 private:
  int descriptor_ = -1;
  std::uint64_t whole_bytes_ = 0;
};

/// One line to stderr, at most five per process.
void print_problem(const std::string& line);

/// Lives as long as the process: callbacks and exit handlers may come at any time.
class Session {
 public:
  /// The one of this process, made at the first call; null where nothing is to be recorded, the
  /// file cannot be written, or in a forked child. Never throws.
  static Session* of_process();
  /// The same without making one.
  static Session* existing();

  /// Whether nothing is recorded of this process, as of a forked child.
  static bool refused() { return refused_; }

  /// Subscribes to CUPTI, once; what is not available is written to the file.
  void trace_device();
  /// Whether this session has CUPTI; absent before `trace_device` has tried.
  std::optional<bool> traces_device() const;

  Inbox& inbox() { return inbox_; }
  WindowControl& window() { return window_; }
  const CaptureSettings& settings() const { return settings_; }
  /// Whether rows of now are inside of the window.
  bool recording() const { return open_; }
  /// Looks at the window again and switches records on or off.
  void follow_window();

  /// Writes what there is and ends the file; waits for the writer at most a few seconds.
  void finish();
  /// From a signal handler: the writer ends the file and then ends the process by `signal`.
  void finish_by_signal(int signal);
  /// From a signal handler: writes soon what there is.
  void write_soon() const;
  /// In a forked child: leaves file and thread to the parent.
  void forked();

 private:
  explicit Session(CaptureSettings settings);
  static inline std::atomic<bool> refused_{false};
  bool start();
  void write_until_finished();
  void watch_host();
  void write_period(bool last);
  void drain();
  void write(bool last);
  void watch_buffers(bool last);
  void print_failure(const std::string& failure);
  void wake() const;

  const CaptureSettings settings_;
  const pid_t owner_;
  RecordBuffers buffers_;
  Inbox inbox_;
  WindowControl window_;
  OutputFile file_;
  std::atomic<Tracer*> tracer_{nullptr};
  std::atomic<int> device_tried_{0};  // 0 not yet, 1 traces, 2 does not
  RecordDecoder decoder_;
  Batch batch_;  // the writer's; kept for its memory, as are the bytes
  std::string bytes_;
  std::atomic<bool> open_{false};
  std::atomic<bool> finishing_{false};
  std::atomic<bool> finished_{false};
  std::atomic<bool> watching_host_{false};
  std::atomic<int> signal_{0};
  int wake_descriptor_ = -1;
  int finished_descriptor_ = -1;
  std::uint64_t lost_bytes_ = 0;     // by failed writes, not yet reported
  std::uint64_t handed_over_ = 0;    // buffers, when NCCL's calls were last counted from 0
  std::uint64_t calls_of_nccl_ = 0;  // since then
  bool reported_write_failure_ = false;
  bool reported_silence_ = false;
};

/// NVTX's ranges from now on, of the program or library whose NVTX 3 hands over this table: those
/// with names of one-byte characters go to the session's window, and to CUPTI, which records them
/// and NCCL's payloads, or without it to the session's inbox. Returns 1 (NVTX: success), 0 when the
/// table lacks a function.
int start_ranges(void* export_table);
/// The same of a program whose libnvToolsExt knows NVTX 1 only. Later ones, of NVTX 2, ask for the
/// entry above first, which they share with NVTX 3 (looked at in that of CUDA 11.8). What is handed
/// over here has another layout, which is published nowhere: CUPTI reads it, so that ranges are
/// recorded, but open no window and get lost without CUPTI.
int start_ranges_of_version_1(void* export_table);
/// Payloads of ranges, which only CUPTI reads.
int start_range_payloads(void* module);
/// Where CUPTI was refused after the first ranges, or in a forked child: none goes to it any more.
void take_ranges_from_cupti();

/// At exit and on SIGTERM and SIGINT the recording is ended, a forked child leaves it to the
/// parent. Handlers that the program has installed before are called as they would have been;
/// ignored signals stay ignored. What no handler sees (SIGKILL, _exit, abort) loses one period, and
/// buffers that CUPTI kept.
void watch_exit_paths();

/// Host, process, program, rank and tool as facts of the file.
std::vector<recording::Fact> process_facts(const RankFacts& rank, const std::string& run);

/// "rank3.gpu-17.4242", without the rank where there is none: the name of the process's file.
std::string file_stem(const RankFacts& rank);

std::uint64_t realtime_ns();
/// The system's number of this thread.
std::uint32_t this_thread();
}  // namespace scaleworth::gpu
