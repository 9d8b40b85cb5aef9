// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/driver_signs.h"

#include "src/core/error.h"
#include "src/core/files/csv.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace scaleworth::probes {
namespace {
using std::filesystem::path;

std::string first_line(const path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line.substr(0, 4096);  // a line of /proc or /sys; longer is none of theirs
}

std::vector<path> entries(const path& folder) {
  std::error_code error;
  std::vector<path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

bool is_there(const path& file) {
  std::error_code error;
  return std::filesystem::exists(file, error);
}

/// As a person sees it: without the root before it.
std::string shown(const path& file, const path& root) {
  return "/" + file.lexically_relative(root).string();
}

bool is_version(std::string_view word) {
  return word.find('.') != word.npos && word.find_first_not_of("0123456789.") == word.npos;
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 ...": the first word of
/// digits and dots.
std::string module_version(std::string_view line) {
  for (const std::string_view word : words_between(line))
    if (is_version(word)) return std::string(word);
  return {};
}

/// A device list of cgroups refuses what the file's permissions allow: so by opening it.
bool may_open(const path& file) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0 || (errno != EACCES && errno != EPERM);
}

void read_device_files(DriverSigns& signs, const path& root) {
  std::vector<path> files;
  // Windows' subsystem for Linux has one file for GPUs of any maker.
  const path windows = root / "dev/dxg";
  if (is_there(windows) && signs.library.starts_with("/usr/lib/wsl")) files.push_back(windows);
  for (const path& file : entries(root / "dev")) {
    const std::string name = file.filename();
    if (name.starts_with("nvidia") && name.size() > 6 &&
        name.find_first_not_of("0123456789", 6) == name.npos)
      files.push_back(file);
  }
  for (const path& file : files) signs.device_files.push_back(shown(file, root));
  for (const char* control : {"dev/nvidiactl", "dev/nvidia-uvm"}) files.push_back(root / control);
  for (const path& file : files) {
    if (is_there(file) && !may_open(file)) signs.closed_files.push_back(shown(file, root));
  }
}

/// Vendor 10de, class 03: display controllers, among them those that only compute.
void read_pci(DriverSigns& signs, const path& root) {
  for (const path& device : entries(root / "sys/bus/pci/devices")) {
    if (first_line(device / "vendor") != "0x10de") continue;
    if (!first_line(device / "class").starts_with("0x03")) continue;
    signs.pci_gpus.push_back(device.filename());
    std::error_code error;
    const path driver = std::filesystem::read_symlink(device / "driver", error).filename();
    if (!driver.empty() && driver != "nvidia") signs.other_driver = driver;
  }
}

/// The first of `name` in the folders of a list with colons, then in `folders`.
path find_file(const std::string& list,
               const std::vector<std::string>& folders,
               const char* name,
               const path& root) {
  std::vector<std::string_view> all = words_between(list, ":");
  all.insert(all.end(), folders.begin(), folders.end());
  for (const std::string_view folder : all) {
    if (!folder.starts_with('/')) continue;
    const path file = root / path(folder).relative_path() / name;
    if (is_there(file)) return file;
  }
  return {};
}

/// Where the packages of the distributions, the container toolkit and WSL put the driver's library.
std::vector<std::string> library_folders() {
  std::vector<std::string> folders;
  for (const char* machine : {"x86_64", "aarch64"}) {
    folders.push_back(fmt::format("/usr/lib/{}-linux-gnu", machine));
    folders.push_back(fmt::format("/lib/{}-linux-gnu", machine));
  }
  for (const char* folder :
       {"/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"})
    folders.emplace_back(folder);
  return folders;
}

void read_library(DriverSigns& signs, const path& library, const path& root) {
  if (library.empty()) return;
  signs.library = shown(library, root);
  std::error_code error;
  const std::string file = std::filesystem::canonical(library, error).filename();
  constexpr std::string_view stem = "libcuda.so.";
  if (!file.starts_with(stem)) return;
  // "libcuda.so.1.1" of boards with a GPU in the processor has no driver's version.
  const std::string version = file.substr(stem.size());
  if (is_version(version) && version.find('.') >= 3) signs.library_version = version;
}

std::string value_of(const EnvironmentVariables& variables, const char* name) {
  const std::string* value = value_at(variables, name);
  return value ? *value : "";
}

/// Versions by their numbers: 510.47 is older than 510.108. Words are no version to be older than.
bool is_older(const std::string& version, const std::string& than) {
  if (!is_version(version) || !is_version(than)) return false;
  const auto numbers = [](const std::string& text) {
    return mapped(split(text, '.'),
                  [](std::string_view one) { return parse_number<std::int64_t>(one).value_or(0); });
  };
  return numbers(version) < numbers(than);
}

std::string without_device_files(const DriverSigns& signs, const std::string& least_driver) {
  if (!signs.container.empty() || !signs.requested.empty()) {
    return fmt::format(
        "this container was given no GPU ({}; no /dev/nvidia0): start it with --gpus all (docker, "
        "podman), --nv (apptainer), or ask for a GPU in the pod or job",
        describe(signs));
  }
  if (!signs.kernel_driver.empty()) {
    return fmt::format(
        "{}, but no /dev/nvidia0: run nvidia-smi once as root, which makes the device files, and "
        "see dmesg; in a job ask for a GPU (Slurm: --gres=gpu:1)",
        describe(signs));
  }
  return fmt::format(
      "{}, but no kernel module of NVIDIA's driver is loaded{}: install the driver ({} or later) "
      "and reboot, or run modprobe nvidia as root and see dmesg",
      describe(signs),
      signs.other_driver.empty() ? "" : " (the GPU belongs to " + signs.other_driver + ")",
      least_driver);
}
}  // namespace

// The driver's library and nvidia-smi alone are packages: Debian's nvidia-cuda-toolkit installs
// libcuda.so.1 on machines without any GPU.
bool DriverSigns::any() const {
  return !kernel_driver.empty() || !device_files.empty() || !pci_gpus.empty() || !requested.empty();
}

DriverSigns read_driver_signs(const EnvironmentVariables& variables,
                              const std::string& loaded_library,
                              const path& root) {
  DriverSigns signs;
  signs.kernel_driver = module_version(first_line(root / "proc/driver/nvidia/version"));
  read_library(
      signs,
      loaded_library.empty()
          ? find_file(
                value_of(variables, "LD_LIBRARY_PATH"), library_folders(), "libcuda.so.1", root)
          : path(loaded_library),
      root);
  read_device_files(signs, root);
  read_pci(signs, root);
  if (const auto mark = container_mark(root)) signs.container = mark->runtime;
  // "void" and "none" are a container's way to say that it shall have no GPU.
  const std::string requested = value_of(variables, "NVIDIA_VISIBLE_DEVICES");
  if (requested != "void" && requested != "none") signs.requested = requested;
  const std::string* visible = value_at(variables, "CUDA_VISIBLE_DEVICES");
  signs.hidden = visible && (visible->empty() || visible->starts_with('-'));
  return signs;
}

std::string describe(const DriverSigns& signs) {
  std::vector<std::string> parts;
  const std::size_t gpus = std::max(signs.device_files.size(), signs.pci_gpus.size());
  if (gpus > 0) parts.push_back(counted(gpus, "NVIDIA GPU"));
  if (!signs.kernel_driver.empty()) {
    parts.push_back("NVIDIA's driver " + signs.kernel_driver);
  } else if (!signs.library.empty()) {
    parts.push_back(signs.library);
  }
  if (!signs.requested.empty()) parts.push_back("NVIDIA_VISIBLE_DEVICES=" + signs.requested);
  return listed(parts);
}

std::optional<std::string> obstacle(const DriverSigns& signs, const std::string& least_driver) {
  if (!signs.any()) return std::nullopt;
  if (signs.device_files.empty()) return without_device_files(signs, least_driver);
  const auto closed = [&](const std::string& file) {
    return std::ranges::count(signs.closed_files, file) > 0;
  };
  if (closed("/dev/nvidiactl") || closed("/dev/nvidia-uvm") ||
      std::ranges::all_of(signs.device_files, closed)) {
    return fmt::format(
        "this user may not open {}: see `ls -l /dev/nvidia*` for the group to join; in a job ask "
        "for a GPU (Slurm: --gres=gpu:1), in a container see its device list",
        listed(signs.closed_files));
  }
  if (signs.library.empty()) {
    return fmt::format(
        "{}, but no libcuda.so.1: install the driver's library (Debian: libcuda1, Ubuntu: "
        "libnvidia-compute of the same version); in a container set "
        "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
        describe(signs));
  }
  // A newer libcuda for an older kernel module is of the package cuda-compat.
  if (signs.library.find("compat") == std::string::npos && !signs.kernel_driver.empty()) {
    if (!signs.library_version.empty() && signs.library_version != signs.kernel_driver) {
      return fmt::format(
          "{} is of driver {}, the kernel module of driver {}: reboot after the driver's update, "
          "or reload the module",
          signs.library,
          signs.library_version,
          signs.kernel_driver);
    }
    if (is_older(signs.kernel_driver, least_driver)) {
      return fmt::format(
          "NVIDIA's driver {} is too old: {} or later is needed; on data-centre GPUs the package "
          "cuda-compat serves too",
          signs.kernel_driver,
          least_driver);
    }
  }
  if (signs.hidden) {
    return "CUDA_VISIBLE_DEVICES names no GPU: unset it, or set it to the GPUs to measure (0,1)";
  }
  return std::nullopt;
}

/// CUDA toolkit release notes, table of minimum driver versions for minor version compatibility
/// (read for 13.0).
std::string first_driver(int cuda_major) {
  if (cuda_major == 12) return "525.60.13";
  if (cuda_major == 13) return "580.65.06";
  return fmt::format("the one of CUDA {}", cuda_major);
}

std::optional<ContainerMark> container_mark(const path& root) {
  for (const auto& [file, runtime] : {std::pair{".dockerenv", "docker"},
                                      std::pair{"run/.containerenv", "podman"},
                                      std::pair{".singularity.d", "apptainer"}}) {
    if (is_there(root / file)) return ContainerMark{runtime, "/" + std::string(file)};
  }
  return std::nullopt;
}
}  // namespace scaleworth::probes
