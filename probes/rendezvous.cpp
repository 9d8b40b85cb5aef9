// SPDX-License-Identifier: Apache-2.0
#include "probes/rendezvous.h"

#include "src/core/error.h"
#include "src/core/files/csv.h"
#include "src/core/lists.h"
#include "src/core/non_copyable.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <span>
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
// Until rank 0 listens: no load, no wait that people notice.
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

/// True when any of `waiting` is ready before the deadline; in slices, so that Ctrl-C is heard.
bool ready(std::span<pollfd> waiting, Deadline deadline) {
  while (true) {
    check_interrupt();
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return false;
    const int count =
        ::poll(waiting.data(), waiting.size(), static_cast<int>(std::min(left, slice).count()));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) throw ConnectionLost("poll: " + error_text());
  }
}

bool ready(const Socket& socket, short events, Deadline deadline) {
  pollfd waiting{socket.descriptor(), events, 0};
  return ready({&waiting, 1}, deadline);
}

bool listens(const Socket& socket, const addrinfo& address) {
  set_option(socket, SOL_SOCKET, SO_REUSEADDR);
  return ::bind(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0 &&
         ::listen(socket.descriptor(), SOMAXCONN) == 0;
}

bool connected(const Socket& socket, const addrinfo& address, Deadline deadline) {
  if (::connect(socket.descriptor(), address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS || !ready(socket, POLLOUT, deadline)) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0;
}

bool is_loopback(const sockaddr& address) {
  if (address.sa_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr) != 0;
  }
  constexpr std::uint32_t loopback_network = 127;  // 127.0.0.0/8, RFC 1122
  const std::uint32_t number = ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr);
  return number >> 24U == loopback_network;
}

// The first byte of what goes over a connection.
constexpr char life = 'l';
constexpr char message_follows = 'm';
constexpr std::size_t header_size = 9;  // with the length

constexpr std::string_view greeting = "scaleworth rendezvous 2";
constexpr std::string_view welcome_word = "welcome";
// Bytes; ours have some hundred, a stranger's are cut.
constexpr std::uint64_t longest_hello = 4096;
// Who connects has so long to say who it is; the others do not wait for that.
constexpr std::chrono::seconds hello_limit{2};
// Connections that have not said who they are; beyond them the oldest goes, so that silent ones
// cannot take all descriptors of the process.
constexpr std::size_t most_unidentified = 256;

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

/// A connection that has not said yet which rank it is.
struct Unidentified {
  Socket socket;
  Deadline deadline;
};

/// Accepts what waits; of many only some, so that a rank among them is heard before others push it
/// out.
void accept_some(const Socket& listener, std::deque<Unidentified>& unidentified) {
  for (std::size_t i = 0; i < most_unidentified / 4; ++i) {
    Socket socket(::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    const bool no_descriptors = !socket && (errno == EMFILE || errno == ENFILE);
    if (!socket && (!no_descriptors || unidentified.empty())) return;
    if (no_descriptors || unidentified.size() == most_unidentified) unidentified.pop_front();
    if (!socket) continue;
    tune(socket);
    unidentified.push_back({std::move(socket), steady_clock::now() + hello_limit});
  }
}
}  // namespace

/// Heartbeats that were not read would turn the orderly end into a reset, which can overtake the
/// last message on its way.
Socket::~Socket() {
  if (descriptor_ < 0) return;
  ::shutdown(descriptor_, SHUT_WR);
  // Reads what is left, 64 KiB at most: closing over unread data would reset the connection.
  std::array<char, 4096> piece;
  for (int i = 0; i < 16 && ::recv(descriptor_, piece.data(), piece.size(), MSG_DONTWAIT) > 0;) ++i;
  ::close(descriptor_);
}

void Socket::send(std::string_view message, Deadline deadline) const {
  std::string whole(header_size, message_follows);
  for (std::size_t i = 1; i < header_size; ++i) {
    whole[i] = static_cast<char>((std::uint64_t{message.size()} >> (8 * (i - 1))) & 0xFFU);
  }
  whole += message;
  for (std::size_t sent = 0; sent < whole.size();) {
    const ssize_t count =
        ::send(descriptor_, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!ready(*this, POLLOUT, deadline)) throw ConnectionLost("no answer within the time limit");
    } else if (errno != EINTR) {
      throw ConnectionLost("the connection broke (" + error_text() + ")");
    }
  }
}

std::string Socket::receive(Deadline deadline, std::uint64_t longest) {
  while (true) {
    if (auto message = take(longest)) return std::move(*message);
    if (!ready(*this, POLLIN, deadline)) throw ConnectionLost("no answer within the time limit");
  }
}

