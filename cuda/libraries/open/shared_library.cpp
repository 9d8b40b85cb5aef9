// SPDX-License-Identifier: Apache-2.0
#include "cuda/libraries/open/shared_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

namespace scaleworth::gpu {
namespace {

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "unknown error of the loader" : text;
}

}  // namespace

void SharedLibrary::Close::operator()(void* handle) const {
  dlclose(handle);
}

SharedLibrary::SharedLibrary(const std::string& file)
    : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_) throw UnusableLibrary(loader_error());
}

std::string SharedLibrary::path() const {
  const link_map* map = nullptr;
  if (dlinfo(handle_.get(), RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return {};
  return map->l_name;
}

void SharedLibrary::keep() const {
  void* again = dlopen(path().c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
  if (again == nullptr) throw UnusableLibrary(loader_error());
  dlclose(again);
}

void* SharedLibrary::symbol(const char* name) const {
  return dlsym(handle_.get(), name);
}

void* SharedLibrary::needed_symbol(const char* name) const {
  void* found = symbol(name);
  if (found == nullptr) throw UnusableLibrary(fmt::format("it has no function {}", name));
  return found;
}

}  // namespace scaleworth::gpu
