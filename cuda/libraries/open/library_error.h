// SPDX-License-Identifier: Apache-2.0
/// A failed call of a library that was opened at run time, as an exception that names the call
/// site.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace scaleworth::gpu {

/// The message names the library, its words for the error, the code and the line of the caller.
class LibraryError : public std::runtime_error {
 public:
  LibraryError(const std::string& library,
               const std::string& words,
               int code,
               std::source_location where);
  int code() const { return code_; }

 private:
  int code_;
};

}  // namespace scaleworth::gpu
