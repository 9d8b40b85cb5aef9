// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export.h"

#include "src/core/files/atomic_file.h"
#include "src/core/mean_ledger.h"
#include "src/core/process.h"

#include <memory>
#include <numeric>
#include <utility>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

namespace scaleworth::trace {
namespace {
constexpr std::size_t piece = 1 << 20;  // bytes that are written at once

/// From the first begin to behind the last end, of all ranks.
TimeInterval extent(const Job& job, const ClockMap& map) {
  TimeInterval all = no_time;
  const auto add = [&](std::size_t rank, const auto& events) {
    for (const auto& event : events) {
      const TimeInterval time = common_time(map, rank, event);
      extend(all, {time.start, time.end + nanoseconds(1)});
    }
  };
  for (std::size_t rank = 0; rank < job.recordings.size(); ++rank) {
    add(rank, job.recordings[rank].device_events);
    add(rank, job.recordings[rank].host_events);
    add(rank, job.recordings[rank].step_marks);
  }
  if (all.end <= all.start)
    throw UserError("there is nothing to export: the recordings hold no events");
  return all;
}

/// From the first rank's begin to the last rank's end of the slowest step; steps that are not
/// averaged count only when there are no others.
std::optional<TimeInterval> slowest_step(const StepPlan& plan) {
  if (!plan.drawn) return std::nullopt;
  TimeInterval span = no_time;
  for (const auto& steps : plan.by_rank)
    for (const StepSpan& step : steps)
      if (step.number == plan.drawn) extend(span, {step.start, step.end});
  return span;
}

Selection select(const Job& job,
                 const RankNumbers& numbers,
                 const Attributed& attributed,
                 TimeInterval all,
                 const ExportOptions& options) {
  Selection selection{attributed.alignment.map,
                      all,
                      std::vector<bool>(job.recordings.size(), options.ranks.empty())};
  if (options.slowest_step) {
    const auto step = slowest_step(attributed.steps);
    if (!step) throw UserError("there are no steps to choose the slowest from: choose a window");
    selection.window = *step;
  }
  if (options.window) {
    selection.window.start = std::max(selection.window.start, all.start + options.window->start);
    selection.window.end = std::min(selection.window.end, all.start + options.window->end);
  }
  if (selection.window.end <= selection.window.start)
    throw UserError("the window to export is empty: choose one within 0:{:.3f} seconds",
                    in_seconds(all.end - all.start));
  for (const Rank rank : options.ranks) {
    const auto place = numbers.place_of(rank);
    if (!place) {
      std::vector<Place> places;
      for (std::size_t i = 0; i < job.recordings.size(); ++i) places.push_back(place_at(i));
      throw UserError("there is no recording of rank {} to export: choose among {}",
                      rank.index,
                      numbers.names(places));
    }
    selection.ranks[place->index] = true;
  }
  return selection;
}

/// A file that appears under its name only when it is whole.
class OutputFile {
 public:
  /// Compressed when `path` ends in ".gz". Throws UserError.
  explicit OutputFile(const std::string& path) : whole_(path, NewFile::Readers::as_umask) {
    // zlib's mode T writes what it is given, so that one path serves both kinds.
    const int own = dup(whole_.descriptor());
    file_.reset(own < 0 ? nullptr : gzdopen(own, path.ends_with(".gz") ? "wb6" : "wbT"));
    if (!file_ && own >= 0) close(own);
    if (!file_) whole_.fail();
    buffer_.reserve(piece + (piece >> 4U));
  }

  /// Throws UserError when the disk is full.
  void write(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= piece) flush();
  }

  /// Puts the file into its place; returns its size. Throws as `write` does.
  std::uint64_t commit() {
    flush();
    if (gzclose(file_.release()) != Z_OK) whole_.fail();
    const off_t size = lseek(whole_.descriptor(), 0, SEEK_END);
    if (size < 0) whole_.fail();
    whole_.commit();
    return static_cast<std::uint64_t>(size);
  }

 private:
  void flush() {
    check_interrupt();
    if (!buffer_.empty() &&
        gzwrite(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size())) == 0)
      whole_.fail();
    buffer_.clear();
  }

  NewFile whole_;
  std::string buffer_;
  std::unique_ptr<gzFile_s, decltype(&gzclose)> file_{nullptr, &gzclose};
};
}  // namespace

ExportCounts export_timeline(const Job& job,
                             const Attributed& attributed,
                             const std::string& path,
                             const ExportOptions& options) {
  if (!path.ends_with(".json") && !path.ends_with(".json.gz"))
    throw UserError("{} is of no format that can be exported: end the name in .json or .json.gz",
                    path);
  const TimeInterval all = extent(job, attributed.alignment.map);
  const RankNumbers numbers(job);
  const Selection selection = select(job, numbers, attributed, all, options);
  OutputFile file(path);
  ExportWriter writer([&](std::string_view bytes) { file.write(bytes); }, all.start);
  export_ranks({job, attributed, selection, numbers}, writer);
  writer.finish();
  ExportCounts counts = writer.counts();
  counts.bytes = file.commit();
  return counts;
}
}  // namespace scaleworth::trace
