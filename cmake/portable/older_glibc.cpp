// SPDX-License-Identifier: Apache-2.0
/// Stand-ins for the functions of glibc 2.35 and 2.36 that the compiler's runtime libraries ask
/// for: with them a program built on a newer machine starts on glibc 2.34 (RHEL 9, Amazon Linux
/// 2023). Hidden: they serve the binary that they are linked into, and nothing that it opens.

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

namespace {
struct Search {
  std::uintptr_t address = 0;
  dl_find_object* result = nullptr;
};

/// 1 ends the walk: `address` lies in this object and it has a table for unwinding.
int look_into(dl_phdr_info* object, std::size_t, void* data) {
  const Search& search = *static_cast<Search*>(data);
  const ElfW(Phdr)* home = nullptr;
  const ElfW(Phdr)* frames = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) frames = &part;
    if (part.p_type == PT_LOAD && search.address >= begin &&
        search.address - begin < part.p_memsz) {
      home = &part;
    }
  }
  if (home == nullptr || frames == nullptr) return 0;
  dl_find_object& result = *search.result;
  result = {};
  result.dlfo_map_start = reinterpret_cast<void*>(object->dlpi_addr + home->p_vaddr);
  result.dlfo_map_end = reinterpret_cast<void*>(object->dlpi_addr + home->p_vaddr + home->p_memsz);
  result.dlfo_eh_frame = reinterpret_cast<void*>(object->dlpi_addr + frames->p_vaddr);
  return 1;
}
}  // namespace

extern "C" {

/// libgcc's unwinder asks it for the table of the object that holds an instruction: the object's
/// PT_GNU_EH_FRAME. Takes the loader's lock, as the unwinder did before glibc 2.35.
[[gnu::visibility("hidden")]] int _dl_find_object(void* address, dl_find_object* result) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}

/// For libstdc++'s random_device. Like glibc's it ends the process without random numbers.
[[gnu::visibility("hidden")]] std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
    if (errno != EINTR) std::abort();
  }
  return value;
}

/// The target of the linker's --wrap=hypot: the old version of the symbol differs in errno alone.
__asm__(".symver scaleworth_old_hypot, hypot@GLIBC_2.2.5");
double scaleworth_old_hypot(double, double) noexcept;
[[gnu::visibility("hidden")]] double __wrap_hypot(double x, double y) noexcept {
  return scaleworth_old_hypot(x, y);
}
}
