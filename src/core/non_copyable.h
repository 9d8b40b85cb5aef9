// SPDX-License-Identifier: Apache-2.0
/// For classes of which there is one of each: neither copied nor moved.
#pragma once

namespace scaleworth {
class NonCopyable {
 protected:
  NonCopyable() = default;
  ~NonCopyable() = default;

 public:
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;
};
}  // namespace scaleworth
