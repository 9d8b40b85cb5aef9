// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/export/export.h"

#include "src/core/files/atomic_file.h"
#include "src/core/process.h"

#include <memory>
#include <numeric>
#include <utility>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

namespace scaleworth::trace {
namespace {
// Of the window, each time that the file grows too large.
constexpr double least_narrowing = 0.7;
constexpr double most_narrowing = 0.01;
constexpr double caution = 0.9;         // events are not spread evenly
constexpr std::size_t piece = 1 << 20;  // bytes that are written at once
constexpr nanoseconds shortest_window = std::chrono::microseconds(1);

double seconds(nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

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
  const StepSpan* slowest = nullptr;
  const auto worth = [](const StepSpan& step) {
    return std::pair(!step.excluded, step.end - step.start);
  };
  for (const auto& steps : plan.by_rank)
    for (const StepSpan& step : steps)
      if (!slowest || worth(step) > worth(*slowest)) slowest = &step;
  if (!slowest) return std::nullopt;
  TimeInterval span{slowest->start, slowest->end};
  for (const auto& steps : plan.by_rank)
    for (const StepSpan& step : steps)
      if (step.number == slowest->number) extend(span, {step.start, step.end});
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
                    seconds(all.end - all.start));
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

/// What was found out, as slices over the whole window.
void export_verdict(const Attributed& attributed,
                    const Selection& selection,
                    ExportWriter& writer) {
  std::vector<std::string> sentences;
  for (const Straggler& straggler : attributed.result.stragglers.stragglers)
    if (!straggler.sentence.empty()) sentences.push_back(straggler.sentence);
  if (!attributed.result.stragglers.abstention.empty())
    sentences.push_back(attributed.result.stragglers.abstention);
  if (sentences.empty()) return;
  constexpr std::size_t most_sentences = 5;
  sentences.resize(std::min(sentences.size(), most_sentences));
  const auto process = static_cast<std::int32_t>(selection.ranks.size()) + 1;
  writer.add_process({process, "scaleworth", nullptr, 0});
  NestingTrack track(writer, writer.add_track(process, "verdict"));
  for (const std::string& sentence : sentences) track.add({selection.window, sentence, "verdict"});
  track.finish();
}

/// Thrown by OutputFile: the file would grow beyond its limit.
struct OutputTooLarge {};

/// A file that appears under its name only when it is whole, and that has a largest size.
class OutputFile {
 public:
  /// Compressed when `path` ends in ".gz". Throws UserError.
  OutputFile(const std::string& path, std::uint64_t most_bytes)
      : whole_(path, NewFile::Readers::as_umask), most_bytes_(most_bytes) {
    // zlib's mode T writes what it is given, so that one path serves both kinds.
    const int own = dup(whole_.descriptor());
    file_.reset(own < 0 ? nullptr : gzdopen(own, path.ends_with(".gz") ? "wb6" : "wbT"));
    if (!file_ && own >= 0) close(own);
    if (!file_) whole_.fail();
    buffer_.reserve(piece + (piece >> 4U));
  }

  /// Throws OutputTooLarge, and UserError when the disk is full.
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
    if (std::cmp_greater(size, most_bytes_)) throw OutputTooLarge{};
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
    if (static_cast<std::uint64_t>(gzoffset(file_.get())) > most_bytes_) throw OutputTooLarge{};
  }

  NewFile whole_;
  std::uint64_t most_bytes_;
  std::string buffer_;
  std::unique_ptr<gzFile_s, decltype(&gzclose)> file_{nullptr, &gzclose};
};

using MakeWriter = std::unique_ptr<ExportWriter>(Sink sink, nanoseconds origin);

/// Of the format that the name states.
MakeWriter* writer_for(const std::string& path) {
  if (path.ends_with(".pftrace") || path.ends_with(".perfetto-trace")) return perfetto_writer;
  if (path.ends_with(".json") || path.ends_with(".json.gz"))
    return [](Sink sink, nanoseconds origin) { return chrome_writer(std::move(sink), origin); };
  throw UserError(
      "{} is of no format that can be exported: end the name in .pftrace, .json or .json.gz", path);
}

/// Writes everything that `selection` shows. When that is too much, the counts are how far it came
/// and their `bytes` are 0.
ExportCounts write(const ExportSource& source,
                   const std::string& path,
                   nanoseconds origin,
                   std::uint64_t most_bytes) {
  OutputFile file(path, most_bytes);
  const auto writer = writer_for(path)([&](std::string_view bytes) { file.write(bytes); }, origin);
  std::uint64_t bytes = 0;
  try {
    export_ranks(source, *writer);
    export_verdict(source.attributed, source.selection, *writer);
    writer->finish();
    bytes = file.commit();
  } catch (const OutputTooLarge&) {
  }
  ExportCounts counts = writer->counts();
  counts.bytes = bytes;
  return counts;
}

std::int64_t count_shown(const ExportSource& source) {
  std::int64_t shown = 0;
  const auto add = [&](std::size_t rank, const auto& events) {
    shown += std::ranges::count_if(
        events, [&](const auto& event) { return source.selection.shows(rank, event); });
  };
  for (std::size_t rank = 0; rank < source.job.recordings.size(); ++rank) {
    add(rank, source.job.recordings[rank].device_events);
    add(rank, source.job.recordings[rank].host_events);
  }
  return shown;
}

/// A window shorter by `factor` within the old one, from the slowest step on where that lies
/// inside.
TimeInterval narrowed(TimeInterval window, double factor, const StepPlan& plan) {
  const auto length = nanoseconds(
      saturated<std::int64_t>(factor * static_cast<double>((window.end - window.start).count())));
  nanoseconds start = window.start;
  const auto slowest = slowest_step(plan);
  if (slowest && slowest->start > window.start && slowest->start < window.end)
    start = std::min(slowest->start, window.end - length);
  return {start, start + length};
}

}  // namespace

ExportCounts export_timeline(const Job& job,
                             const Attributed& attributed,
                             const std::string& path,
                             const ExportOptions& options) {
  writer_for(path);  // refuses other names before any work
  const TimeInterval all = extent(job, attributed.alignment.map);
  const RankNumbers numbers(job);
  Selection selection = select(job, numbers, attributed, all, options);
  const TimeInterval wanted = selection.window;
  while (true) {
    const ExportSource source{job, attributed, selection, numbers};
    ExportCounts counts = write(source, path, all.start, options.most_bytes);
    if (counts.bytes > 0) {
      if (selection.window.end - selection.window.start < wanted.end - wanted.start)
        counts.narrowed = fmt::format(
            "only {:.6f} to {:.6f} s of {:.6f} to {:.6f} s were exported, to stay below {:.0f} MB: "
            "choose a window, ranks or a larger limit",
            seconds(selection.window.start - all.start),
            seconds(selection.window.end - all.start),
            seconds(wanted.start - all.start),
            seconds(wanted.end - all.start),
            static_cast<double>(options.most_bytes) / 1e6);
      return counts;
    }
    if (selection.window.end - selection.window.start <= shortest_window)
      throw UserError(
          "{} would be larger than {} bytes even for a single moment: "
          "choose ranks or a larger limit",
          path,
          options.most_bytes);
    const auto shown = static_cast<double>(std::max<std::int64_t>(count_shown(source), 1));
    const double factor = std::clamp(
        caution * static_cast<double>(counts.slices) / shown, most_narrowing, least_narrowing);
    selection.window = narrowed(selection.window, factor, attributed.steps);
  }
}
}  // namespace scaleworth::trace
