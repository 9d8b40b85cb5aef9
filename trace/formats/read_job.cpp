// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/read_job.h"

#include "src/core/files/fields.h"
#include "src/core/non_copyable.h"
#include "src/core/process.h"
#include "src/core/statistics/sample_statistics.h"
#include "trace/analysis/intervals.h"
#include "trace/formats/byte_source.h"
#include "trace/formats/framework_timeline.h"
#include "trace/formats/kineto.h"
#include "trace/formats/nsight/contents.h"
#include "trace/formats/swtrace/bytes.h"
#include "trace/formats/swtrace/swtrace.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <glob.h>
#include <unistd.h>

namespace scaleworth::trace {
namespace {
/// One file, whatever its format, as recordings.
struct FileContent {
  std::vector<Recording> recordings;
  std::vector<std::string> left_out;  // the file or members of an archive, each with the reason
  bool foreign = false;               // no recording and no archive: `left_out` says so
};

constexpr std::string_view files_to_give =
    "give files of scaleworth trace, of the PyTorch profiler or of nsys export --type sqlite";
constexpr std::size_t look_ahead = 64 * 1024;  // bytes that identify the format
constexpr std::size_t piece = 1 << 20;

/// A file in the folder for temporary ones; gone with this object.
class TemporaryFile : NonCopyable {
 public:
  explicit TemporaryFile(const std::string& content) {
    std::error_code missing;
    const auto folder = std::filesystem::temp_directory_path(missing);
    std::string name = (folder / "scaleworth-XXXXXX").string();
    const int descriptor = missing ? -1 : mkstemp(name.data());
    if (descriptor < 0)
      throw UserError("{} cannot be unpacked: set TMPDIR to a folder with space", content);
    close(descriptor);
    path_ = name;
  }
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// SQLite must seek, so that what is compressed or in an archive becomes a file first.
std::vector<Recording> read_unpacked_nsight(PeekedSource& source, const RuleTable& rules) {
  const TemporaryFile file(source.name());
  std::ofstream unpacked(file.path(), std::ios::binary);
  std::vector<char> buffer(piece);
  while (const std::size_t got = source.read(buffer))
    unpacked.write(buffer.data(), static_cast<std::streamsize>(got));
  unpacked.close();
  if (!unpacked)
    throw UserError("{} cannot be unpacked: set TMPDIR to a folder with more space", source.name());
  std::vector<Recording> recordings = read_nsight(file.path(), rules);
  for (Recording& recording : recordings) recording.origin.file = source.name();
  return recordings;
}

std::vector<Recording> read_chrome_json(PeekedSource& source, const RuleTable& rules) {
  if (is_operation_timers(source.front())) return read_operation_timers(source);
  return read_kineto(source, rules);
}

bool is_sqlite(std::string_view front) {
  return front.starts_with("SQLite format 3");
}

/// Whether `path` itself begins as its content does, without compression.
bool stored_plainly(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return false;  // a pipe is read but once
  std::ifstream file(path, std::ios::binary);
  std::array<char, 16> front{};
  file.read(front.data(), front.size());
  return is_sqlite({front.data(), static_cast<std::size_t>(file.gcount())});
}

bool is_json(std::string_view front) {
  if (front.starts_with("\xEF\xBB\xBF")) front.remove_prefix(3);
  const std::size_t begin = front.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (front[begin] == '{' || front[begin] == '[');
}

struct Format {
  bool (*recognizes)(std::string_view front);
  std::function<std::vector<Recording>(PeekedSource& source, const RuleTable& rules)> read;
};

/// The first that recognizes the content reads it.
const std::array formats = {
    Format{is_sqlite, read_unpacked_nsight},
    Format{[](std::string_view front) { return front.starts_with(recording::file_magic); },
           [](PeekedSource& source, auto&) { return read_recording(source); }},
    Format{is_json, read_chrome_json}};

const Format* format_of(std::string_view front) {
  for (const Format& format : formats)
    if (format.recognizes(front)) return &format;
  return nullptr;
}

std::string no_recording(const std::string& name) {
  return fmt::format("{} is of no known format: {}", name, files_to_give);
}

bool hidden(const std::string& member) {
  const std::size_t slash = member.find_last_of("/:");
  return member.substr(slash + 1).starts_with('.');
}

/// Members that are no recordings are left out; so is one that cannot be read.
void read_archive(ByteSource& archive, const RuleTable& rules, FileContent& content) {
  TarReader reader(archive);
  while (auto stored = reader.next()) {
    if (hidden(stored->name())) continue;
    PeekedSource member(decompressed(std::move(stored)), look_ahead);
    if (auto foreign = foreign_file(member.name(), member.front())) {
      content.left_out.push_back(std::move(*foreign));
      continue;
    }
    const Format* format = format_of(member.front());
    if (!format) continue;
    try {
      for (Recording& recording : format->read(member, rules))
        content.recordings.push_back(std::move(recording));
    } catch (const UserError& error) {
      content.left_out.emplace_back(error.what());
    }
  }
  if (!reader.damage().empty())
    content.left_out.push_back(fmt::format("the end of {} ({})", archive.name(), reader.damage()));
  if (content.recordings.empty() && content.left_out.empty())
    content.left_out.push_back(no_recording(archive.name()));
}

/// Finds the format by the content: ours, Chrome JSON of PyTorch or a framework, SQLite of Nsight
/// Systems, and tar archives of these; each plain or compressed by gzip or zstd. One of a known
/// format that cannot be read is left out.
FileContent read_file(const std::string& path, const RuleTable& rules) try {
  check_interrupt();
  FileContent content;
  if (std::filesystem::path(path).extension() == ".nsys-rep") {
    content.recordings = read_nsight(path, rules);  // says how to export it
    return content;
  }
  PeekedSource source(open_byte_source(path), look_ahead);
  if (auto foreign = foreign_file(path, source.front())) return {{}, {std::move(*foreign)}};
  if (TarReader::recognizes(source.front())) {
    read_archive(source, rules, content);
  } else if (const Format* format = format_of(source.front())) {
    const bool plain_file = format->recognizes == is_sqlite && stored_plainly(path);
    content.recordings = plain_file ? read_nsight(path, rules) : format->read(source, rules);
  } else {
    content.foreign = true;
    content.left_out.push_back(source.front().empty()
                                   ? path + " is empty: its writer was stopped, or a copy failed"
                                   : no_recording(path));
  }
  return content;
} catch (const UserError& error) {
  return {{}, {error.what()}};
}

/// Analyses know ranks, not GPUs: what that means for a process that drives several is said.
void describe_several_devices(Recording& recording) {
  std::set<std::uint16_t> devices;
  std::uint16_t last = 0;
  for (const DeviceEvent& event : recording.device_events) {
    if (!devices.empty() && event.device == last) continue;
    devices.insert(event.device);
    last = event.device;
  }
  if (devices.size() > 1)
    recording.remarks.push_back(
        fmt::format("its process drives {} GPUs, which count as one rank: an instant belongs to "
                    "the first class of work that is active on any of them",
                    devices.size()));
}

/// Why a recording without work on a GPU is left out, and what to do.
std::string without_work(const Recording& recording) {
  const char* reason = "holds no work on a GPU: record with CUDA activity on";
  const auto launches = [&](const HostEvent& event) {
    const std::string_view name = recording.names.at(event.name);
    return is_call(event) && (name.find("aunch") != name.npos || name.find("Memcpy") != name.npos);
  };
  const bool calls = std::ranges::any_of(recording.host_events, is_call);
  if (calls && std::ranges::none_of(recording.host_events, launches))
    reason = "launched nothing on a GPU";
  else if (calls)
    reason =
        "holds calls that launch work but no work on a GPU: end other profilers (nsys, ncu, DCGM), "
        "which keep the GPU to themselves, and record again";
  else if (recording.origin.tool == "Kineto")
    reason =
        "is a CPU-only profile, without work on a GPU: record again with "
        "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] (CUDA also for ROCm; XPU or MTIA "
        "on those devices)";
  return recording.origin.file + " " + reason;
}

/// Why files are not in the job: some in words, the rest as a number.
void describe_left_out(const std::vector<std::string>& reasons, std::vector<std::string>& remarks) {
  constexpr std::size_t most_remarks = 5;
  const std::size_t in_words = std::min(reasons.size(), most_remarks);
  for (std::size_t i = 0; i < in_words; ++i) remarks.push_back("left out: " + reasons[i]);
  if (reasons.size() > in_words)
    remarks.push_back(fmt::format("left out: {} more files", reasons.size() - in_words));
}

constexpr nanoseconds rounding(2000);  // of times in whole microseconds

/// Takes out kernels whose start a profiler never learnt: it writes 0, or the beginning of its
/// clock. Returns how many.
std::int64_t drop_untimed(Recording& recording) {
  nanoseconds latest{};
  for (const DeviceEvent& event : recording.device_events) latest = std::max(latest, event.start);
  const bool on_wall_clock = latest > wall_clock_begins;
  return static_cast<std::int64_t>(
      std::erase_if(recording.device_events, [&](const DeviceEvent& event) {
        const bool untimed =
            event.start <= nanoseconds(0) && (event.end == event.start || on_wall_clock);
        if (untimed && event.correlation != 0) recording.lost_launches.push_back(event.correlation);
        return untimed;
      }));
}

/// Adds launches of graphs of which no kernel is recorded, neither by its correlation nor, where
/// kernels have none, by its time. Returns how many.
std::int64_t find_empty_graphs(Recording& recording) {
  auto is_launch = remembered(recording.names, [](std::string_view name) {
    return name.starts_with("cudaGraphLaunch") || name.starts_with("cuGraphLaunch") ||
           name.starts_with("hipGraphLaunch");
  });
  std::vector<std::uint64_t> calls;
  for (const HostEvent& event : recording.host_events)
    if (is_call(event) && event.correlation != 0) calls.push_back(event.correlation);
  std::ranges::sort(calls);
  std::vector<std::uint64_t> launched;
  std::vector<nanoseconds> orphans;  // starts of kernels without a call
  for (const DeviceEvent& event : recording.device_events) {
    if (event.correlation != 0) launched.push_back(event.correlation);
    if (event.correlation == 0 || !std::ranges::binary_search(calls, event.correlation))
      orphans.push_back(event.start);
  }
  std::ranges::sort(launched);
  std::int64_t empty = 0;
  nanoseconds next = nanoseconds::max();  // the start of the next call that launched something
  for (auto each = recording.host_events.rbegin(); each != recording.host_events.rend(); ++each) {
    const HostEvent& event = *each;
    if (!is_call(event) || event.correlation == 0) continue;
    const bool has_work = std::ranges::binary_search(launched, event.correlation);
    const bool graph = !has_work && is_launch(event.name);
    if (graph) {
      const auto orphan = std::ranges::lower_bound(orphans, event.start);
      if (orphan == orphans.end() || *orphan >= next) {
        recording.lost_launches.push_back(event.correlation);
        ++empty;
      }
    }
    if (has_work || graph) next = event.start;
  }
  std::ranges::sort(recording.lost_launches);
  auto& lost = recording.lost_launches;
  lost.erase(std::unique(lost.begin(), lost.end()), lost.end());
  return empty;
}

/// The kernels of each stream, in the order of their starts. The branches of a CUDA graph appear on
/// the stream that launched it, and are left out.
std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<DeviceEvent*>> kernels_of_streams(
    Recording& recording) {
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<DeviceEvent*>> streams;
  for (DeviceEvent& event : recording.device_events)
    if (event.operation == DeviceOperation::kernel && event.graph_node == 0)
      streams[{event.device, event.stream}].push_back(&event);
  return streams;
}

struct Overlaps {
  std::int64_t kernels = 0;
  std::int64_t overlapping = 0;  // kernels that begin before one ahead of them ends
  std::int64_t cut = 0;
};

/// A stream runs one kernel after another. One that lasts beyond the start of two that follow has
/// an impossible duration: where these are few, each is cut at the next one. Where they are many,
/// the recording means something else by its streams. Dependent launches begin before their
/// predecessor ends, by little.
Overlaps cut_overlaps(Recording& recording) {
  constexpr std::int64_t few = 3;
  constexpr std::int64_t few_share = 100;  // one in so many
  const auto streams = kernels_of_streams(recording);
  Overlaps overlaps;
  std::vector<std::pair<DeviceEvent*, nanoseconds>> too_long;
  for (const auto& [stream, kernels] : streams) {
    overlaps.kernels += static_cast<std::int64_t>(kernels.size());
    for (std::size_t i = 0; i + 2 < kernels.size(); ++i)
      if (kernels[i + 2]->start + rounding < kernels[i]->end)
        too_long.emplace_back(kernels[i], kernels[i + 1]->start);
  }
  const auto cuts = static_cast<std::int64_t>(too_long.size());
  if (cuts <= std::max(few, overlaps.kernels / few_share)) {
    overlaps.cut = cuts;
    for (const auto& [event, next] : too_long) event->end = next;
  }
  for (const auto& [stream, kernels] : streams) {
    nanoseconds end = nanoseconds::min();
    for (const DeviceEvent* event : kernels) {
      overlaps.overlapping += event->start + rounding < end ? 1 : 0;
      end = std::max(end, event->end);
    }
  }
  return overlaps;
}

/// The same fault of many recordings, as one sentence.
class Faults {
 public:
  void add(std::int64_t count, const char* what, bool contradiction, const std::string& file) {
    Fault& fault = by_what_[what];
    fault.count += count;
    fault.contradiction = contradiction;
    fault.files.insert(file);
  }
  void say(Job& job) const {
    for (const auto& [what, fault] : by_what_)
      (fault.contradiction ? job.contradictions : job.remarks)
          .push_back(fmt::format(
              "{} {} ({}{})",
              fault.count,
              what,
              *fault.files.begin(),
              fault.files.size() == 1 ? "" : fmt::format(" and {} more", fault.files.size() - 1)));
  }

