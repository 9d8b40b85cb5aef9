// SPDX-License-Identifier: Apache-2.0
/// Any bytes as results of nccl-tests: refused with one line, or a run that can be written and
/// read.
#include "src/cli/input/import_nccl_tests.h"
#include "src/core/error.h"
#include "src/core/files/run_directory.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>

namespace {

void write_and_read(const std::vector<scaleworth::cli::CollectiveTest>& tests) {
  using namespace scaleworth;
  const Run run = cli::imported_run(tests, {});
  const std::string written = run_to_json(run);
  if (run_to_json(run_from_json(written, "run.json")) != written) std::abort();
  join_runs(run);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace scaleworth;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    std::istringstream lines(text);
    write_and_read(cli::read_nccl_tests_text(lines, "all_reduce.txt"));
  } catch (const UserError&) {
  }
  try {
    write_and_read(cli::read_nccl_tests_json(text, "all_reduce.json"));
  } catch (const UserError&) {
  }
  return 0;
}