void Socket::beat() const {
  static_cast<void>(::send(descriptor_, &life, 1, MSG_NOSIGNAL));
}

std::optional<std::string> Socket::take(std::uint64_t longest) {
  // Then the other connections have their turn: this one may never stop.
  constexpr int most_reads = 64;
  std::array<char, 1U << 16U> piece;
  for (int reads = 0; reads < most_reads; ++reads) {
    if (auto message = first_message(longest)) return message;
    const ssize_t got = ::recv(descriptor_, piece.data(), piece.size(), 0);
    if (got > 0) {
      arrived_.append(piece.data(), static_cast<std::size_t>(got));
      heard_ = steady_clock::now();
    } else if (got == 0) {
      throw ConnectionLost("the connection was closed");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return std::nullopt;
    } else if (errno != EINTR) {
      throw ConnectionLost("the connection broke (" + error_text() + ")");
    }
  }
  // What the last read completed would else wait for the next sign of life.
  return first_message(longest);
}

std::optional<std::string> Socket::first_message(std::uint64_t longest) {
  arrived_.erase(0, arrived_.find_first_not_of(life));
  if (arrived_.empty()) return std::nullopt;
  std::uint64_t size = 0;
  for (std::size_t i = 1; i < std::min(header_size, arrived_.size()); ++i) {
    size |= std::uint64_t{static_cast<unsigned char>(arrived_[i])} << (8 * (i - 1));
  }
  if (arrived_[0] != message_follows || size > longest) {
    throw ConnectionLost("it sent something that is no message of this program");
  }
  if (arrived_.size() < header_size + size) return std::nullopt;
  std::string message = arrived_.substr(header_size, size);
  arrived_.erase(0, header_size + size);
  return message;
}

Socket listen_on(const std::string& host, int port, bool on_one_host) {
  const bool loopback = host == "localhost" || host == "::1" || host.starts_with("127.");
  std::string reason;
  // Absent when none of them is an address of this host.
  const auto listen_at = [&](const Addresses& addresses, bool everywhere) -> std::optional<Socket> {
    // Listening on all of IPv6 takes IPv4 along, the other way round it does not.
    for (const int family : {AF_INET6, AF_INET}) {
      for (const addrinfo* address = addresses.get(); address != nullptr;
           address = address->ai_next) {
        const bool meant = everywhere || loopback || on_one_host || !is_loopback(*address->ai_addr);
        if (address->ai_family != family || !meant) continue;
        Socket socket = open_socket(*address);
        if (socket && listens(socket, *address)) return socket;
        if (errno != EADDRNOTAVAIL) reason = error_text();
      }
    }
    return std::nullopt;
  };
  int why = 0;
  const Addresses named = resolve(host.c_str(), port, 0, why);
  int meant = 0;
  for (const addrinfo* address = named.get(); address != nullptr; address = address->ai_next) {
    if (!is_loopback(*address->ai_addr)) ++meant;
  }
  // A host often finds all of its addresses under its own name, and others only one of them.
  if (loopback || on_one_host || meant == 1) {
    if (auto socket = listen_at(named, false)) return std::move(*socket);
  }
  // A port that is taken there is no reason to open another door.
  if (reason.empty() && !loopback) {
    if (auto socket = listen_at(resolve(nullptr, port, AI_PASSIVE, why), true)) {
      return std::move(*socket);
    }
  }
  if (reason.empty()) reason = why == 0 ? "no address" : gai_strerror(why);
  throw UserError(
      "rank 0 cannot listen on port {} ({}): name a free one with MASTER_PORT", port, reason);
}

