// SPDX-License-Identifier: Apache-2.0
/// Any bytes as a run.json: refused in one printable line, or read so that writing and reading
/// again changes nothing.
#include "src/core/error.h"
#include "src/core/files/run_directory.h"
#include "src/core/run.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const scaleworth::Run run = scaleworth::run_from_json(text, "run.json");
    const std::string written = scaleworth::run_to_json(run);
    require(scaleworth::run_to_json(scaleworth::run_from_json(written, "again")) == written);
  } catch (const scaleworth::UserError& error) {
    const std::string_view message = error.what();
    require(message == scaleworth::printable(message));
  }
  return 0;
}
