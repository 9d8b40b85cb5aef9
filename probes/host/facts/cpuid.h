// SPDX-License-Identifier: Apache-2.0
/// What the x86 instruction CPUID says beyond /proc/cpuinfo; every member absent on other CPUs.
#pragma once

#include <optional>
#include <string>

namespace scaleworth::probes::host {

struct CpuidFacts {
  std::optional<std::string> hypervisor{};  // signature in leaf 0x40000000, "KVMKVMKVM"
  std::optional<double> base_hz{};          // leaf 0x16 EAX
  std::optional<double> maximum_hz{};       // leaf 0x16 EBX
  std::optional<double> time_stamp_hz{};    // leaf 0x15, else leaf 0x40000010 of the hypervisor
};

/// Source: Intel SDM volume 2A, CPUID; the hypervisor's leaves as Linux reads them
/// (Documentation/virt/kvm/x86/cpuid.rst; 0x40000010 is VMware's and KVM's timing leaf).
CpuidFacts read_cpuid();

}  // namespace scaleworth::probes::host