std::optional<Socket> connect_to(const std::string& host, int port, Deadline deadline) {
  int why = 0;
  // The first of several addresses may lead nowhere.
  constexpr std::chrono::seconds try_limit{5};
  while (steady_clock::now() < deadline) {
    // Asked again each time: a name service may learn of the host only when it has started.
    const Addresses addresses = resolve(host.c_str(), port, 0, why);
    for (const addrinfo* address = addresses.get(); address != nullptr;
         address = address->ai_next) {
      Socket socket = open_socket(*address);
      if (socket &&
          connected(socket, *address, std::min(deadline, steady_clock::now() + try_limit))) {
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

void act_and_agree(const std::function<void()>& action,
                   const std::function<void(const std::function<void()>&)>& agree) {
  std::exception_ptr own;
  try {
    agree([&] {
      try {
        action();
      } catch (...) {
        own = std::current_exception();
        throw;
      }
    });
  } catch (const ProbeFailure&) {
    if (own) std::rethrow_exception(own);
    throw;
  }
}

std::string job_token(const LaunchEnvironment& launch, const EnvironmentVariables& variables) {
  std::string token =
      fmt::format("{} ranks by {}", launch.world_size.value_or(0), launcher_name(launch.launcher));
  for (const char* name : {"SCALEWORTH_JOB_SECRET",
                           "OMPI_MCA_orte_precondition_transports",
                           "TORCHELASTIC_RUN_ID",
                           "SLURM_JOB_ID",
                           "SLURM_STEP_ID",
                           "PMIX_NAMESPACE",
                           "PMI_JOBID"}) {
    // Under other launchers each node has its own: mpirun starts its daemons by one srun each.
    if (std::string_view(name).starts_with("SLURM_") && launch.launcher != Launcher::slurm)
      continue;
    if (const std::string* set = value_at(variables, name)) token += " " + *set;
  }
  return token;
}

/// The connections to the other ranks, and the thread that shows over them that this one lives.
class Rendezvous::Links : NonCopyable {
 public:
  /// Rank 0: by rank, the first unused; elsewhere one, to rank 0.
  Links(std::size_t count, milliseconds silence_limit)
      : peers_(count), between_beats_(std::max(milliseconds(1), silence_limit / 12)) {}
  ~Links() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    if (beating_.joinable()) beating_.join();
  }

  Socket& socket(int peer) { return peers_[peer].socket; }

  void send(int peer, std::string_view message, Deadline deadline) {
    Peer& to = peers_[peer];
    const std::scoped_lock lock(to.sending);
    to.socket.send(message, deadline);
  }

  std::vector<int> missing() {
    std::vector<int> ranks;
    for (int rank = 1; rank < std::ssize(peers_); ++rank)
      if (!socket(rank)) ranks.push_back(rank);
    return ranks;
  }

  void tell_all(std::string_view text) {
    for (int rank = 1; rank < std::ssize(peers_); ++rank) {
      try {
        if (socket(rank)) send(rank, text, steady_clock::now() + hello_limit);
      } catch (const ConnectionLost&) {
        // The first exchange with it shows that it is gone.
      }
    }
  }

  // True when it is settled who this is: a rank of the job, one that was sent away, or one that
  // closed.
  bool settled(Unidentified& connection, const RendezvousOptions& options) {
    try {
      const auto hello = connection.socket.take(longest_hello);
      if (!hello) return false;
      const std::optional<int> rank = rank_in(*hello, options);
      if (rank && !socket(*rank)) {
        socket(*rank) = std::move(connection.socket);
        return true;
      }
      connection.socket.send(rank ? fmt::format("a process has come as rank {} already", *rank)
                                  : "this port belongs to another job, or the job has another size",
                             connection.deadline);
    } catch (const ConnectionLost&) {
      // If it was a rank of this job it will be missed.
    }
    return true;
  }

  void start_beating() {
    // Signals are for the thread that measures.
    struct Blocked {
      sigset_t before{};
      Blocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
      }
      ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    } blocked;
    beating_ = std::thread([this] { beat(); });
  }

 private:
  struct Peer {
    Socket socket;
    std::mutex sending;  // a sign of life must not fall into a message
  };

  void beat() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, between_beats_, [this] { return stop_; })) {
      for (Peer& peer : peers_) {
        const std::unique_lock free(peer.sending, std::try_to_lock);
        if (free && peer.socket) peer.socket.beat();
      }
    }
  }

  std::deque<Peer> peers_;
  const milliseconds between_beats_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  std::thread beating_;
};

Rendezvous::Rendezvous(RendezvousOptions options) : options_(std::move(options)) {
  if (options_.size < 1 || options_.rank < 0 || options_.rank >= options_.size) {
    throw UserError(
        "rank {} of {} does not exist: correct RANK and WORLD_SIZE", options_.rank, options_.size);
  }
  if (options_.size == 1) return;
  links_ = std::make_unique<Links>(
      options_.rank == 0 ? static_cast<std::size_t>(options_.size) : 1U, options_.silence_limit);
  options_.rank == 0 ? serve() : come();
  links_->start_beating();
}

Rendezvous::~Rendezvous() = default;
Rendezvous::Rendezvous(Rendezvous&&) noexcept = default;

