// SPDX-License-Identifier: Apache-2.0
#include "probes/host/facts/proc/proc_stat.h"
#include "probes/host/facts/proc/text.h"
#include "probes/host/facts/sections/sections.h"

#include <array>
#include <string_view>

#include <unistd.h>

namespace scaleworth::probes::host {
namespace {

struct Known {
  std::string_view signature;
  std::string_view name;
};
/// CPUID leaf 0x40000000 of common hypervisors (Linux arch/x86/kernel/cpu/hypervisor.c and the
/// vendors' manuals).
constexpr std::array known_hypervisors{Known{"KVMKVMKVM", "KVM"},
                                       Known{"Linux KVM Hv", "KVM (Hyper-V emulation)"},
                                       Known{"Microsoft Hv", "Hyper-V"},
                                       Known{"VMwareVMware", "VMware"},
                                       Known{"XenVMMXenVMM", "Xen"},
                                       Known{"bhyve bhyve ", "bhyve"},
                                       Known{"TCGTCGTCGTCG", "QEMU (emulated)"},
                                       Known{"prl hyperv  ", "Parallels"},
                                       Known{"ACRNACRNACRN", "ACRN"}};

std::string one_line(const std::string& file) {
  return std::string(trim(read_text(file, 256).value_or(std::string())));
}

/// On x86 the hypervisor answers CPUID; elsewhere it shows itself in /sys or by the firmware's
/// maker.
Fact hypervisor_fact(const CpuInfo& cpu, const CpuidFacts& cpuid) {
  if (cpuid.hypervisor) {
    return {"hypervisor", Value(hypervisor_name(*cpuid.hypervisor)), "CPUID leaf 0x40000000"};
  }
  if (const std::string type = one_line("/sys/hypervisor/type"); !type.empty()) {
    return {"hypervisor", Value(type), "/sys/hypervisor/type"};
  }
  if (cpu.has("hypervisor")) return {"hypervisor", Value(std::string("unknown")), "/proc/cpuinfo"};
  return {"hypervisor", std::nullopt, "none seen by CPUID, /sys/hypervisor or /proc/cpuinfo"};
}

Fact product_fact(const char* name, const std::string& file) {
  const std::string text = one_line(file);
  return fact(name,
              text.empty() ? std::nullopt : std::optional(Value(text)),
              file,
              file + " cannot be read");
}

Fact container_fact() {
  for (const auto& [file, name] : {std::pair{"/.dockerenv", "docker"},
                                   std::pair{"/run/.containerenv", "podman"},
                                   std::pair{"/.singularity.d", "apptainer"}}) {
    if (access(file, F_OK) == 0) return {"container", Value(std::string(name)), file};
  }
  return {"container", std::nullopt, "no mark of a known container runtime"};
}

Fact steal_fact() {
  const auto times = read_machine_times();
  if (!times || times->total_s() <= 0.0) {
    return {"steal_fraction_since_boot", std::nullopt, "/proc/stat cannot be read"};
  }
  return {"steal_fraction_since_boot", Value(times->steal_s / times->total_s()), "/proc/stat"};
}

}  // namespace

std::string hypervisor_name(const std::string& signature) {
  for (const Known& known : known_hypervisors) {
    if (known.signature == signature) return std::string(known.name);
  }
  return signature;
}

FactSection virtualisation_section(const CpuInfo& cpu, const CpuidFacts& cpuid) {
  return {"virtualisation",
          {hypervisor_fact(cpu, cpuid),
           product_fact("system_vendor", "/sys/class/dmi/id/sys_vendor"),
           product_fact("system_product", "/sys/class/dmi/id/product_name"),
           container_fact(),
           steal_fact()}};
}

}  // namespace scaleworth::probes::host
