// SPDX-License-Identifier: Apache-2.0
/// A shared object opened at run time: closed again unless it is kept.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

namespace scaleworth::gpu {

/// A shared object that cannot be opened or is not the library that it should be; the message is
/// the reason, without the file's name.
class UnusableLibrary : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SharedLibrary {
 public:
  /// `file` is a path or a bare name for the loader. Throws UnusableLibrary with the loader's
  /// words.
  explicit SharedLibrary(const std::string& file);

  /// Sets `function` to the symbol. Throws UnusableLibrary when there is none.
  template <class Function>
  void need(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(needed_symbol(name));
  }
  /// Sets `function` to the symbol, or to null where this version has none.
  template <class Function>
  void take(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }
  /// Of the file that the loader opened, links as it met them.
  std::string path() const;
  /// Leaves the library in the process for good: vendor libraries start threads and register exit
  /// handlers, which must not lose their code.
  void keep() const;

 private:
  void* symbol(const char* name) const;
  void* needed_symbol(const char* name) const;

  struct Close {
    void operator()(void* handle) const;
  };
  std::unique_ptr<void, Close> handle_;
};

}  // namespace scaleworth::gpu
