// SPDX-License-Identifier: Apache-2.0
/// What the plugin gives NCCL to keep for an event: a number or an address, told apart by the
/// lowest bits, because NCCL gives it back without saying of which kind the event was.
#pragma once

#include <cstdint>

namespace scaleworth::gpu {

class NcclHandle {
 public:
  /// A call is a number and no address: network operations name it as their parent long after
  /// NCCL has ended the event.
  enum class Kind : std::uintptr_t { none = 0, call = 1, operation = 2, step = 3, channel = 4 };

  explicit NcclHandle(void* kept) : bits_(reinterpret_cast<std::uintptr_t>(kept)) {}
  static void* of_call(std::uint64_t number) {
    return reinterpret_cast<void*>((static_cast<std::uintptr_t>(number) << 3U) |
                                   static_cast<std::uintptr_t>(Kind::call));
  }
  template <class Object>
  static void* of(Object* object, Kind kind) {
    static_assert(alignof(Object) >= 8);
    if (object == nullptr) return nullptr;
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(object) |
                                   static_cast<std::uintptr_t>(kind));
  }

  Kind kind() const { return static_cast<Kind>(bits_ & 7U); }
  std::uint64_t call() const { return bits_ >> 3U; }
  template <class Object>
  Object* object() const {
    return reinterpret_cast<Object*>(bits_ & ~std::uintptr_t{7});
  }

 private:
  std::uintptr_t bits_;
};

}  // namespace scaleworth::gpu
