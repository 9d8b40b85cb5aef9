// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/session.h"

#include "trace/formats/swtrace/bytes.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include <poll.h>
#include <sys/eventfd.h>

namespace scaleworth::gpu {
namespace {
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// CUPTI hands a buffer over when it is full, or at a flush when none of its records is open: a
// small one is lost for less time when the process is killed.
constexpr std::size_t buffer_bytes = std::size_t{1} << 20U;
// Of 1 MiB: memory while the disk is slow; then records are lost.
constexpr std::size_t most_waiting = 128;
constexpr std::size_t first_buffers = 4;  // ready before the first launch, which must not wait
// Some 10 MB; presumed: sooner compresses less, later loses more to a kill.
constexpr std::size_t rows_before_writing = 1U << 17U;
constexpr std::chrono::milliseconds patience = 10s;  // at exit, for the writer
// Of host threads, presumed: pauses of some milliseconds show; each look takes microseconds of a
// core.
constexpr std::chrono::milliseconds between_samples = 1ms;

std::atomic<Session*> session_of_process{nullptr};

void raise_event(int descriptor) {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(descriptor, &one, sizeof(one)));
}

void start_thread(void (Session::*run)(), Session* session) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  // Inherited by the thread, which must not run the program's handlers.
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(run, session).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
}  // namespace

void print_problem(const std::string& line) {
  static std::atomic<int> lines{0};
  constexpr int most_lines = 5;  // then the program's own output would drown
  if (++lines <= most_lines) std::fprintf(stderr, "scaleworth trace: %s\n", line.c_str());
}

Session::Session(CaptureSettings settings)
    : settings_(std::move(settings)),
      owner_(::getpid()),
      buffers_(buffer_bytes, most_waiting),
      window_(settings_.window) {}

Session* Session::existing() {
  return session_of_process;
}

Session* Session::of_process() {
  static std::mutex making;
  if (session_of_process != nullptr || refused_) return session_of_process;
  const std::scoped_lock lock(making);
  if (session_of_process != nullptr || refused_) return session_of_process;
  try {
    std::vector<std::string> problems;
    CaptureSettings settings = from_variables(&std::getenv, problems);
    auto* session = new Session(std::move(settings));
    for (const std::string& problem : problems) session->inbox_.remark(problem);
    if (session->start()) {
      session_of_process = session;
    } else {
      refused_ = true;  // and the session is left as it is: too small to matter
    }
  } catch (const std::exception& error) {
    refused_ = true;
    print_problem(error.what());
  }
  return session_of_process;
}

bool Session::start() {
  if (settings_.directory.empty()) return false;
  const RankFacts rank = rank_facts(&std::getenv);
  const std::string refusal = file_.create(settings_.directory, file_stem(rank));
  if (!refusal.empty()) {
    print_problem("nothing is recorded of process " + std::to_string(owner_) + ": " + refusal);
    return false;
  }
  wake_descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  finished_descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor_ < 0 || finished_descriptor_ < 0) {
    print_problem("nothing is recorded: no event descriptor is to be had");
    return false;
  }
  Batch first;
  first.facts = process_facts(rank, settings_.run);
  first.facts.emplace_back("invocation", settings_.invocation);
  std::string bytes = file_header();
  append_batch(first, bytes);
  const std::string failure = file_.append(bytes);
  if (!failure.empty()) print_problem("the recording cannot be written: " + failure);
  start_thread(&Session::write_until_finished, this);
  return failure.empty();
}

void Session::trace_device() {
  int untried = 0;
  constexpr int trying = 3;  // neither untried (0), nor the outcomes
  if (!device_tried_.compare_exchange_strong(untried, trying)) return;
  TracerEvents events;
  if (window_.watches_profiler()) {
    events.profiler = [this](bool started) {
      window_.profiler(started);
      follow_window();
    };
  }
  events.remark = [this](const std::string& line) { inbox_.remark(line); };
  const auto started =
      and_then(choose_cupti(settings_.cupti, cupti_of_cuda_12_4), [&](const auto& cupti) {
        buffers_.prepare(first_buffers);
        return Tracer::start(cupti, buffers_, std::move(events));
      });
  if (const auto* tracer = std::get_if<Tracer*>(&started)) tracer_ = *tracer;
  const std::string reason = reason_of(started);
  if (!reason.empty()) {
    inbox_.remark(reason);
    print_problem(reason);
  }
  device_tried_ = tracer_ != nullptr ? 1 : 2;
  if (tracer_ == nullptr) take_ranges_from_cupti();
  if (tracer_ != nullptr) {
    watching_host_ = true;
    start_thread(&Session::watch_host, this);
  }
  follow_window();
}

std::optional<bool> Session::traces_device() const {
  const int tried = device_tried_;
  if (tried != 1 && tried != 2) return std::nullopt;
  return tried == 1;
}

void Session::follow_window() {
  if (finished_) return;
  const bool open = window_.open(Clock::now());
  // The writer has to know when to stop.
  if (open_.exchange(open) != open && open && window_.deadline()) wake();
  Tracer* tracer = tracer_;
  if (tracer != nullptr) tracer->record(open);
}

