// SPDX-License-Identifier: Apache-2.0
/// Small text files of the kernel (/proc, /sys, cgroup) and the forms their values take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::probes::host {

/// The file's content, cut at `limit` bytes; absent when it cannot be read. Kernel files have no
/// size to ask for, so the limit bounds the memory that a strange mount could take.
std::optional<std::string> read_text(const std::string& path, std::size_t limit = 1 << 22);

/// Without spaces, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

/// Lines without their line end.
std::vector<std::string_view> lines(std::string_view text);

/// Words between spaces and tabs.
std::vector<std::string_view> words(std::string_view text);

/// The whole of the trimmed text as a decimal number; absent for anything else (empty, trailing
/// letters, out of range).
std::optional<std::int64_t> parse_integer(std::string_view text);

/// CPU numbers of the kernel's list format, "0-3,8" (Documentation/admin-guide/cputopology.rst),
/// ascending and without repetition. Empty text is an empty list; absent when malformed, reversed
/// ("3-0") or past 65535 CPUs.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace scaleworth::probes::host
