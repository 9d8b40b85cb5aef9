// SPDX-License-Identifier: Apache-2.0
#include "src/core/run/run_directory.h"

#include "src/core/atomic_file.h"
#include "src/core/csv.h"
#include "src/core/error.h"
#include "src/core/run/json.h"
#include "src/core/run/run_path.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace scaleworth {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

constexpr std::uintmax_t largest_file = std::uintmax_t{1} << 30;
// 1 / 5 %: the pause between two saves in units of what one costs.
constexpr int pause_per_cost = 20;

[[noreturn]] void cannot_read(const fs::path& file, const std::string& cause) {
  throw UserError(fmt::format(
      "cannot read {}: {}; give a run directory or its run.json", file.string(), cause));
}

std::string contents_of(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) cannot_read(file, std::strerror(error ? error.value() : ENOENT));
  if (!fs::is_regular_file(status)) cannot_read(file, "it is not a regular file");
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) cannot_read(file, error.message());
  if (size > largest_file) {
    cannot_read(file, fmt::format("{} MiB are more than the limit of 1 GiB", size >> 20));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text(size, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size))) {
    cannot_read(file, std::strerror(errno));
  }
  return text;
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, Seconds least_interval)
    : path_(std::move(path)), least_interval_(least_interval) {
  make_directory(path_);
  std::error_code error;
  if (fs::exists(path_ / run_file_name, error)) {
    throw UserError(fmt::format(
        "{} already holds a run; choose another directory or remove that one", path_.string()));
  }
}

RunDirectory::Milestone RunDirectory::milestone_of(const Run& run) {
  const auto ended = std::count_if(run.probes.begin(), run.probes.end(), [](const auto& probe) {
    return probe.status != ProbeStatus::pending;
  });
  return {static_cast<std::size_t>(ended), run.complete, run.interruption};
}

void RunDirectory::save(const Run& run) {
  const steady_clock::time_point start = steady_clock::now();
  Milestone milestone = milestone_of(run);
  if (saved_ == milestone && start < next_save_) return;
  write_file_atomically(path_ / run_file_name, run_to_json(run));
  saved_ = std::move(milestone);
  const steady_clock::time_point end = steady_clock::now();
  const std::chrono::duration<double> least(least_interval_.value());
  next_save_ = end + std::max(std::chrono::duration_cast<steady_clock::duration>(least),
                              pause_per_cost * (end - start));
}

fs::path RunDirectory::inside(const std::string& name) const {
  if (!stays_inside(name) || name == run_file_name) {
    throw std::invalid_argument("no file beside run.json: '" + name + "'");
  }
  return path_ / name;
}

void RunDirectory::append_rows(const std::string& name,
                               const std::vector<std::string>& header,
                               const std::vector<std::vector<std::string>>& rows) {
  const fs::path file = inside(name);
  const bool first = tables_.count(name) == 0;
  std::string lines = first ? csv_line(header) : std::string();
  for (const std::vector<std::string>& row : rows) {
    if (row.size() != header.size())
      throw std::invalid_argument("append_rows: a row of " + name + " does not match its header");
    lines += csv_line(row);
  }
  append_to_file(file, lines, first ? Existing::refuse : Existing::append);
  tables_.insert(name);
}

void RunDirectory::write_file(const std::string& name, std::string_view contents) {
  const fs::path file = inside(name);
  make_directory(file.parent_path());
  write_file_atomically(file, contents);
}

Run read_run(const fs::path& path) {
  std::error_code error;
  const fs::path file = fs::is_directory(path, error) ? path / run_file_name : path;
  return run_from_json(contents_of(file), file.string());
}

}  // namespace scaleworth
