// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/lack_of_memory.h"

#include "cuda/libraries/open/library_error.h"
#include "cuda/runtime/error.h"
#include "src/core/error.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <nccl.h>

namespace scaleworth::gpu {
namespace {

constexpr std::array<std::string_view, 4> telling_words{
    "out of memory", "alloc", "no space left", "creating shared memory"};

OutOfMemory out_of_memory(const std::string& who, const char* what) {
  return OutOfMemory(fmt::format("{}: out of memory: {}", who, what));
}

/// Without the call site: a folder's name tells nothing.
std::string_view before_code(std::string_view what) {
  return what.substr(0, what.rfind(" (code "));
}

}  // namespace

bool tells_lack_of_memory(int code, std::string_view words) {
  if (code != ncclUnhandledCudaError && code != ncclSystemError) return false;
  std::string lower(words);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return std::ranges::any_of(
      telling_words, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

void name_lack_of_memory(const std::string& who, const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.status() != cudaErrorMemoryAllocation) throw;
    throw out_of_memory(who, error.what());
  } catch (const LibraryError& error) {
    if (!tells_lack_of_memory(error.code(), before_code(error.what()))) throw;
    throw out_of_memory(who, error.what());
  }
}

}  // namespace scaleworth::gpu
