// SPDX-License-Identifier: Apache-2.0
#include "probes/host/ranks/job_ending.h"

#include <charconv>
#include <cstring>
#include <iostream>

#include <fmt/format.h>

namespace scaleworth::probes::host {
namespace {

constexpr std::size_t longest_line = 4096;

std::optional<int> number_after(std::string_view line, std::string_view before) {
  const auto found = line.find(before);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view number = line.substr(found + before.size());
  int value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<int> rank_named_as_lost(std::string_view line) {
  if (line.starts_with("mpirun noticed that")) return number_after(line, "process rank ");
  const auto name = line.find("Process name: [[");
  return name == std::string_view::npos ? std::nullopt : number_after(line.substr(name), "],");
}

std::string killed(const std::string& who, int signal) {
  return fmt::format("{} was killed by signal {} ({})", who, signal, strsignal(signal));
}

}  // namespace

void LaunchErrors::pass_on(std::string_view text) {
  std::cerr.write(text.data(), static_cast<std::streamsize>(text.size()));
  std::cerr.flush();
  for (const char c : text) {
    if (c != '\n' && line_.size() < longest_line) {
      line_ += c;
    } else if (c == '\n') {
      if (const auto rank = rank_named_as_lost(line_)) lost_rank_ = rank;
      line_.clear();
    }
  }
}

std::optional<std::string> describe_failure(const ChildEnding& ending,
                                            std::optional<int> lost_rank) {
  if (ending.forwarded != 0) return fmt::format("interrupted by signal {}", ending.forwarded);
  if (ending.timed_out) return "the ranks did not end in time and were stopped";
  const std::string rank = lost_rank ? fmt::format("rank {}", *lost_rank) : "a rank";
  if (ending.signal != 0) return killed("mpirun", ending.signal);
  if (ending.exit_code > 128) return killed(rank, ending.exit_code - 128);
  if (ending.exit_code == 127) return "the ranks could not be started: see the message above";
  if (ending.exit_code != 0) {
    return fmt::format("{} ended with exit code {}", rank, ending.exit_code);
  }
  return std::nullopt;
}

}  // namespace scaleworth::probes::host