void Session::finish() {
  if (::getpid() != owner_ || finished_) return;
  finishing_ = true;
  wake();
  pollfd waiting{finished_descriptor_, POLLIN, 0};
  while (::poll(&waiting, 1, static_cast<int>(patience.count())) < 0 && errno == EINTR) {
  }
  if (!finished_) print_problem("the end of the recording could not be written in time");
}

void Session::finish_by_signal(int signal) {
  if (::getpid() != owner_) return;
  if (signal_.exchange(signal) != 0 || finishing_.exchange(true)) {
    // The second signal ends the process at once.
    std::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  wake();
}

void Session::write_soon() const {
  if (::getpid() == owner_) wake();
}

void Session::wake() const {
  raise_event(wake_descriptor_);
}

void Session::forked() {
  Tracer::release_buffers();
  take_ranges_from_cupti();
  session_of_process = nullptr;
  refused_ = true;
  file_.abandon();
}

void Session::drain() {
  const Tracer* tracer = tracer_;
  if (tracer == nullptr) return;
  decoder_.ask(tracer->questions());
  while (const auto buffer = buffers_.next()) {
    CUpti_Activity* record = nullptr;
    const auto next = [&] {
      return tracer->cupti().next_record(buffer->data, buffer->bytes, &record);
    };
    CUptiResult status = next();
    for (; status == CUPTI_SUCCESS; status = next()) decoder_.add(*record, batch_);
    // Work that was unfinished at the end: its record, and how many follow, cannot be known.
    if (status != CUPTI_ERROR_MAX_LIMIT_REACHED)
      batch_.losses.emplace_back("dropped_rests_of_buffers", 1);
    buffers_.put_back(*buffer);
    const std::size_t rows =
        batch_.kernels.size() + batch_.calls.size() + batch_.marks.size() + batch_.copies.size();
    if (rows >= rows_before_writing) write(false);
  }
}

/// Writes the batch and empties it.
void Session::write(bool last) {
  bytes_.clear();
  append_batch(batch_, bytes_);
  batch_.clear();
  if (last) append_end(bytes_);
  if (!file_.is_open()) return;
  const std::string failure = file_.append(bytes_);
  if (!failure.empty()) print_failure(failure);
}

/// Counts what could not be written and reports it, in the file as well where a few bytes fit.
void Session::print_failure(const std::string& failure) {
  lost_bytes_ += bytes_.size();
  if (std::exchange(reported_write_failure_, true)) return;
  const std::string line = "the recording cannot be written: " + failure;
  print_problem(line);
  Batch last_words;
  last_words.facts.emplace_back("remark", line);
  last_words.losses.emplace_back("unwritten_bytes", lost_bytes_);
  bytes_.clear();
  append_batch(last_words, bytes_);
  if (file_.is_open() && file_.append(bytes_).empty()) lost_bytes_ = 0;
}

/// Says so when NCCL launches kernels and CUPTI hands over nothing: every launch leaves some 300
/// bytes, so that many would have filled several buffers, and at the end even one comes.
void Session::watch_buffers(bool last) {
  // Four buffers, by the 300 bytes above.
  constexpr std::uint64_t most_without = 4 * buffer_bytes / 300;
  calls_of_nccl_ += static_cast<std::uint64_t>(
      std::ranges::count_if(batch_.collectives, [](const CollectiveRow& row) {
        return row.source == CollectiveSource::plugin && (row.fields & collective_has_ranks) == 0;
      }));
  const std::uint64_t handed_over = buffers_.handed_over();
  if (handed_over != handed_over_) calls_of_nccl_ = 0;
  handed_over_ = handed_over;
  if (tracer_ == nullptr || calls_of_nccl_ < (last ? 1 : most_without)) return;
  if (std::exchange(reported_silence_, true)) return;
  batch_.facts.emplace_back(
      "remark",
      "NCCL launched kernels and CUPTI gave no records of them: another tool of this process took "
      "its buffers or switched its records off; run without it");
}

void Session::write_period(bool last) {
  const Tracer* tracer = tracer_;
  if (tracer != nullptr) tracer->flush(last);
  drain();
  inbox_.empty_into(batch_,
                    [this](std::string_view text, Batch& to) { return decoder_.name(text, to); });
  watch_buffers(last);
  const auto add_loss = [this](const char* name, std::uint64_t count) {
    if (count > 0) batch_.losses.emplace_back(name, count);
  };
  if (tracer != nullptr) add_loss("dropped_records", tracer->take_dropped());
  add_loss("discarded_buffer_bytes", buffers_.take_discarded_bytes());
  add_loss("unwritten_bytes", std::exchange(lost_bytes_, 0));
  const std::string never_opened = last ? window_.never_opened() : std::string();
  if (!never_opened.empty())
    batch_.facts.emplace_back("remark", "the window never opened: " + never_opened);
  write(last);
}

void Session::watch_host() {
  HostSampler sampler(owner_);
  while (!finishing_) {
    std::this_thread::sleep_for(between_samples);
    if (auto stretch = open_ ? sampler.sample() : sampler.end()) inbox_.add(std::move(*stretch));
  }
  if (auto stretch = sampler.end()) inbox_.add(std::move(*stretch));
  watching_host_ = false;
}

void Session::write_until_finished() {
  try {
    while (!finishing_) {
      const auto deadline = window_.deadline();
      if (!deadline || Clock::now() + std::chrono::milliseconds(settings_.period_ms) < *deadline ||
          !open_) {
        pollfd waiting{wake_descriptor_, POLLIN, 0};
        static_cast<void>(::poll(&waiting, 1, settings_.period_ms));
        std::uint64_t count = 0;
        static_cast<void>(!::read(wake_descriptor_, &count, sizeof(count)));
      } else {
        std::this_thread::sleep_until(*deadline);
      }
      if (open_ && deadline && Clock::now() >= *deadline) follow_window();
      if (!finishing_) write_period(false);
    }
    // It looks every millisecond, where the machine is not too busy for that.
    for (int look = 0; watching_host_ && look < 20; ++look)
      std::this_thread::sleep_for(between_samples);
    if (watching_host_) inbox_.remark("lost: what the program did last while the GPU waited");
    write_period(true);
  } catch (const std::exception& error) {
    print_problem(std::string("recording ends: ") + error.what());
  }
  finished_ = true;
  raise_event(finished_descriptor_);
  const int signal = signal_;
  if (signal == 0) return;
  std::signal(signal, SIG_DFL);
  ::kill(owner_, signal);
}

void Inbox::remark(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(remarks_, line) == remarks_.end()) remarks_.push_back(line);
}

