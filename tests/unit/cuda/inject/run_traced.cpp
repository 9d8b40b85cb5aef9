// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cuda/inject/run_traced.h"

#include "tests/unit/trace/formats/swtrace/memory_source.h"
#include "trace/formats/swtrace/swtrace.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/wait.h>
#include <unistd.h>

namespace scaleworth::gpu {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "scaleworth-capture-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void set_environment(const trace::Variables& variables) {
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
}

[[noreturn]] void become(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  std::string program = TRACED_PROGRAM;
  arguments.push_back(program.data());
  std::vector<std::string> copies = words;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  std::_Exit(127);
}

std::vector<trace::Recording> read_all(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<trace::Recording> recordings;
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    trace::recording::MemorySource source({std::istreambuf_iterator<char>(stream), {}});
    recordings.push_back(std::move(trace::read_recording(source).front()));
  }
  return recordings;
}

}  // namespace

Traced run_traced(const std::vector<std::string>& words,
                  const std::vector<std::pair<std::string, std::string>>& variables,
                  const std::function<void(trace::CaptureSettings&)>& change) {
  const Folder folder;
  trace::CaptureSettings settings;
  settings.directory = folder.path();
  settings.run = "a run";
  settings.cupti = FAKE_CUPTI;
  settings.period_ms = 20;
  if (change) change(settings);
  Traced traced;
  const pid_t child = ::fork();
  if (child == 0) {
    for (const char* variable : {"RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_RANK"})
      ::unsetenv(variable);
    set_environment(trace::to_variables(settings));
    set_environment(variables);
    set_environment({{"CUDA_INJECTION64_PATH", CAPTURE_LIBRARY},
                     {"NVTX_INJECTION64_PATH", CAPTURE_LIBRARY},
                     {"NCCL_PROFILER_PLUGIN", CAPTURE_LIBRARY}});
    become(words);
  }
  ::waitpid(child, &traced.status, 0);
  traced.recordings = read_all(folder.path());
  return traced;
}

}  // namespace scaleworth::gpu
