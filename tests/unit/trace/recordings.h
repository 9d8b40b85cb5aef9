// SPDX-License-Identifier: Apache-2.0
/// The public recordings that golden numbers were taken from; they are not part of this repository.
#pragma once

#include "tests/catch.h"
#include "tests/skip.h"

#include <filesystem>
#include <optional>
#include <string>

namespace scaleworth::trace {

/// The path of a recording; absent, with a warning that says so, when it is not on this machine.
inline std::optional<std::string> shared_recording(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(SCALEWORTH_RECORDINGS) / name;
  if (std::filesystem::exists(path)) return path.string();
  scaleworth::tests::skip("the recording " + path.string() + " is not on this machine");
  return std::nullopt;
}

}  // namespace scaleworth::trace
