// SPDX-License-Identifier: Apache-2.0
#include "probes/rendezvous.h"

#include "src/core/error.h"
#include "tests/catch.h"

#include <array>
#include <atomic>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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
          .arrival_limit = 20s};
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

TEST_CASE(
    "a rank that works for longer than the silence limit is waited for: it shows that it lives",
    "[rendezvous]") {
  const int port = free_port();
  auto ranks = std::vector{options_of(0, 3, port), options_of(1, 3, port), options_of(2, 3, port)};
  for (auto& rank : ranks) rank.silence_limit = 1500ms;
  const int working = GENERATE(0, 1);
  const auto thrown = run(ranks, [&](Rendezvous& rendezvous) {
    if (rendezvous.rank() == working) std::this_thread::sleep_for(3500ms);
    rendezvous.agree({});
  });
  CHECK(thrown == std::vector<std::string>(3));
}

TEST_CASE("a rank whose host vanished is lost when it was silent for the limit", "[rendezvous]") {
  const int port = free_port();
  auto server = options_of(0, 2, port);
  server.silence_limit = 200ms;  // the other one shows every 5 s that it lives
  std::atomic<bool> done{false};
  const auto thrown = run({server, options_of(1, 2, port)}, [&](Rendezvous& rendezvous) {
    while (rendezvous.rank() == 1 && !done) std::this_thread::sleep_for(5ms);
    const RankTrouble trouble = rank_trouble([&] { rendezvous.agree({}); });
    done = true;
    throw ProbeFailure(trouble.failure);
  });
  CHECK(contains(thrown[0], "rank 1 is lost: no sign of life within the time limit"));
  CHECK(contains(thrown[1], "rank 0 is lost: the connection "));
}

TEST_CASE("the kill of the rank that works ends the wait of the others at once", "[rendezvous]") {
  const int port = free_port();
  const pid_t working = ::fork();
  if (working == 0) {
    run({options_of(0, 2, port)}, [](Rendezvous&) { ::pause(); });
    ::_exit(0);
  }
  // Its silence would end it after a minute only, and be called otherwise.
  const auto thrown = run({options_of(1, 2, port)}, [&](Rendezvous& rendezvous) {
    ::kill(working, SIGKILL);
    rendezvous.agree({});
  });
  ::waitpid(working, nullptr, 0);
  CHECK(contains(thrown[0], "rank 0 is lost: the connection "));
}

TEST_CASE("the loss of one rank is noticed while another one works", "[rendezvous]") {
  const int port = free_port();
  std::atomic<bool> done{false};
  const auto thrown = run({options_of(0, 3, port), options_of(1, 3, port), options_of(2, 3, port)},
                          [&](Rendezvous& rendezvous) {
                            if (rendezvous.rank() == 2) return;
                            while (rendezvous.rank() == 1 && !done)
                              std::this_thread::sleep_for(5ms);
                            const RankTrouble trouble = rank_trouble([&] { rendezvous.agree({}); });
                            done = true;
                            throw ProbeFailure(trouble.failure);
                          });
  CHECK(contains(thrown[0], "rank 2 is lost: the connection "));
  CHECK(contains(thrown[1], "rank 0 is lost: the connection "));
}

TEST_CASE("after a loss every further question fails with the same reason", "[rendezvous]") {
  const int port = free_port();
  std::vector<std::string> again(2);
  run({options_of(0, 2, port), options_of(1, 2, port)}, [&](Rendezvous& rendezvous) {
    if (rendezvous.rank() == 1) return;
    for (std::string& text : again)
      text = rank_trouble([&] { rendezvous.all_gather("own"); }).failure;
  });
  CHECK(contains(again[0], "rank 1 is lost: the connection "));
  CHECK(again[1] == again[0]);
}

TEST_CASE("silent connections do not keep the ranks of the job waiting", "[rendezvous]") {
  // One after the other, each for two seconds, they would take longer than ranks have to arrive.
  const int count = GENERATE(32, 200, 600);
  const int port = free_port();
  std::vector<Socket> silent;
  const auto soon = std::chrono::steady_clock::now() + 20s;
  std::string server_threw = "nothing yet";
  std::thread server(
      [&] { server_threw = run({options_of(0, 2, port)}, [](Rendezvous& r) { r.agree({}); })[0]; });
  for (int i = 0; i < count; ++i) {
    auto socket = connect_to("127.0.0.1", port, soon);
    REQUIRE(socket);
    silent.push_back(std::move(*socket));
  }
  CHECK(run({options_of(1, 2, port)}, [](Rendezvous& r) { r.agree({}); })[0].empty());
  server.join();
  CHECK(server_threw.empty());
}

TEST_CASE("rank 0 listens on the interface that the ranks name only", "[rendezvous]") {
  const auto bound = [](const std::string& host, bool on_one_host) {
    const Socket socket = listen_on(host, 0, on_one_host);
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    ::getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size);
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* number =
        address.ss_family == AF_INET6
            ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
            : &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    return std::string(
        ::inet_ntop(address.ss_family, number, text.data(), static_cast<socklen_t>(text.size())));
  };
  CHECK(bound("127.0.0.1", false) == "127.0.0.1");
  CHECK(bound("127.0.1.1", false) == "127.0.1.1");
  // An address of no interface here: translated on the way, so any may be meant.
  CHECK(contains(std::string(":: 0.0.0.0"), bound("192.0.2.1", false)));
  ifaddrs* interfaces = nullptr;
  REQUIRE(::getifaddrs(&interfaces) == 0);
  for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const std::string own =
        ::inet_ntoa(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr);
    CHECK(bound(own, false) == own);
  }
  ::freeifaddrs(interfaces);
}

TEST_CASE("the token of a job has what its launcher keeps secret", "[rendezvous]") {
  const LaunchEnvironment launch{.launcher = Launcher::open_mpi, .world_size = 2};
  const auto token = [&](const EnvironmentVariables& more) {
    EnvironmentVariables variables{{"OMPI_COMM_WORLD_RANK", "1"}, {"PMIX_NAMESPACE", "17"}};
    variables.insert(more.begin(), more.end());
    return job_token(launch, variables);
  };
  const char* key = "OMPI_MCA_orte_precondition_transports";
  CHECK(token({{key, "ef84-0e06"}}) == token({{key, "ef84-0e06"}, {"HOSTNAME", "node1"}}));
  CHECK(token({{key, "ef84-0e06"}}) != token({{key, "ef84-0e07"}}));
  CHECK(token({{"SCALEWORTH_JOB_SECRET", "a"}}) != token({{"SCALEWORTH_JOB_SECRET", "b"}}));
  // Each node of mpirun inside of a Slurm job has a step of its own.
  CHECK(token({{"SLURM_STEP_ID", "0"}}) == token({{"SLURM_STEP_ID", "4294967291"}}));
  CHECK_FALSE(may_record_variable(key));
  CHECK_FALSE(may_record_variable("SCALEWORTH_JOB_SECRET"));
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
