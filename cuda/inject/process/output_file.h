// SPDX-License-Identifier: Apache-2.0
/// The file of one process: bytes are only ever appended, and a failed write leaves whole frames.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace scaleworth::gpu {

class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Creates `directory`/`stem`.swtrace, or with -2, -3, ... where that is there already. Returns
  /// the reason when that is not possible; empty when it is open.
  std::string create(const std::string& directory, const std::string& stem);
  bool is_open() const { return descriptor_ >= 0; }

  /// Appends all of `bytes` or nothing; returns the reason of a failure, empty for none.
  std::string append(std::string_view bytes);

  /// Gives the descriptor up without another word: for a forked child.
  void abandon();

 private:
  int descriptor_ = -1;
  std::uint64_t whole_bytes_ = 0;
};

}  // namespace scaleworth::gpu
