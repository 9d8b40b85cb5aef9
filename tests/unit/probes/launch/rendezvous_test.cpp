// SPDX-License-Identifier: Apache-2.0
#include "probes/rendezvous.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

using namespace scaleworth;
using namespace scaleworth::probes;
using namespace std::chrono_literals;

namespace {

int free_port() {
  const Socket probe(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(probe.descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof(address));
  socklen_t size = sizeof(address);
  ::getsockname(probe.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

RendezvousOptions options_of(int rank, int size, int port) {
  return {.host = "127.0.0.1",
          .port = port,
          .rank = rank,
          .size = size,
          .token = "job 7",
          .arrival_limit = 5s,
          .exchange_limit = 5s};
}

using Act = std::function<void(Rendezvous&)>;

/// Runs one thread per entry of `options`; the texts of what each threw, empty for nothing.
std::vector<std::string> run(const std::vector<RendezvousOptions>& options, const Act& act) {
  std::vector<std::string> thrown(options.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < options.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        Rendezvous rendezvous(options[i]);
        act(rendezvous);
      } catch (const std::exception& error) {
        thrown[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

}  // namespace

TEST_CASE("all ranks that arrive exchange what they have", "[rendezvous]") {
  const int port = free_port();
  std::vector<std::string> everything(3);
  std::vector<std::string> from_0(3);
  const auto thrown = run({options_of(2, 3, port), options_of(1, 3, port), options_of(0, 3, port)},
                          [&](Rendezvous& rendezvous) {
                            const auto rank = static_cast<std::size_t>(rendezvous.rank());
                            const auto all =
                                rendezvous.all_gather(std::string(rank, 'x') + "\n7\n");
                            for (const auto& part : all) everything[rank] += part + "|";
                            from_0[rank] = rendezvous.broadcast(rank == 0 ? "plan" : "ignored");
                            const auto gathered = rendezvous.gather("g");
                            if (gathered.size() != (rank == 0 ? 3U : 0U)) from_0[rank] = "wrong";
                            rendezvous.agree({});
                          });
  CHECK(thrown == std::vector<std::string>(3));
  CHECK(everything == std::vector<std::string>(3, "\n7\n|x\n7\n|xx\n7\n|"));
  CHECK(from_0 == std::vector<std::string>(3, "plan"));
}

TEST_CASE("one rank alone needs no port", "[rendezvous]") {
  Rendezvous alone({.host = "nowhere.invalid", .port = 0, .rank = 0, .size = 1, .token = ""});
  CHECK(alone.all_gather("own") == std::vector<std::string>{"own"});
  CHECK(alone.broadcast("own") == "own");
  CHECK_THROWS_AS(alone.agree({"broken", 0}), ProbeFailure);
}

TEST_CASE("every rank hears which rank never came", "[rendezvous]") {
  const int port = free_port();
  auto server = options_of(0, 4, port);
  server.arrival_limit = 300ms;
  const auto thrown = run({server, options_of(2, 4, port)}, [](Rendezvous&) {});
  for (const std::string& text : thrown) {
    CHECK(contains(text, "rank 1, 3 never came to port"));
  }
}

TEST_CASE("nobody at the address is said with the address", "[rendezvous]") {
  auto client = options_of(1, 2, free_port());
  client.arrival_limit = 100ms;
  const auto thrown = run({client}, [](Rendezvous&) {});
  CHECK(contains(thrown[0], "rank 1: no answer from 127.0.0.1:"));
}

TEST_CASE("a process with another token is sent away and harms nobody", "[rendezvous]") {
  const int port = free_port();
  const Act agree = [](Rendezvous& rendezvous) { rendezvous.agree({}); };
  std::string server_threw = "nothing yet";
  std::thread server([&] { server_threw = run({options_of(0, 2, port)}, agree)[0]; });
  auto stranger = options_of(1, 2, port);
  stranger.token = "job 8";
  CHECK(contains(run({stranger}, agree)[0], "belongs to another job, or the job has another size"));
  CHECK(run({options_of(1, 2, port)}, agree)[0].empty());
  server.join();
  CHECK(server_threw.empty());
}

TEST_CASE("a second process of one rank is sent away", "[rendezvous]") {
  const int port = free_port();
  auto server = options_of(0, 3, port);
  server.arrival_limit = 500ms;
  const auto thrown =
      run({server, options_of(1, 3, port), options_of(1, 3, port)}, [](Rendezvous&) {});
  const int duplicates = static_cast<int>(contains(thrown[1], "come as rank 1 already")) +
                         static_cast<int>(contains(thrown[2], "come as rank 1 already"));
  CHECK(duplicates == 1);
  CHECK(contains(thrown[0], "rank 2 never came"));
}

TEST_CASE("a connection that speaks another language is ignored", "[rendezvous]") {
  const int port = free_port();
  std::thread stranger([&] {
    const auto socket = connect_to("127.0.0.1", port, std::chrono::steady_clock::now() + 2s);
    const std::string request = "GET / HTTP/1.1\r\n\r\n";
    if (socket) ::send(socket->descriptor(), request.data(), request.size(), MSG_NOSIGNAL);
  });
  const auto thrown = run({options_of(0, 2, port), options_of(1, 2, port)},
                          [](Rendezvous& rendezvous) { rendezvous.agree({}); });
  stranger.join();
  CHECK(thrown == std::vector<std::string>(2));
}

TEST_CASE("a port that is taken is named", "[rendezvous]") {
  const int port = free_port();
  const Socket taken = listen_on("127.0.0.1", port);
  const auto thrown = run({options_of(0, 2, port)}, [](Rendezvous&) {});
  CHECK(contains(thrown[0], "cannot listen on port " + std::to_string(port)));
}

TEST_CASE("a rank that dies midway is named on rank 0 and ends the wait of the others",
          "[rendezvous]") {
  const int port = free_port();
  const auto thrown = run({options_of(0, 3, port), options_of(1, 3, port), options_of(2, 3, port)},
                          [](Rendezvous& rendezvous) {
                            rendezvous.agree({});
                            if (rendezvous.rank() == 1) return;
                            rendezvous.agree({});
                          });
  CHECK(contains(thrown[0], "rank 1 is lost: the connection "));
  CHECK(thrown[1].empty());
  CHECK(contains(thrown[2], "rank 0 is lost: the connection "));
}

TEST_CASE("a silent rank is given up after the limit", "[rendezvous]") {
  const int port = free_port();
  auto server = options_of(0, 2, port);
  server.exchange_limit = 100ms;
  std::atomic<bool> done{false};
  const auto thrown = run({server, options_of(1, 2, port)}, [&](Rendezvous& rendezvous) {
    if (rendezvous.rank() == 1) {
      while (!done) std::this_thread::sleep_for(5ms);
      return;
    }
    const RankTrouble trouble = rank_trouble([&] { rendezvous.agree({}); });
    done = true;
    throw ProbeFailure(trouble.failure);
  });
  CHECK(contains(thrown[0], "rank 1 is lost: no answer within the time limit"));
}

TEST_CASE("the failure of one rank is thrown on all, a signal before it", "[rendezvous]") {
  const int port = free_port();
  const auto thrown = run({options_of(0, 3, port), options_of(1, 3, port), options_of(2, 3, port)},
                          [](Rendezvous& rendezvous) {
                            const int rank = rendezvous.rank();
                            rendezvous.agree({rank == 0 ? "" : "out of memory", 0});
                          });
  CHECK(thrown == std::vector<std::string>(3, "rank 1: out of memory"));
}

TEST_CASE("the lack of memory of one rank is the reason on all, whatever the others met",
          "[rendezvous]") {
  const int port = free_port();
  std::vector<int> memory(3, 0);
  const auto act = [&](Rendezvous& rendezvous) {
    const auto rank = static_cast<std::size_t>(rendezvous.rank());
    const RankTrouble own = rank_trouble([&] {
      if (rank == 2) throw OutOfMemory("none left");
      throw ProbeFailure("another rank gave up");
    });
    try {
      rendezvous.agree(own);
    } catch (const OutOfMemory&) {
      memory[rank] = 1;
      throw;
    }
  };
  const auto thrown =
      run({options_of(0, 3, port), options_of(1, 3, port), options_of(2, 3, port)}, act);
  CHECK(thrown == std::vector<std::string>(3, "rank 2: none left"));
  CHECK(memory == std::vector<int>(3, 1));
}

TEST_CASE("a rank that failed is named by all, not those that missed it", "[rendezvous]") {
  const int port = free_port();
  const auto outcome = [&](const std::vector<std::function<void()>>& actions) {
    std::vector<RendezvousOptions> ranks;
    const int count = static_cast<int>(actions.size());
    for (int rank = 0; rank < count; ++rank) ranks.push_back(options_of(rank, count, port));
    return run(ranks, [&](Rendezvous& rendezvous) {
      rendezvous.agree(rank_trouble(actions.at(static_cast<std::size_t>(rendezvous.rank()))));
    });
  };
  const auto misses = [] { throw RanksMissing("waited"); };
  const auto fails = [] { throw std::runtime_error("no route to host"); };
  CHECK(outcome({misses, misses, fails}) ==
        std::vector<std::string>(3, "rank 2: no route to host"));
  CHECK(outcome({misses, [] {}, misses}) == std::vector<std::string>(3, "rank 0: waited"));
  const auto no_memory = [] { throw OutOfMemory("8 GiB"); };
  CHECK(outcome({misses, fails, no_memory}) == std::vector<std::string>(3, "rank 2: 8 GiB"));
}
