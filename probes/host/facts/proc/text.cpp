// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/proc/text.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace scaleworth::probes::host {
namespace {

constexpr std::int64_t largest_cpu = 65535;
constexpr std::string_view blank = " \t\r\n";

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find_first_of(separators, start), text.size());
    if (end > start) parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

}  // namespace

std::optional<std::string> read_text(const std::string& path, std::size_t limit) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string content;
  std::string block(4096, '\0');
  while (content.size() < limit) {
    const std::size_t wanted = std::min(block.size(), limit - content.size());
    file.read(block.data(), static_cast<std::streamsize>(wanted));
    content.append(block, 0, static_cast<std::size_t>(file.gcount()));
    if (!file) break;
  }
  if (file.bad()) return std::nullopt;
  return content;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string_view> lines(std::string_view text) {
  return split(text, "\n");
}

std::vector<std::string_view> words(std::string_view text) {
  return split(text, blank);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const std::string_view digits = trim(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  const std::string_view list = trim(text);
  std::size_t start = 0;
  while (start < list.size()) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    const std::string_view part = list.substr(start, end - start);
    const std::size_t dash = part.find('-');
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > largest_cpu) return std::nullopt;
    for (std::int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    if (end + 1 == list.size()) return std::nullopt;  // a comma with nothing after it
    start = end + 1;
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

}  // namespace scaleworth::probes::host
