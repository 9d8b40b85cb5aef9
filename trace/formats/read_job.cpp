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
#include "trace/formats/repair_recording.h"
#include "trace/formats/swtrace/bytes.h"
#include "trace/formats/swtrace/swtrace.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <set>

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
    recording.remarks.emplace_back(FindingId::several_devices, devices.size());
}

/// Why a recording without work on a GPU is left out, and what to do.
std::string without_work(const Recording& recording) {
  const char* reason = "holds no work on a GPU: record with CUDA activity on";
  const auto launches = [&](const HostEvent& event) {
    const std::string_view name = recording.names.at(event.name);
    return is_call(event) && (name.find("aunch") != name.npos || name.find("Memcpy") != name.npos);
  };
  const bool calls = std::ranges::any_of(recording.host_events, is_call);
  if (recording.losses.contains("events_without_time"))
    reason = "has no time that microseconds can hold: divide nanoseconds by 1,000";
  else if (calls && std::ranges::none_of(recording.host_events, launches))
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
void describe_left_out(const std::vector<std::string>& reasons, std::vector<Finding>& remarks) {
  constexpr std::size_t most_remarks = 5;
  const std::size_t in_words = std::min(reasons.size(), most_remarks);
  for (std::size_t i = 0; i < in_words; ++i) remarks.emplace_back(FindingId::left_out, reasons[i]);
  if (reasons.size() > in_words)
    remarks.emplace_back(FindingId::more_left_out, reasons.size() - in_words);
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
  const auto is_cut = [](const Recording& one) {
    return one.losses.contains(loss_name::truncated_bytes);
  };
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
    job.contradictions.emplace_back(FindingId::more_recordings_than_ranks, files.size(), stated);
}

}  // namespace

bool is_recording(std::string_view name, std::string_view front) {
  if (name.ends_with(".nsys-rep") || TarReader::recognizes(front) || foreign_file(name, front))
    return true;
  const auto has = [&](const char* word) { return front.find(word) != std::string_view::npos; };
  if (is_json(front))
    return std::ranges::any_of(
        std::array{R"("traceEvents")", R"("ph")", R"("deviceProperties")", R"("distributedInfo")"},
        has);
  return format_of(front) != nullptr;
}

Job read_job(const std::vector<std::string>& inputs, const RuleTable& rules, std::size_t threads) {
  std::vector<FoundFile> files = find_files(inputs);
  // An export beside the report that it was made of says everything already.
  std::erase_if(files, [](const FoundFile& file) {
    std::filesystem::path path = file.path;
    return !file.named && path.extension() == ".nsys-rep" &&
           std::filesystem::exists(path.replace_extension(".sqlite"));
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
  if (foreign > 0) job.remarks.emplace_back(FindingId::other_files, foreign);
  join_cycles(job);
  split_lone_process(job, rules);
  for (Recording& recording : job.recordings) describe_several_devices(recording);
  refuse_mixed_runs(job);
  assign_ranks(job);
  compare_job_sizes(job);
  return job;
}

}  // namespace scaleworth::trace