void Rendezvous::serve() {
  const Deadline deadline = steady_clock::now() + options_.arrival_limit;
  const Socket listener = listen_on(options_.host, options_.port, options_.on_one_host);
  std::deque<Unidentified> unidentified;  // the oldest first
  while (!links_->missing().empty()) {
    std::vector<pollfd> waiting{{listener.descriptor(), POLLIN, 0}};
    Deadline next = deadline;
    for (const Unidentified& connection : unidentified) {
      waiting.push_back({connection.socket.descriptor(), POLLIN, 0});
      next = std::min(next, connection.deadline);
    }
    if (!ready(waiting, next) && steady_clock::now() >= deadline) {
      const std::string text = fmt::format(
          "rank {} never came to port {} within {} s: see whether that process runs and reaches {}",
          fmt::join(links_->missing(), ", "),
          options_.port,
          std::chrono::duration<double>(options_.arrival_limit).count(),
          options_.host);
      links_->tell_all(text);
      throw ProbeFailure(text);
    }
    accept_some(listener, unidentified);
    std::erase_if(unidentified, [&](Unidentified& connection) {
      return links_->settled(connection, options_) || steady_clock::now() >= connection.deadline;
    });
  }
  links_->tell_all(welcome_word);
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
  std::string answer;
  try {
    socket->send(hello(options_), deadline);
    // Rank 0 may have begun to wait later than this rank did.
    answer = socket->receive(deadline + options_.arrival_limit);
  } catch (const ConnectionLost& lost) {
    throw ProbeFailure("rank 0 is lost: {}", lost.what());
  }
  if (answer != welcome_word) {
    throw ProbeFailure("rank {} was sent away from {}:{}: {}",
                       options_.rank,
                       options_.host,
                       options_.port,
                       answer);
  }
  links_->socket(0) = std::move(*socket);
}

/// After any failure it is unknown which message comes next.
template <class Exchange>
auto Rendezvous::or_close(const Exchange& exchange) {
  if (!broken_.empty()) throw ProbeFailure(broken_);
  try {
    return exchange();
  } catch (const std::exception& failure) {
    broken_ = failure.what();
    links_.reset();
    throw;
  }
}

void Rendezvous::send(int rank, std::string_view message) {
  try {
    links_->send(rank, message, steady_clock::now() + options_.exchange_limit);
  } catch (const ConnectionLost& lost) {
    throw ProbeFailure("rank {} is lost: {}", rank, lost.what());
  }
}

/// A message of each of the ranks from `first` to below `end`, in whichever order they come.
std::vector<std::string> Rendezvous::receive(int first, int end) {
  const Deadline begun = steady_clock::now();
  std::vector<std::optional<std::string>> messages(end - first);
  // Whether something came of that rank since it was looked at: with a thousand ranks there is
  // always one that shows that it lives.
  std::vector<bool> came(messages.size(), true);
  while (true) {
    std::vector<pollfd> waiting;
    Deadline next = begun + options_.exchange_limit;
    for (int rank = first; rank < end; ++rank) {
      const auto index = static_cast<std::size_t>(rank - first);
      auto& message = messages[index];
      Socket& socket = links_->socket(rank);
      const auto lose = [&](const std::string& why) {
        throw ProbeFailure("rank {} is lost: {}", rank, why);
      };
      try {
        if (!message && came[index]) message = socket.take();
      } catch (const ConnectionLost& lost) {
        lose(lost.what());
      }
      if (message) continue;
      const Deadline silent = std::max(begun, socket.heard()) + options_.silence_limit;
      const Deadline now = steady_clock::now();
      if (now >= silent) lose("no sign of life within the time limit");
      if (now >= begun + options_.exchange_limit) lose("no answer within the time limit");
      waiting.push_back({socket.descriptor(), POLLIN, 0});
      next = std::min(next, silent);
    }
    if (waiting.empty()) break;
    static_cast<void>(ready(waiting, next));
    auto polled = waiting.begin();
    for (std::size_t index = 0; index < messages.size(); ++index) {
      if (!messages[index]) came[index] = (polled++)->revents != 0;
    }
  }
  std::vector<std::string> all;
  for (auto& message : messages) all.push_back(std::move(*message));
  return all;
}

std::vector<std::string> Rendezvous::gather(const std::string& own) {
  return or_close([&]() -> std::vector<std::string> {
    if (options_.rank != 0) {
      send(0, own);
      return {};
    }
    std::vector<std::string> all = receive(1, options_.size);
    all.insert(all.begin(), own);
    return all;
  });
}

std::string Rendezvous::broadcast(const std::string& of_rank_0) {
  return or_close([&] {
    if (options_.rank != 0) return receive(0, 1).front();
    for (int rank = 1; rank < options_.size; ++rank) send(rank, of_rank_0);
    return of_rank_0;
  });
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
