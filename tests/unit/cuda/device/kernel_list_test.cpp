// SPDX-License-Identifier: Apache-2.0
/// The list of kernels that are loaded before ranks communicate, against the sources.
#include "cuda/kernels/loading.h"
#include "tests/catch.h"
#include "tests/unit/core/temporary_directory.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>

using namespace scaleworth;
using namespace scaleworth::gpu;

namespace {
/// The names of all kernels in the sources, templates once.
std::set<std::string> kernels_of_sources() {
  const std::regex kernel(R"(__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\()");
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(PROJECT_FOLDER "/cuda/kernels")) {
    if (entry.path().extension() != ".cu") continue;
    const std::string text = contents(entry.path());
    for (std::sregex_iterator found(text.begin(), text.end(), kernel), end; found != end; ++found) {
      names.insert((*found)[1]);
    }
  }
  return names;
}
}  // namespace

TEST_CASE("every kernel of the sources is in the list that is loaded before ranks communicate",
          "[kernels]") {
  const std::set<std::string> wanted = kernels_of_sources();
  REQUIRE(wanted.contains("count_errors"));
  for (const std::string& name : wanted) {
    INFO(name);
    // As it is mangled: its length before it.
    const std::string part = std::to_string(name.size()) + name;
    CHECK(std::ranges::any_of(program_kernels(), [&](const ProgramKernel& kernel) {
      return contains(kernel.name, part);
    }));
  }
}

TEST_CASE("the list has each kernel once", "[kernels]") {
  std::set<const void*> functions;
  for (const ProgramKernel& kernel : program_kernels()) {
    REQUIRE(kernel.function != nullptr);
    CHECK(functions.insert(kernel.function).second);
  }
  CHECK(functions.size() > kernels_of_sources().size());  // instances of templates
}
