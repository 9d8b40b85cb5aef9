// SPDX-License-Identifier: Apache-2.0
/// What the fabricated NVML answers; shared by the library and the tests that open it.
#pragma once

namespace scaleworth::gpu {

/// A result of 0 answers, another one refuses with that code.
struct FakeAnswer {
  int result = 0;
  unsigned long long value = 0;
};

struct FakeNvmlLink {
  bool exists = false;
  bool up = false;
  int remote_kind = 0xff;  // nvmlIntNvLinkDeviceType_t
  const char* remote_bus_id = "";
};

/// One GPU, and a MIG slice of it when `slice_uuid` is not empty.
struct FakeNvml {
  int init_result = 0;
  int open_count = 0;  // initialisations less shut-downs
  const char* uuid = "GPU-00112233-4455-6677-8899-aabbccddeeff";
  const char* slice_uuid = "";
  const char* bus_id = "00000000:18:00.0";

  FakeAnswer sm_clock_mhz{0, 1980};
  FakeAnswer memory_clock_mhz{0, 3201};
  FakeAnswer temperature_c{0, 61};
  FakeAnswer reasons{0, 0x4};
  FakeAnswer instant_power_mw{0, 690500};
  FakeAnswer power_mw{0, 650000};
  FakeAnswer energy_mj{0, 1000};
  unsigned long long energy_step_mj = 7000;  // added at each look at the counter

  FakeAnswer enforced_limit_mw{0, 600000};
  FakeAnswer default_limit_mw{0, 700000};
  FakeAnswer ecc{0, 1};
  FakeAnswer uncorrected_errors{0, 3};
  FakeAnswer mig{0, 0};
  FakeAnswer processes{0, 2};
  unsigned int first_process = 1;  // the others follow: never the test's own by default
  FakeAnswer pcie_generation{0, 1};
  FakeAnswer pcie_width{0, 16};
  FakeAnswer maximum_pcie_generation{0, 5};
  FakeAnswer maximum_pcie_width{0, 16};
  FakeAnswer link_speed_mbps{0, 26562};
  FakeNvmlLink links[36] = {};

  /// After so many clock readings every question says that the GPU is lost; -1: never.
  int clock_readings_before_loss = -1;
};

}  // namespace scaleworth::gpu

extern "C" {
/// The fabricated library's state.
scaleworth::gpu::FakeNvml* fake_nvml();
/// Clock readings since it was initialised; safe to ask while another thread reads.
int fake_nvml_clock_readings();
}
