// SPDX-License-Identifier: Apache-2.0
/// The folder of one run: run.json and the files beside it, readable at every moment.
#pragma once

#include "src/core/run.h"
#include "src/core/units.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>

#include <nlohmann/json_fwd.hpp>

namespace scaleworth {
/// The text of run.json (docs/run.schema.json), one line per fact and point; bytes that are no
/// UTF-8 become U+FFFD. Throws ProbeFailure as `require_finite`.
std::string run_to_json(const Run& run);

/// docs/run.schema.json.
std::string run_schema();

/// The run in `text`; unknown members are ignored. Throws UserError, one line with `where` (the
/// file name), position and remedy, for anything else and for a newer schema version.
Run run_from_json(std::string_view text, const std::string& where);

/// Turns a document, an object, of an older `version` of the schema into one of the newest. Of
/// version 1, in which settings were words, compound words become typed parameters, series and
/// amounts with a name in their key points of their own; of 1 and 2 sentences become findings. What
/// does not look like its version is left as it is, for the reader to refuse.
void upgrade_run(nlohmann::json& document, int version);

/// Throws ProbeFailure naming the first NaN or infinity, which would make the run unwritable.
void require_finite(const Point& point);

/// Writes one run. Every failure is a UserError, and leaves what was written before as it was.
class RunDirectory {
 public:
  /// Creates `path`. Throws UserError also when it already holds a run.json.
  explicit RunDirectory(std::filesystem::path path, Seconds least_interval = Seconds(1.0));

  const std::filesystem::path& path() const { return path_; }

  /// Writes run.json atomically: at once when a probe or the run ended, else at most every
  /// `least_interval` and for at most 5 % of the time, so that each point may call it. Throws
  /// ProbeFailure for a number that is not finite.
  void save(const Run& run);

  /// Appends rows to the table `name` beside run.json, created with its header. Throws
  /// std::invalid_argument for a row of another length or a name that leaves the directory.
  void append_rows(const std::string& name,
                   const std::vector<std::string>& header,
                   const std::vector<std::vector<std::string>>& rows);

  /// Writes the file `name` beside run.json atomically (a trace).
  void write_file(const std::string& name, std::string_view contents);

 private:
  /// How many probes ended, completion and interruption.
  using Milestone = std::tuple<std::ptrdiff_t, bool, bool>;
  std::filesystem::path inside(const std::string& name) const;

  std::filesystem::path path_;
  Seconds least_interval_;
  std::optional<Milestone> saved_;
  std::chrono::steady_clock::time_point next_save_{};
  std::set<std::string> tables_;
};

/// The run in a run directory or in the run.json named, at most 1 GiB, as `join_runs`. Of a run
/// that was killed also what its ranks had measured, with a warning. Throws as `run_from_json`.
Run read_run(const std::filesystem::path& path);
/// The same with its points as they are stored: those of several runs or looks on their own.
Run read_points(const std::filesystem::path& path);

inline constexpr const char* run_file_name = "run.json";
/// Inside of a run directory, until the process that started the ranks has taken their results.
inline constexpr const char* ranks_folder_name = "ranks";

/// "2026-11-21T09:11:00Z".
std::string utc_text(std::chrono::system_clock::time_point time);

/// "scaleworth-runs/20261121T091100Z-host". Of `host` all but letters, digits and '.' becomes '-'.
std::filesystem::path default_run_directory(std::chrono::system_clock::time_point time,
                                            std::string_view host);

/// The name of this host, "localhost" when it has none.
std::string host_name();

/// Whether `name` is a relative path that cannot lead out of a directory.
bool stays_inside(const std::string& name);
}  // namespace scaleworth
