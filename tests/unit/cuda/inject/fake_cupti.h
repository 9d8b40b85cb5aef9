// SPDX-License-Identifier: Apache-2.0
/// What a test program asks of the library that stands for CUPTI, beside CUPTI's own functions.
/// Its mood comes from the environment: FAKE_CUPTI_TAKEN_BY names a tool that listens already,
/// FAKE_CUPTI_VERSION another version, FAKE_CUPTI_DROPPED records that it claims to have lost,
/// FAKE_CUPTI_REFUSES a kind of record that it does not give. A file whose name ends in ".12" is of
/// CUDA 12.8, one in pip's folder of before CUDA 13 of the next minor version.
#pragma once

#include <cstdint>

extern "C" {

/// A kernel of this name is launched on the calling thread and runs: one kernel and one call as
/// records, if those kinds are on.
void fake_launch(const char* kernel);
/// A kernel is launched that will not have ended when the buffers are asked for.
void fake_unfinished();
/// How often this copy of the library was subscribed to.
int fake_subscribers();
/// Another client of the process registers buffers of its own, as Kineto does.
void fake_take_buffers();
/// cudaProfilerStart or cudaProfilerStop.
void fake_profiler(int start);
/// How often CUPTI was asked to flush.
std::uint64_t fake_flushes();
}

/// Stands for the functions of an NVTX 1, which only CUPTI knows how to find in what is handed
/// over.
struct FakeNvtx1 {
  int (*push)(const char* name) = nullptr;
  int (*pop)() = nullptr;
};
