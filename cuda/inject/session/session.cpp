// SPDX-License-Identifier: Apache-2.0
#include "cuda/inject/session/session.h"

#include "cuda/inject/cupti/range_listener.h"
#include "cuda/inject/process/process_facts.h"
#include "trace/format/recording/bytes/frame.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include <poll.h>
#include <sys/eventfd.h>

namespace scaleworth::gpu {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t buffer_bytes = std::size_t{8} << 20U;
constexpr std::size_t most_waiting = 16;
constexpr std::size_t first_buffers = 2;
constexpr std::chrono::milliseconds patience = 10s;  // at exit, for the writer

std::atomic<Session*> session_of_process{nullptr};
std::atomic<bool> process_refused{false};

void block_all_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

const char* variable(const char* name) {
  return std::getenv(name);
}

}  // namespace

void complain(const std::string& line) {
  static std::atomic<int> lines{0};
  constexpr int most_lines = 5;
  if (++lines <= most_lines) std::fprintf(stderr, "scaleworth trace: %s\n", line.c_str());
}

Session::Session(trace::CaptureSettings settings)
    : settings_(std::move(settings)),
      owner_(::getpid()),
      desk_(buffer_bytes, most_waiting),
      window_(settings_.window) {}

Session* Session::existing() {
  return session_of_process;
}

Session* Session::of_process() {
  static std::mutex making;
  if (session_of_process != nullptr || process_refused) return session_of_process;
  const std::scoped_lock lock(making);
  if (session_of_process != nullptr || process_refused) return session_of_process;
  try {
    std::vector<std::string> problems;
    trace::CaptureSettings settings = trace::from_variables(&variable, problems);
    auto* session = new Session(std::move(settings));
    for (const std::string& problem : problems) session->inbox_.remark(problem);
    if (session->start()) {
      session_of_process = session;
    } else {
      process_refused = true;  // and the session is left as it is: too small to matter
    }
  } catch (const std::exception& error) {
    process_refused = true;
    complain(error.what());
  }
  return session_of_process;
}

bool Session::start() {
  if (settings_.directory.empty()) return false;
  const RankFacts rank = rank_facts(&variable);
  const std::string refusal = file_.create(settings_.directory, file_stem(rank));
  if (!refusal.empty()) {
    complain("nothing is recorded of process " + std::to_string(owner_) + ": " + refusal);
    return false;
  }
  wake_descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  finished_descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_descriptor_ < 0 || finished_descriptor_ < 0) {
    complain("nothing is recorded: no event descriptor is to be had");
    return false;
  }
  trace::recording::Batch first;
  first.facts = process_facts(rank, settings_.run);
  first.facts.emplace_back("invocation", settings_.invocation);
  first.clocks = {read_clocks()};
  std::string bytes = trace::recording::file_header();
  trace::recording::append_batch(first, bytes);
  const std::string failure = file_.append(bytes);
  if (!failure.empty()) complain("the recording cannot be written: " + failure);
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  block_all_signals();  // inherited by the writer, which must not run the program's handlers
  std::thread(&Session::write_until_finished, this).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return failure.empty();
}

void Session::trace_device() {
  int untried = 0;
  constexpr int trying = 3;
  if (!device_tried_.compare_exchange_strong(untried, trying)) return;
  std::vector<std::string> lines;
  TracerEvents events;
  if (window_.watches_profiler()) {
    events.profiler = [this](bool started) {
      window_.profiler(started);
      follow_window(started ? "cudaProfilerStart" : "cudaProfilerStop");
    };
  }
  if (window_.watches_ranges()) events.range = range_listener(*this);
  events.refused = [this](const std::string& line) { inbox_.remark(line); };
  std::string reason;
  const auto chosen = choose_cupti(settings_.cupti);
  if (const auto* cupti = std::get_if<std::shared_ptr<const Cupti>>(&chosen)) {
    desk_.prepare(first_buffers);
    const auto started = Tracer::start(*cupti, desk_, std::move(events), lines);
    if (const auto* tracer = std::get_if<Tracer*>(&started)) tracer_ = *tracer;
    if (const auto* skipped = std::get_if<Skipped>(&started)) reason = skipped->reason;
    if (const auto* failed = std::get_if<Failed>(&started)) reason = failed->reason;
  } else if (const auto* skipped = std::get_if<Skipped>(&chosen)) {
    reason = skipped->reason;
  } else {
    reason = std::get<Failed>(chosen).reason;
  }
  for (const std::string& line : lines) inbox_.remark(line);
  if (!reason.empty()) {
    inbox_.remark(reason);
    complain(reason);
  }
  device_tried_ = tracer_ != nullptr ? 1 : 2;
  follow_window("start");
}

std::optional<bool> Session::traces_device() const {
  const int tried = device_tried_;
  if (tried != 1 && tried != 2) return std::nullopt;
  return tried == 1;
}

void Session::follow_window(const char* why) {
  if (finished_) return;
  const bool open = window_.open(Clock::now());
  if (open_.exchange(open) != open) {
    trace::recording::WindowRow row;
    row.time_ns = realtime_ns();
    row.on = open ? 1 : 0;
    inbox_.add(SaidWindow{row, why});
    if (open && window_.deadline()) wake();  // the writer has to know when to stop
  }
  Tracer* tracer = tracer_;
  if (tracer != nullptr) tracer->record(open);
}

void Session::poke(int descriptor) {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(descriptor, &one, sizeof(one)));
}

void Session::wake() const {
  poke(wake_descriptor_);
}

void Session::finish() {
  if (::getpid() != owner_ || finished_) return;
  finishing_ = true;
  wake();
  pollfd waiting{finished_descriptor_, POLLIN, 0};
  while (::poll(&waiting, 1, static_cast<int>(patience.count())) < 0 && errno == EINTR) {
  }
  if (!finished_) complain("the end of the recording could not be written in time");
}

void Session::finish_by_signal(int signal) {
  if (::getpid() != owner_) return;
  if (signal_.exchange(signal) != 0 || finishing_.exchange(true)) {
    // Asked twice: whoever asks is not to be kept waiting.
    std::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  wake();
}

void Session::hurry() {
  if (::getpid() == owner_) wake();
}

void Session::forked() {
  Tracer::let_go_of_desk();
  session_of_process = nullptr;
  process_refused = true;
  file_.abandon();
}

}  // namespace scaleworth::gpu
