// SPDX-License-Identifier: Apache-2.0
/// Names in and of run directories.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

namespace scaleworth {

inline constexpr const char* run_file_name = "run.json";

/// "2026-11-21T09:11:00Z": ISO 8601 in UTC, for Run::started_at.
std::string utc_text(std::chrono::system_clock::time_point time);

/// "scaleworth-runs/20261121T091100Z-host": where a run goes when the user names no directory.
/// Characters of `host` other than letters, digits, '.' and '-' become '-'.
std::filesystem::path default_run_directory(std::chrono::system_clock::time_point time,
                                            std::string_view host);

/// The name of this host, "localhost" when it has none.
std::string host_name();

/// Whether `name` is a relative path that cannot lead out of a directory (no "..", not absolute,
/// not empty).
bool stays_inside(const std::string& name);

}  // namespace scaleworth
