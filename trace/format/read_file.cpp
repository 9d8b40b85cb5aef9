// SPDX-License-Identifier: Apache-2.0
#include "trace/format/read_file.h"

#include "src/core/error.h"
#include "trace/format/archive/tar.h"
#include "trace/format/export/read_chrome_export.h"
#include "trace/format/frameworks/read_timeline.h"
#include "trace/format/input/byte_source.h"
#include "trace/format/kineto/read_kineto.h"
#include "trace/format/nsight/read_nsight.h"
#include "trace/format/recording/bytes/frame.h"
#include "trace/format/recording/read_recording.h"

#include <array>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <unistd.h>

namespace scaleworth::trace {
namespace {

constexpr std::size_t look_ahead = 64 * 1024;  // bytes that tell the format
constexpr std::size_t piece = 1 << 20;

/// A file in the folder for temporary ones; gone with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(ByteSource& content) {
    std::string name = (std::filesystem::temp_directory_path() / "scaleworth-XXXXXX").string();
    const int descriptor = mkstemp(name.data());
    if (descriptor < 0)
      throw UserError(
          fmt::format("{} cannot be unpacked: set TMPDIR to a folder with space", content.name()));
    close(descriptor);
    path_ = name;
    std::ofstream file(path_, std::ios::binary);
    std::vector<char> buffer(piece);
    std::size_t got = 0;
    while ((got = content.read(buffer)) > 0)
      file.write(buffer.data(), static_cast<std::streamsize>(got));
    file.close();
    if (!file) {
      remove();
      throw UserError(fmt::format("{} cannot be unpacked: set TMPDIR to a folder with more space",
                                  content.name()));
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { remove(); }
  const std::string& path() const { return path_; }

 private:
  void remove() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path_;
};

/// SQLite must seek, so that what is compressed or in an archive becomes a file first.
std::vector<Recording> read_unpacked_nsight(PeekedSource& source, const RuleTable& rules) {
  const TemporaryFile file(source);
  std::vector<Recording> recordings = read_nsight(file.path(), rules);
  for (Recording& recording : recordings) recording.origin.file = source.name();
  return recordings;
}

std::vector<Recording> read_chrome_json(PeekedSource& source, const RuleTable& rules) {
  static const std::vector<TimelineDialect> dialects = built_in_timelines();
  if (const TimelineDialect* dialect = find_timeline(dialects, source.front()))
    return read_timeline(source, *dialect);
  return read_kineto(source, rules);
}

std::vector<Recording> read_own_recording(PeekedSource& source, const RuleTable& rules) {
  return read_recording(source, rules);
}

std::vector<Recording> read_export(PeekedSource& source, const RuleTable& rules) {
  return read_chrome_export(source, rules);
}

bool is_recording(std::string_view front) {
  return front.starts_with(recording::file_magic);
}

bool is_sqlite(std::string_view front) {
  return front.starts_with("SQLite format 3");
}

/// Whether `path` itself begins as its content does, without compression.
bool stored_plainly(const std::string& path) {
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
  std::vector<Recording> (*read)(PeekedSource& source, const RuleTable& rules);
};

/// The first that recognizes the content reads it.
constexpr std::array formats = {Format{is_sqlite, read_unpacked_nsight},
                                Format{is_recording, read_own_recording},
                                Format{is_chrome_export, read_export},
                                Format{is_json, read_chrome_json}};

const Format* format_of(std::string_view front) {
  for (const Format& format : formats)
    if (format.recognizes(front)) return &format;
  return nullptr;
}

std::string no_recording(const std::string& name) {
  return fmt::format(
      "{} is of no known format: give files of scaleworth trace, of the PyTorch profiler or of "
      "nsys export --type sqlite",
      name);
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

}  // namespace

FileContent read_file(const std::string& path, const RuleTable& rules) {
  FileContent content;
  if (std::filesystem::path(path).extension() == ".nsys-rep") {
    content.recordings = read_nsight(path, rules);  // says how to export it
    return content;
  }
  PeekedSource source(open_byte_source(path), look_ahead);
  if (TarReader::recognizes(source.front())) {
    read_archive(source, rules, content);
  } else if (const Format* format = format_of(source.front())) {
    const bool plain_file = format->recognizes == is_sqlite && stored_plainly(path);
    content.recordings = plain_file ? read_nsight(path, rules) : format->read(source, rules);
  } else {
    content.foreign = true;
    content.left_out.push_back(no_recording(path));
  }
  return content;
}

}  // namespace scaleworth::trace