 private:
  struct Fault {
    std::int64_t count = 0;
    bool contradiction = false;  // every figure may be wrong
    std::set<std::string> files;
  };
  std::map<std::string, Fault> by_what_;
};

/// Takes out of a recording what no machine does, and notes it.
void drop_impossible(Recording& recording, Faults& faults) {
  constexpr std::chrono::hours longest(24);                    // of a kernel
  constexpr std::int64_t most_bytes = std::int64_t{1} << 44U;  // of a collective: 16 TiB
  const std::int64_t untimed = drop_untimed(recording);
  const std::int64_t empty_graphs = find_empty_graphs(recording);
  const auto too_long = static_cast<std::int64_t>(
      std::erase_if(recording.device_events,
                    [&](const DeviceEvent& event) { return event.end - event.start > longest; }));
  std::int64_t too_large = 0;
  for (Communication& one : recording.communications)
    for (auto* bytes : {&one.input_bytes, &one.output_bytes})
      if (bytes->value_or(0) > most_bytes) {
        ++too_large;
        bytes->reset();
      }
  const Overlaps overlaps = cut_overlaps(recording);
  const auto say = [&](std::int64_t count, const char* loss, const char* what, bool contradiction) {
    if (count == 0) return;
    if (loss != nullptr) recording.losses[loss] += count;
    faults.add(count, what, contradiction, recording.origin.file);
  };
  say(untimed,
      "kernels_without_a_time",
      "kernels have no time and are left out: idle time beside them may be theirs",
      false);
  say(empty_graphs,
      "graph_launches_without_kernels",
      "launches of graphs have no kernels: what ran in them is not recorded",
      false);
  say(overlaps.cut,
      "kernels_cut_at_their_successor",
      "kernels last beyond the next ones of their stream and are cut there",
      false);
  say(too_long,
      "events_with_impossible_times",
      "device events last longer than a day and are left out",
      true);
  say(too_large,
      "impossible_sizes_of_collectives",
      "sizes of collectives are above 16 TiB and are left out",
      true);
  if (5 * overlaps.overlapping > overlaps.kernels)
    say(overlaps.overlapping, nullptr, "kernels run at once with others of their stream", true);
}

/// Operators of a loader are no work: while they run, the host prepares data.
void drop_loading(Recording& recording, const RuleTable& rules) {
  auto cause_of = remembered(recording.names, [&](auto name) { return rules.host(name); });
  std::map<std::uint32_t, std::vector<TimeInterval>> loading;  // by thread, which is the stream
  for (const HostEvent& event : recording.host_events)
    if (cause_of(event.name) == HostCause::data_loading)
      loading[event.thread].push_back({event.start, event.end});
  std::map<std::uint32_t, IntervalSet> by_thread;
  for (auto& [thread, ranges] : loading) by_thread.emplace(thread, IntervalSet(std::move(ranges)));
  std::erase_if(recording.device_events, [&](const DeviceEvent& event) {
    const auto found = by_thread.find(event.stream);
    return found != by_thread.end() && event.communication == no_index &&
           found->second.within({event.start, event.end}).length() == event.end - event.start;
  });
}

/// A job runs on GPUs or on processors. Beside recordings of GPUs those without one show launches,
/// not work.
void separate_processors(Job& job, const RuleTable& rules, std::vector<std::string>& left_out) {
  const auto on_processor = [](const Recording& one) { return one.origin.on_processor; };
  if (!std::ranges::all_of(job.recordings, on_processor)) {
    for (Recording& one : job.recordings) {
      if (!on_processor(one)) continue;
      one.device_events.clear();
      left_out.push_back(without_work(one));
    }
    std::erase_if(job.recordings, on_processor);
    return;
  }
  for (Recording& one : job.recordings) drop_loading(one, rules);
}

/// A file that ends before the middle of what the others show would leave no step that all have.
void drop_cut_off(Job& job, std::vector<std::string>& left_out) {
  const auto length = [](const Recording& one) {
    const TimeInterval span = device_span(one);
    return static_cast<double>((span.end - span.start).count());
  };
  std::vector<double> whole;
  const auto is_cut = [](const Recording& one) { return one.losses.contains("truncated_bytes"); };
  for (const Recording& one : job.recordings)
    if (!is_cut(one)) whole.push_back(length(one));
  const std::optional<double> usual = median(whole);
  std::erase_if(job.recordings, [&](const Recording& one) {
    if (!usual || !is_cut(one) || length(one) >= 0.5 * *usual) return false;
    left_out.push_back(
        fmt::format("{} ends early, after {:.0f} % of the others' time: copy it again",
                    one.origin.file,
                    100.0 * length(one) / *usual));
    return true;
  });
}

/// A job states its ranks; several devices of one process are no ranks that it could know of.
void compare_job_sizes(Job& job) {
  std::set<std::string> files;
  std::int32_t stated = 0;
  for (const Recording& recording : job.recordings) {
    files.insert(recording.origin.file);
    stated = std::max(stated, recording.origin.world_size.value_or(0));
  }
  if (stated > 0 && std::cmp_less(stated, files.size()))
    job.contradictions.push_back(fmt::format(
        "{} recordings are given, of a job that states {}: they may be of different jobs",
        files.size(),
        counted(stated, "rank")));
}

namespace fs = std::filesystem;

bool hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(
      folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (hidden(entry->path())) {
      if (entry->is_directory(ignored)) entry.disable_recursion_pending();
    } else if (entry->is_regular_file(ignored)) {
      files.push_back(entry->path().string());
    }
  }
  if (error) throw UserError("{} cannot be listed ({}): check its rights", folder, error.message());
  std::ranges::sort(files, natural_less);
  return files;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t result{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &result) == 0)
    paths.assign(result.gl_pathv, result.gl_pathv + result.gl_pathc);
  globfree(&result);
  std::ranges::sort(paths, natural_less);
  return paths;
}
}  // namespace