void Inbox::empty_into(Batch& batch,
                       const std::function<std::uint32_t(std::string_view, Batch&)>& name) {
  std::vector<ReportedCollective> collectives;
  std::vector<ReportedMark> marks;
  std::vector<ReportedStretch> stretches;
  {
    const std::scoped_lock lock(mutex_);
    collectives.swap(collectives_);
    marks.swap(marks_);
    stretches.swap(stretches_);
    for (; remarks_written_ < remarks_.size(); ++remarks_written_)
      batch.facts.emplace_back("remark", remarks_[remarks_written_]);
    if (dropped_ > 0) batch.losses.emplace_back("dropped_host_events", std::exchange(dropped_, 0));
  }
  for (ReportedCollective& report : collectives) {
    report.row.function = name(report.function, batch);
    report.row.algorithm = name(report.algorithm, batch);
    report.row.protocol = name(report.protocol, batch);
    batch.collectives.push_back(report.row);
  }
  for (ReportedMark& report : marks) {
    report.row.name = name(report.name, batch);
    batch.marks.push_back(report.row);
  }
  for (ReportedStretch& report : stretches) {
    report.row.name = name(report.name, batch);
    batch.overheads.push_back(report.row);
  }
}

bool WindowControl::conditions_hold() const {
  if (window_.profiler_api && !profiling_) return false;
  if (!window_.range.empty() && !range_) return false;
  if (!window_.steps) return true;
  return step_ && *step_ >= window_.steps->first && *step_ <= window_.steps->second;
}

std::optional<WindowControl::Time> WindowControl::end_of_duration() const {
  if (!window_.duration_s || !opened_) return std::nullopt;
  return *opened_ + std::chrono::duration_cast<Time::duration>(
                        std::chrono::duration<double>(*window_.duration_s));
}

bool WindowControl::open(Time now) {
  const std::scoped_lock lock(mutex_);
  if (!conditions_hold()) return false;
  if (!opened_) opened_ = now;
  const auto end = end_of_duration();
  return !end || now < *end;
}

void WindowControl::profiler(bool started) {
  const std::scoped_lock lock(mutex_);
  profiling_ = started;
}

void WindowControl::range_opened(std::string_view name, std::uint32_t range) {
  const std::scoped_lock lock(mutex_);
  if (!window_.range.empty() && name == window_.range && !range_) range_ = range;
  if (!window_.steps) return;
  const auto step = parse_step_name(name);
  if (!step) return;
  step_ = step->number ? *step->number : bare_steps_++;
  step_range_ = range;
}

void WindowControl::range_closed(std::uint32_t range) {
  const std::scoped_lock lock(mutex_);
  if (range_ == range) range_.reset();
  // A step lasts until the next one begins; only the last one ends with its range.
  if (step_range_ != range) return;
  step_range_.reset();
  if (window_.steps && step_ == window_.steps->second) step_.reset();
}

std::optional<WindowControl::Time> WindowControl::deadline() {
  const std::scoped_lock lock(mutex_);
  return end_of_duration();
}

std::string WindowControl::never_opened() {
  const std::scoped_lock lock(mutex_);
  if (opened_) return {};
  std::string missing;
  if (window_.profiler_api) missing += "cudaProfilerStart was not called; ";
  if (!window_.range.empty()) missing += "no NVTX range '" + window_.range + "' was seen; ";
  if (window_.steps) missing += "no NVTX range named such a step ('step 12', 'ProfilerStep#12'); ";
  if (missing.size() > 2) missing.resize(missing.size() - 2);
  return missing;
}
}  // namespace scaleworth::gpu
