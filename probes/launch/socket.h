// SPDX-License-Identifier: Apache-2.0
/// TCP connections that carry whole messages and never wait without a limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

struct addrinfo;

namespace scaleworth::probes {

using Deadline = std::chrono::steady_clock::time_point;

/// The other end is gone, silent for too long, or speaks another language; `what()` says which,
/// not who: only the caller knows.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An open connection or listening socket; closed at its end.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

  /// A message goes as its length (8 bytes, little-endian) and its bytes. Throws ConnectionLost,
  /// and Interrupted for a signal.
  void send(std::string_view message, Deadline deadline) const;
  /// Throws likewise; also for a message longer than `longest`, before any of it is stored.
  std::string receive(Deadline deadline, std::uint64_t longest = std::uint64_t{1} << 26U) const;

 private:
  void wait(short events, Deadline deadline) const;
  void receive_bytes(char* data, std::size_t count, Deadline deadline) const;

  int descriptor_ = -1;
};

/// Listens on `port` of the loopback interface when `host` is one of its names, else of all
/// interfaces: a host's own name often means 127.0.1.1 to itself. Throws UserError naming the port
/// when it is taken or not allowed.
Socket listen_on(const std::string& host, int port);

/// The next connection; absent when none came before `deadline`.
std::optional<Socket> accept_from(const Socket& listener, Deadline deadline);

/// Tries until somebody listens there. Absent when nobody did before `deadline`. Throws UserError
/// when the host's name is unknown.
std::optional<Socket> connect_to(const std::string& host, int port, Deadline deadline);

}  // namespace scaleworth::probes
