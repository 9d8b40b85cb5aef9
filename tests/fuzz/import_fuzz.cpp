// SPDX-License-Identifier: Apache-2.0
/// Any bytes as results of other tools: refused with one line, or a run that can be written and
/// read.
#include "src/cli/input/imports.h"
#include "src/core/error.h"
#include "src/core/files/run_directory.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>

namespace {
using namespace scaleworth;

void write_and_read(std::vector<cli::ImportedProbes> found) {
  const Run run = cli::imported_run(std::move(found));
  const std::string written = run_to_json(run);
  if (run_to_json(run_from_json(written, "run.json")) != written) std::abort();
  join_runs(run);
}

void write_and_read(const std::vector<cli::CollectiveTest>& tests) {
  std::vector<cli::ImportedProbes> found;
  for (const cli::CollectiveTest& test : tests)
    if (!test.rows.empty()) found.push_back(cli::imported_probes(test, {}));
  write_and_read(std::move(found));
}

template <class Read>
void attempt(Read read) try {
  write_and_read(read());
} catch (const UserError&) {
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto lines = [&](auto read) {
    attempt([&] {
      std::istringstream in(text);
      return std::vector{read(in, "results.txt")};
    });
  };
  attempt([&] {
    std::istringstream in(text);
    return cli::read_nccl_tests_text(in, "all_reduce.txt");
  });
  attempt([&] { return cli::read_nccl_tests_json(text, "all_reduce.json"); });
  lines(cli::read_nvbandwidth_text);
  lines(cli::read_mamf_finder);
  lines(cli::read_gpu_fryer);
  attempt([&] { return std::vector{cli::read_nvbandwidth_json(text, "nvbandwidth.json")}; });
  lines([](std::istream& in, const std::string& file) {
    cli::InspectorReader reader;
    reader.take(in, file);
    return reader.finish();
  });
  return 0;
}