Job read_job(const std::vector<std::string>& inputs, const RuleTable& rules, std::size_t threads) {
  std::vector<FoundFile> files = find_files(inputs);
  // An export beside the report that it was made of says everything already.
  std::erase_if(files, [](const FoundFile& file) {
    fs::path path = file.path;
    return !file.named && path.extension() == ".nsys-rep" &&
           fs::exists(path.replace_extension(".sqlite"));
  });
  std::vector<FileContent> contents(files.size());
  for_each_index(
      files.size(), [&](std::size_t i) { contents[i] = read_file(files[i].path, rules); }, threads);
  Job job;
  Faults faults;
  std::vector<std::string> left_out;  // reasons
  std::size_t foreign = 0;            // found in folders beside recordings: logs, tables, pictures
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileContent content = std::move(contents[i]);
    if (content.foreign && !files[i].named) {
      ++foreign;
      continue;
    }
    left_out.insert(left_out.end(), content.left_out.begin(), content.left_out.end());
    for (Recording& recording : content.recordings) {
      drop_impossible(recording, faults);
      if (recording.device_events.empty())
        left_out.push_back(without_work(recording));
      else
        job.recordings.push_back(std::move(recording));
    }
  }
  faults.say(job);
  separate_processors(job, rules, left_out);
  drop_cut_off(job, left_out);
  if (job.recordings.empty())
    throw UserError(!left_out.empty() ? left_out.front()
                                      : fmt::format("{} holds no recording: {}",
                                                    inputs.empty() ? "the input" : inputs.front(),
                                                    files_to_give));
  describe_left_out(left_out, job.remarks);
  if (foreign > 0)
    job.remarks.push_back(fmt::format("{} other files in the folders are no recordings", foreign));
  join_cycles(job);
  split_lone_process(job, rules);
  for (Recording& recording : job.recordings) describe_several_devices(recording);
  refuse_mixed_runs(job);
  assign_ranks(job);
  compare_job_sizes(job);
  return job;
}

bool natural_less(const std::string& a, const std::string& b) {
  return strverscmp(a.c_str(), b.c_str()) < 0;
}

std::vector<FoundFile> find_files(const std::vector<std::string>& inputs) {
  std::vector<FoundFile> found;
  std::set<std::string> seen;
  std::error_code error;
  const auto add_file = [&](const std::string& path, bool named) {
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (seen.insert(error ? path : canonical.string()).second) found.push_back({path, named});
  };
  const auto add = [&](const std::string& path) {
    if (!fs::is_directory(path, error)) return add_file(path, true);
    const auto files = files_below(path);
    if (files.empty())
      throw UserError("{} holds no files: name the folder with the recordings", path);
    for (const std::string& file : files) add_file(file, false);
  };
  for (const std::string& input : inputs) {
    if (fs::exists(input, error)) {
      add(input);
      continue;
    }
    const auto paths = matches(input);
    if (paths.empty()) throw UserError("{} names no file: check the path or pattern", input);
    for (const std::string& path : paths) add(path);
  }
  return found;
}
}  // namespace scaleworth::trace
