// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/cupti.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

namespace scaleworth::gpu {
namespace {
std::string api_text(std::uint32_t version) {
  if (version < cupti_of_cuda_13) return fmt::format("API {}", version);
  return version_text(version);
}

void fill_cupti(const SharedLibrary& library, Cupti& table) {
  const decltype(&cuptiGetVersion) get_version = library.need("cuptiGetVersion");
  std::uint32_t version = 0;
  if (get_version(&version) != CUPTI_SUCCESS) throw UnusableLibrary("cuptiGetVersion fails");
  if (version < cupti_of_cuda_12_0) {
    throw UnusableLibrary(fmt::format("version {} is too old, that of CUDA 12.0 ({}) is needed",
                                      api_text(version),
                                      cupti_of_cuda_12_0));
  }
  table = {{{.version = api_text(version), .library = &library}}, version};
}

/// The driver's major version; the newest that is known where there is no driver.
std::uint32_t driver_major() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  const auto ask = driver == nullptr
                       ? nullptr
                       : reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  if (ask == nullptr || ask(&version) != 0 || version <= 0) return newest_cupti_major;
  return static_cast<std::uint32_t>(version / 1000);
}

/// The files of the copies that the process has loaded.
std::vector<std::string> loaded_copies() {
  std::vector<std::string> paths;
  const auto note = [](dl_phdr_info* object, std::size_t /*bytes*/, void* to) {
    if (std::string_view(object->dlpi_name).find("/libcupti.so") != std::string_view::npos)
      static_cast<std::vector<std::string>*>(to)->emplace_back(object->dlpi_name);
    return 0;
  };
  ::dl_iterate_phdr(note, &paths);
  return paths;
}

/// A copy of the file in memory, which the loader takes for another library; empty for none.
std::string copy_in_memory(const std::string& file) {
  const int from = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = ::memfd_create("libcupti", MFD_CLOEXEC);
  ssize_t sent = 1;
  // Below Linux's limit of 2 GiB a call.
  while (from >= 0 && to >= 0 && sent > 0) sent = ::sendfile(to, from, nullptr, 1U << 30U);
  if (from >= 0) ::close(from);
  if (from >= 0 && to >= 0 && sent == 0) return fmt::format("/proc/self/fd/{}", to);
  if (to >= 0) ::close(to);
  return {};
}

Outcome<std::shared_ptr<const Cupti>> find_cupti(const std::string& named, std::uint32_t oldest) {
  const std::uint32_t newest = std::min(driver_major(), newest_cupti_major);
  const std::vector<std::string> loaded = loaded_copies();
  std::uint32_t best = 0;  // of the usable ones
  const auto open = [&](const std::string& file, std::uint32_t lowest) {
    return open_cupti(file, {}, [&](std::uint32_t version) {
      const std::uint32_t major = version < cupti_of_cuda_13 ? 12 : version / 10000;
      if (version < oldest || major > newest)
        throw UnusableLibrary(
            fmt::format("API {} is not of CUDA {} to {}, as scaleworth reads and the driver runs",
                        version,
                        oldest < cupti_of_cuda_12_4 ? "12.0" : "12.4",
                        newest));
      best = std::max(best, version);
      if (version < lowest) throw UnusableLibrary("there is a newer one");
    });
  };
  constexpr auto all = std::numeric_limits<std::uint32_t>::max();
  if (named.empty()) static_cast<void>(open({}, all));  // only looks at them
  auto found = open(named, best);
  const auto* cupti = std::get_if<std::shared_ptr<const Cupti>>(&found);
  if (cupti == nullptr || std::ranges::find(loaded, (*cupti)->path) == loaded.end()) return found;
  const std::string copy = copy_in_memory((*cupti)->path);
  if (copy.empty()) return found;
  const auto copied = open(copy, 0);
  if (const auto* own = std::get_if<std::shared_ptr<const Cupti>>(&copied)) {
    // Reported is the file that was copied, and how it was found.
    auto table = std::make_shared<Cupti>(**own);
    table->path = (*cupti)->path;
    table->found_by = (*cupti)->found_by;
    return std::shared_ptr<const Cupti>(std::move(table));
  }
  return Failed{
      fmt::format("{} is in use in this process already, and a copy of it is refused ({})",
                  (*cupti)->path,
                  reason_of(copied))};
}
}  // namespace

const char* Cupti::words(CUptiResult status) const {
  const char* text = nullptr;
  return result_words(status, &text) == CUPTI_SUCCESS && text != nullptr ? text : "unknown result";
}

Outcome<std::shared_ptr<const Cupti>> open_cupti(const std::string& user_path,
                                                 const SearchScope& scope,
                                                 const std::function<void(std::uint32_t)>& accept) {
  return open_table<Cupti>({Cupti::name,
                            "--cupti-lib",
                            "the CUDA toolkit or pip's nvidia-cuda-cupti",
                            {"libcupti.so.13", "libcupti.so.12", "libcupti.so"},
                            {"cuda_cupti/lib"},
                            {"extras/CUPTI/lib64", "lib64", "lib"}},
                           user_path,
                           scope,
                           [&](const SharedLibrary& library, Cupti& table) {
                             fill_cupti(library, table);
                             if (accept) accept(table.version_number);
                           });
}

Outcome<std::shared_ptr<const Cupti>> choose_cupti(const std::string& named, std::uint32_t oldest) {
  // Never destroyed, as CUPTI's callbacks may come until the end. A second search would take the
  // copy that the first one loaded for another user's.
  static auto* const mutex = new std::mutex;
  static auto* const chosen = new std::map<std::string, Outcome<std::shared_ptr<const Cupti>>>;
  const std::scoped_lock lock(*mutex);
  const auto known = chosen->find(named);
  if (known != chosen->end()) return known->second;
  return chosen->emplace(named, find_cupti(named, oldest)).first->second;
}
}  // namespace scaleworth::gpu
