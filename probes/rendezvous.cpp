// SPDX-License-Identifier: Apache-2.0
#include "probes/rendezvous.h"

#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/core/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <fmt/ranges.h>
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

/// The next connection; absent when none came before `deadline`.
std::optional<Socket> accept_from(const Socket& listener, Deadline deadline) {
  while (ready(listener.descriptor(), POLLIN, deadline)) {
    Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) continue;  // the peer gave up in between
    tune(socket);
    return socket;
  }
  return std::nullopt;
}

constexpr std::string_view greeting = "scaleworth rendezvous 1";
constexpr std::string_view welcome_word = "welcome";
constexpr std::uint64_t longest_hello = 4096;
// A stranger who connects and says nothing holds up the others for so long.
constexpr std::chrono::seconds hello_limit{2};

/// Greeting, token, size and rank, a line each.
std::string hello(const RendezvousOptions& options) {
  return fmt::format("{}\n{}\n{}\n{}", greeting, options.token, options.size, options.rank);
}

/// The rank in a hello that differs from this rank's in nothing else; absent for any other.
std::optional<int> rank_in(const std::string& message, const RendezvousOptions& options) {
  const std::string common = fmt::format("{}\n{}\n{}\n", greeting, options.token, options.size);
  if (!message.starts_with(common)) return std::nullopt;
  const auto rank = parse_number<int>(std::string_view(message).substr(common.size()));
  return rank && *rank >= 1 && *rank < options.size ? rank : std::nullopt;
}

/// Several messages as one: each with its length in front.
std::string pack(const std::vector<std::string>& parts) {
  std::string packed;
  for (const std::string& part : parts) packed += fmt::format("{}\n{}", part.size(), part);
  return packed;
}

std::vector<std::string> unpack(const std::string& packed) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < packed.size();) {
    const std::size_t line = packed.find('\n', at);
    const auto size = parse_number<std::size_t>(std::string_view(packed).substr(at, line - at));
    if (line == std::string::npos || !size || *size > packed.size() - line - 1) {
      throw ProbeFailure("rank 0 sent a message that cannot be taken apart");
    }
    parts.push_back(packed.substr(line + 1, *size));
    at = line + 1 + *size;
  }
  return parts;
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
  const bool loopback = host == "localhost" || host == "::1" || host.starts_with("127.");
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
  throw UserError(
      "rank 0 cannot listen on port {} ({}): name a free one with MASTER_PORT", port, reason);
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
    throw UserError("the rendezvous host '{}' is unknown here ({}): correct MASTER_ADDR",
                    host,
                    gai_strerror(why));
  }
  return std::nullopt;
}

RankTrouble rank_trouble(const std::function<void()>& action) {
  try {
    action();
  } catch (const Interrupted& interrupted) {
    return {{}, interrupted.signal()};
  } catch (const OutOfMemory& error) {
    return {error.what(), 0, RankTrouble::Cause::out_of_memory};
  } catch (const RanksMissing& error) {
    return {error.what(), 0, RankTrouble::Cause::ranks_missing};
  } catch (const std::exception& error) {
    return {error.what(), 0};
  }
  return {};
}

Rendezvous::Rendezvous(RendezvousOptions options) : options_(std::move(options)) {
  if (options_.size < 1 || options_.rank < 0 || options_.rank >= options_.size) {
    throw UserError(
        "rank {} of {} does not exist: correct RANK and WORLD_SIZE", options_.rank, options_.size);
  }
  if (options_.size == 1) return;
  options_.rank == 0 ? serve() : come();
}

void Rendezvous::serve() {
  const Deadline deadline = steady_clock::now() + options_.arrival_limit;
  const Socket listener = listen_on(options_.host, options_.port);
  sockets_.resize(static_cast<std::size_t>(options_.size));
  const auto missing = [&] {
    std::vector<int> ranks;
    for (int rank = 1; rank < options_.size; ++rank) {
      if (!sockets_[static_cast<std::size_t>(rank)]) ranks.push_back(rank);
    }
    return ranks;
  };
  while (!missing().empty()) {
    std::optional<Socket> socket = accept_from(listener, deadline);
    if (!socket) give_up_on(missing());
    welcome(std::move(*socket), deadline);
  }
  for (int rank = 1; rank < options_.size; ++rank) send(rank, welcome_word, next_deadline());
}

