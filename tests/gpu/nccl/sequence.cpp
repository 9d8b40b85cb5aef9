// SPDX-License-Identifier: Apache-2.0
/// One rank that issues a known sequence of collectives, each by itself, and prints what it issued:
/// the truth for a recording of it.
/// Usage: nccl_sequence RANK RANKS (MASTER_PORT names the port to meet at). 77 without GPU or NCCL.
#include "cuda/libraries/nccl.h"
#include "cuda/nccl/communicator.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/handles.h"
#include "cuda/runtime/memory.h"
#include "probes/rendezvous.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <variant>

namespace {
using namespace scaleworth;
using namespace scaleworth::gpu;

constexpr int cannot = 77;
constexpr std::size_t buffer_bytes = 8 << 20;

struct Call {
  const char* kind;
  std::size_t count;  // elements of one rank's buffer: the one to send, of reduce_scatter the other
  ncclDataType_t type;
  std::size_t element_bytes;
};

// Every kind, sizes and types that no two neighbours share, and one call twice in a row.
constexpr std::array<Call, 12> calls{{{"all_reduce", 262144, ncclFloat32, 4},
                                      {"broadcast", 1000, ncclFloat32, 4},
                                      {"reduce_scatter", 300, ncclFloat32, 4},
                                      {"all_gather", 5001, ncclBfloat16, 2},
                                      {"all_reduce", 77, ncclBfloat16, 2},
                                      {"reduce", 4096, ncclFloat64, 8},
                                      {"all_gather", 999, ncclInt8, 1},
                                      {"all_gather", 999, ncclInt8, 1},
                                      {"reduce_scatter", 65536, ncclFloat16, 2},
                                      {"broadcast", 1, ncclInt8, 1},
                                      {"all_reduce", 3, ncclFloat64, 8},
                                      {"reduce", 100003, ncclFloat32, 4}}};

void issue(const Call& call, const Communicator& in, void* from, void* to, cudaStream_t stream) {
  const Nccl& nccl = in.nccl();
  const ncclComm_t comm = in.handle();
  const std::string_view kind = call.kind;
  if (kind == "all_reduce") {
    nccl.check(nccl.all_reduce(from, to, call.count, call.type, ncclSum, comm, stream));
  } else if (kind == "all_gather") {
    nccl.check(nccl.all_gather(from, to, call.count, call.type, comm, stream));
  } else if (kind == "reduce_scatter") {
    nccl.check(nccl.reduce_scatter(from, to, call.count, call.type, ncclSum, comm, stream));
  } else if (kind == "broadcast") {
    nccl.check(nccl.broadcast(from, to, call.count, call.type, 0, comm, stream));
  } else {
    nccl.check(nccl.reduce(from, to, call.count, call.type, ncclSum, 1, comm, stream));
  }
}

int run(int rank, int ranks) {
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    std::cerr << "no GPU\n";
    return cannot;
  }
  auto opened = open_nccl("");
  const auto* nccl = std::get_if<std::shared_ptr<const Nccl>>(&opened);
  if (nccl == nullptr) {
    std::cerr << reason_of(opened) << "\n";
    return cannot;
  }
  const char* port = std::getenv("MASTER_PORT");
  probes::Rendezvous meeting({.host = "127.0.0.1",
                              .port = (port == nullptr ? 29500 : std::atoi(port)) + 1,
                              .rank = rank,
                              .size = ranks,
                              .token = "nccl_sequence"});
  ncclUniqueId id{};
  if (rank == 0) (*nccl)->check((*nccl)->get_unique_id(&id));
  const std::string text = meeting.broadcast({id.internal, sizeof(id.internal)});
  std::memcpy(id.internal, text.data(), sizeof(id.internal));
  check(cudaSetDevice(0));
  const DeviceHealth health(0);
  const DeviceBuffer from = allocate_device(health, buffer_bytes);
  const DeviceBuffer to = allocate_device(health, buffer_bytes);
  check(cudaMemset(from.get(), 0, buffer_bytes));
  const Stream stream = make_stream();
  const Communicator communicator(*nccl, id, ranks, rank);
  for (const Call& call : calls) {
    issue(call, communicator, from.get(), to.get(), stream.get());
    check(cudaStreamSynchronize(stream.get()));
    communicator.require_healthy(call.kind);
    if (rank == 0) std::cout << call.kind << " " << call.count * call.element_bytes << std::endl;
  }
  meeting.agree({});
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    return run(std::atoi(argv[1]), std::atoi(argv[2]));
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << "\n";
    return 1;
  }
}
