// SPDX-License-Identifier: Apache-2.0
#include "probes/launch/socket.h"

#include "src/core/error.h"
#include "src/core/interrupt.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace scaleworth::probes {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Between two looks at Ctrl-C.
constexpr milliseconds slice{100};
constexpr milliseconds between_tries{50};

std::string error_text() {
  return std::strerror(errno);
}

struct FreeAddresses {
  void operator()(addrinfo* addresses) const { freeaddrinfo(addresses); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

/// Null with getaddrinfo's reason in `why`.
Addresses resolve(const char* host, int port, int flags, int& why) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  why = getaddrinfo(host, std::to_string(port).c_str(), &hints, &found);
  return Addresses(why == 0 ? found : nullptr);
}

void set_option(const Socket& socket, int level, int option) {
  const int on = 1;
  ::setsockopt(socket.descriptor(), level, option, &on, sizeof(on));
}

Socket open_socket(const addrinfo& address) {
  return Socket(::socket(
      address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol));
}

/// Keep-alive notices a node that vanished without a word.
void tune(const Socket& socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE);
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// True when `events` came before the deadline; in slices, so that Ctrl-C is heard.
bool ready(int descriptor, short events, Deadline deadline) {
  while (true) {
    check_interrupt();
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd poll{descriptor, events, 0};
    const int count = ::poll(&poll, 1, static_cast<int>(std::min(left, slice).count()));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) throw ConnectionLost("poll: " + error_text());
  }
}

bool listens(const Socket& socket, const addrinfo& address) {
  set_option(socket, SOL_SOCKET, SO_REUSEADDR);
  return ::bind(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0 &&
         ::listen(socket.descriptor(), SOMAXCONN) == 0;
}

bool connected(const Socket& socket, const addrinfo& address, Deadline deadline) {
  if (::connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS || !ready(socket.descriptor(), POLLOUT, deadline)) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Socket::wait(short events, Deadline deadline) const {
  if (!ready(descriptor_, events, deadline))
    throw ConnectionLost("no answer within the time limit");
}

void Socket::send(std::string_view message, Deadline deadline) const {
  std::array<char, 8> header{};
  for (std::size_t i = 0; i < header.size(); ++i) {
    header[i] = static_cast<char>((std::uint64_t{message.size()} >> (8 * i)) & 0xFFU);
  }
  const std::string whole = std::string(header.data(), header.size()) + std::string(message);
  for (std::size_t sent = 0; sent < whole.size();) {
    const ssize_t count =
        ::send(descriptor_, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait(POLLOUT, deadline);
    } else if (errno != EINTR) {
      throw ConnectionLost("the connection broke (" + error_text() + ")");
    }
  }
}

void Socket::receive_bytes(char* data, std::size_t count, Deadline deadline) const {
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = ::recv(descriptor_, data + done, count - done, 0);
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (got == 0) {
      throw ConnectionLost("the connection was closed");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      wait(POLLIN, deadline);
    } else if (errno != EINTR) {
      throw ConnectionLost("the connection broke (" + error_text() + ")");
    }
  }
}

std::string Socket::receive(Deadline deadline, std::uint64_t longest) const {
  std::array<char, 8> header{};
  receive_bytes(header.data(), header.size(), deadline);
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < header.size(); ++i) {
    size |= std::uint64_t{static_cast<unsigned char>(header[i])} << (8 * i);
  }
  if (size > longest) throw ConnectionLost("it sent something that is no message of this program");
  std::string message(size, '\0');
  receive_bytes(message.data(), message.size(), deadline);
  return message;
}

Socket listen_on(const std::string& host, int port) {
  const bool loopback = is_loopback(host);
  int why = 0;
  const Addresses addresses =
      resolve(loopback ? host.c_str() : nullptr, port, loopback ? 0 : AI_PASSIVE, why);
  std::string reason = why == 0 ? "no address" : gai_strerror(why);
  // Listening on all of IPv6 takes IPv4 along, the other way round it does not.
  for (const int family : {AF_INET6, AF_INET}) {
    for (const addrinfo* address = addresses.get(); address != nullptr;
         address = address->ai_next) {
      if (address->ai_family != family) continue;
      Socket socket = open_socket(*address);
      if (socket && listens(socket, *address)) return socket;
      reason = error_text();
    }
  }
  throw UserError(fmt::format(
      "rank 0 cannot listen on port {} ({}): name a free one with MASTER_PORT", port, reason));
}

std::optional<Socket> accept_from(const Socket& listener, Deadline deadline) {
  while (ready(listener.descriptor(), POLLIN, deadline)) {
    Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) continue;  // the peer gave up in between
    tune(socket);
    return socket;
  }
  return std::nullopt;
}

std::optional<Socket> connect_to(const std::string& host, int port, Deadline deadline) {
  int why = 0;
  while (steady_clock::now() < deadline) {
    // Asked again each time: a name service may learn of the host only when it has started.
    const Addresses addresses = resolve(host.c_str(), port, 0, why);
    for (const addrinfo* address = addresses.get(); address != nullptr;
         address = address->ai_next) {
      Socket socket = open_socket(*address);
      if (socket && connected(socket, *address, deadline)) {
        tune(socket);
        return socket;
      }
    }
    check_interrupt();
    std::this_thread::sleep_for(between_tries);
  }
  if (why != 0) {
    throw UserError(
        fmt::format("the rendezvous host '{}' is unknown here ({}): correct MASTER_ADDR",
                    host,
                    gai_strerror(why)));
  }
  return std::nullopt;
}

}  // namespace scaleworth::probes
