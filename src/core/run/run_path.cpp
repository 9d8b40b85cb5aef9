// SPDX-License-Identifier: Apache-2.0
#include "src/core/run/run_path.h"

#include <algorithm>
#include <array>
#include <ctime>

#include <unistd.h>

namespace scaleworth {
namespace {

std::string format_utc(std::chrono::system_clock::time_point time, const char* format) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

}  // namespace

std::string utc_text(std::chrono::system_clock::time_point time) {
  return format_utc(time, "%Y-%m-%dT%H:%M:%SZ");
}

std::filesystem::path default_run_directory(std::chrono::system_clock::time_point time,
                                            std::string_view host) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  std::string name = format_utc(time, "%Y%m%dT%H%M%SZ-");
  for (const char c : host) name += allowed.find(c) == std::string_view::npos ? '-' : c;
  return std::filesystem::path("scaleworth-runs") / name;
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

bool stays_inside(const std::string& name) {
  const std::filesystem::path path(name);
  return !name.empty() && path.is_relative() && path.has_filename() &&
         name.find('\0') == std::string::npos &&
         std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

}  // namespace scaleworth