void Rendezvous::give_up_on(const std::vector<int>& missing) {
  const std::string text = fmt::format(
      "rank {} never came to port {} within {} s: see whether that process runs and reaches {}",
      fmt::join(missing, ", "),
      options_.port,
      std::chrono::duration<double>(options_.arrival_limit).count(),
      options_.host);
  for (const Socket& socket : sockets_) {
    try {
      if (socket) socket.send(text, steady_clock::now() + hello_limit);
    } catch (const ConnectionLost&) {
      // The closing of the connection shows it instead.
    }
  }
  throw ProbeFailure(text);
}

void Rendezvous::welcome(Socket socket, Deadline deadline) {
  const Deadline soon = std::min<Deadline>(deadline, steady_clock::now() + hello_limit);
  try {
    const std::optional<int> rank = rank_in(socket.receive(soon, longest_hello), options_);
    if (!rank) {
      socket.send("this port belongs to another job, or the job has another size", soon);
    } else if (sockets_[static_cast<std::size_t>(*rank)]) {
      socket.send(fmt::format("a process has come as rank {} already", *rank), soon);
    } else {
      sockets_[static_cast<std::size_t>(*rank)] = std::move(socket);
    }
  } catch (const ConnectionLost&) {
    // A stranger, or a rank that died: if it was one of this job it will be missed.
  }
}

void Rendezvous::come() {
  const Deadline deadline = steady_clock::now() + options_.arrival_limit;
  std::optional<Socket> socket = connect_to(options_.host, options_.port, deadline);
  if (!socket) {
    throw ProbeFailure("rank {}: no answer from {}:{}: see whether rank 0 runs there",
                       options_.rank,
                       options_.host,
                       options_.port);
  }
  sockets_.push_back(std::move(*socket));
  send(0, hello(options_), deadline);
  // Rank 0 may have begun to wait later than this rank did.
  const std::string answer = receive(0, deadline + options_.arrival_limit);
  if (answer != welcome_word) {
    throw ProbeFailure("rank {} was sent away from {}:{}: {}",
                       options_.rank,
                       options_.host,
                       options_.port,
                       answer);
  }
}

Deadline Rendezvous::next_deadline() const {
  return steady_clock::now() + options_.exchange_limit;
}

void Rendezvous::send(int rank, std::string_view message, Deadline deadline) {
  try {
    sockets_[static_cast<std::size_t>(rank)].send(message, deadline);
  } catch (const ConnectionLost& lost) {
    throw ProbeFailure("rank {} is lost: {}", rank, lost.what());
  }
}

std::string Rendezvous::receive(int rank, Deadline deadline) {
  try {
    return sockets_[static_cast<std::size_t>(rank)].receive(deadline);
  } catch (const ConnectionLost& lost) {
    throw ProbeFailure("rank {} is lost: {}", rank, lost.what());
  }
}

std::vector<std::string> Rendezvous::gather(const std::string& own) {
  const Deadline deadline = next_deadline();
  if (options_.rank != 0) {
    send(0, own, deadline);
    return {};
  }
  std::vector<std::string> all{own};
  for (int rank = 1; rank < options_.size; ++rank) all.push_back(receive(rank, deadline));
  return all;
}

std::string Rendezvous::broadcast(const std::string& of_rank_0) {
  const Deadline deadline = next_deadline();
  if (options_.rank != 0) return receive(0, deadline);
  for (int rank = 1; rank < options_.size; ++rank) send(rank, of_rank_0, deadline);
  return of_rank_0;
}

std::vector<std::string> Rendezvous::all_gather(const std::string& own) {
  const std::vector<std::string> gathered = gather(own);
  return unpack(broadcast(pack(gathered)));
}

void Rendezvous::agree(const RankTrouble& own) {
  const bool well = own.signal == 0 && own.failure.empty();
  const std::vector<std::string> all = all_gather(
      well ? std::string()
           : fmt::format("{} {}\n{}", own.signal, static_cast<int>(own.cause), own.failure));
  std::array<std::string, 3> failures;  // by cause
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    std::istringstream trouble(all[rank]);
    int signal = 0;
    std::size_t cause = 0;
    trouble >> signal >> cause;
    if (signal != 0) throw Interrupted(signal);
    std::string& first = failures.at(cause);
    if (!first.empty()) continue;
    first = fmt::format("rank {}: {}", rank, all[rank].substr(all[rank].find('\n') + 1));
  }
  if (!failures[0].empty()) throw OutOfMemory(failures[0]);
  for (const std::string& failure : failures) {
    if (!failure.empty()) throw ProbeFailure(failure);
  }
}
}  // namespace scaleworth::probes
