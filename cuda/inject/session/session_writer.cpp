// SPDX-License-Identifier: Apache-2.0
/// The writer's part of the session.
#include "cuda/inject/process/process_facts.h"
#include "cuda/inject/session/session.h"

#include <chrono>
#include <csignal>
#include <exception>
#include <thread>
#include <utility>

#include <poll.h>

namespace scaleworth::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t rows_before_writing = 1U << 17U;

std::size_t rows_of(const trace::recording::Batch& batch) {
  return batch.kernels.size() + batch.calls.size() + batch.marks.size() + batch.copies.size();
}

}  // namespace

void Session::wait_for_work() const {
  pollfd waiting{wake_descriptor_, POLLIN, 0};
  static_cast<void>(::poll(&waiting, 1, settings_.period_ms));
  std::uint64_t count = 0;
  static_cast<void>(!::read(wake_descriptor_, &count, sizeof(count)));
}

void Session::drain_buffer(const FilledBuffer& buffer) {
  const Tracer* tracer = tracer_;
  CUpti_Activity* record = nullptr;
  CUptiResult status = tracer->cupti().next_record(buffer.data, buffer.bytes, &record);
  while (status == CUPTI_SUCCESS) {
    decoder_.add(*record, batch_);
    status = tracer->cupti().next_record(buffer.data, buffer.bytes, &record);
  }
  // Work that was unfinished at the end: its record, and how many follow, cannot be known.
  if (status != CUPTI_ERROR_MAX_LIMIT_REACHED)
    batch_.losses.emplace_back("dropped_rests_of_buffers", 1);
}

void Session::drain() {
  const Tracer* tracer = tracer_;
  if (tracer == nullptr) return;
  if (!decoder_asks_) decoder_.ask(tracer->questions());
  decoder_asks_ = true;
  while (const auto buffer = desk_.next()) {
    drain_buffer(*buffer);
    desk_.put_back(*buffer);
    if (rows_of(batch_) >= rows_before_writing) write(false);
  }
}

/// Writes the batch and empties it.
void Session::write(bool last) {
  bytes_.clear();
  trace::recording::append_batch(batch_, bytes_);
  batch_.clear();
  if (last) trace::recording::append_end(bytes_);
  if (!file_.is_open()) return;
  const std::string failure = file_.append(bytes_);
  if (!failure.empty()) tell_failure(failure);
}

/// Counts what could not be written and says so, in the file as well where a few bytes still fit.
void Session::tell_failure(const std::string& failure) {
  lost_bytes_ += bytes_.size();
  if (std::exchange(complained_of_writing_, true)) return;
  const std::string line = "the recording cannot be written: " + failure;
  complain(line);
  trace::recording::Batch last_words;
  last_words.facts.emplace_back("remark", line);
  last_words.losses.emplace_back("unwritten_bytes", lost_bytes_);
  bytes_.clear();
  trace::recording::append_batch(last_words, bytes_);
  if (file_.is_open() && file_.append(bytes_).empty()) lost_bytes_ = 0;
}

void Session::add_losses() {
  const Tracer* tracer = tracer_;
  const auto add = [this](const char* name, std::uint64_t count) {
    if (count > 0) batch_.losses.emplace_back(name, count);
  };
  if (tracer != nullptr) add("dropped_records", tracer->take_dropped());
  add("discarded_buffer_bytes", desk_.take_discarded_bytes());
  add("unwritten_bytes", std::exchange(lost_bytes_, 0));
}

void Session::write_period(bool last) {
  const Tracer* tracer = tracer_;
  if (tracer != nullptr) tracer->flush(last);
  drain();
  inbox_.empty_into(batch_, [this](std::string_view text, trace::recording::Batch& to) {
    return decoder_.name(text, to);
  });
  batch_.clocks.push_back(read_clocks());
  add_losses();
  const std::string never_opened = last ? window_.never_opened() : std::string();
  if (!never_opened.empty())
    batch_.facts.emplace_back("remark", "the window never opened: " + never_opened);
  write(last);
}

void Session::write_until_finished() {
  try {
    while (!finishing_) {
      const auto deadline = window_.deadline();
      if (!deadline || Clock::now() + std::chrono::milliseconds(settings_.period_ms) < *deadline ||
          !open_) {
        wait_for_work();
      } else {
        std::this_thread::sleep_until(*deadline);
      }
      if (open_ && deadline && Clock::now() >= *deadline) follow_window("duration");
      if (!finishing_) write_period(false);
    }
    write_period(true);
  } catch (const std::exception& error) {
    complain(std::string("recording ends: ") + error.what());
  }
  finished_ = true;
  poke(finished_descriptor_);
  const int signal = signal_;
  if (signal == 0) return;
  std::signal(signal, SIG_DFL);
  ::kill(owner_, signal);
}

}  // namespace scaleworth::gpu
