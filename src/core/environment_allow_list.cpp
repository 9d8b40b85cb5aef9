// SPDX-License-Identifier: Apache-2.0
#include "src/core/environment_allow_list.h"

#include <algorithm>
#include <array>
#include <map>

#include <unistd.h>

namespace scaleworth {
namespace {

using namespace std::string_view_literals;

constexpr std::array prefixes{
    "OMP_"sv, "GOMP_"sv, "KMP_"sv, "OPENBLAS_"sv, "NCCL_"sv, "CUDA_"sv, "CUBLAS_"sv, "CUBLASLT_"sv};

constexpr std::array names{"GOTO_NUM_THREADS"sv,
                           "GROUP_RANK"sv,
                           "LOCAL_RANK"sv,
                           "LOCAL_WORLD_SIZE"sv,
                           "MASTER_ADDR"sv,
                           "MASTER_PORT"sv,
                           "MKL_NUM_THREADS"sv,
                           "NODE_RANK"sv,
                           "NVIDIA_DRIVER_CAPABILITIES"sv,
                           "NVIDIA_TF32_OVERRIDE"sv,
                           "NVIDIA_VISIBLE_DEVICES"sv,
                           "OMPI_COMM_WORLD_LOCAL_RANK"sv,
                           "OMPI_COMM_WORLD_LOCAL_SIZE"sv,
                           "OMPI_COMM_WORLD_RANK"sv,
                           "OMPI_COMM_WORLD_SIZE"sv,
                           "OMPI_UNIVERSE_SIZE"sv,
                           "PMI_RANK"sv,
                           "PMI_SIZE"sv,
                           "PMIX_RANK"sv,
                           "RANK"sv,
                           "SLURM_CPUS_ON_NODE"sv,
                           "SLURM_CPUS_PER_TASK"sv,
                           "SLURM_CPU_BIND"sv,
                           "SLURM_GPUS_ON_NODE"sv,
                           "SLURM_JOB_NUM_NODES"sv,
                           "SLURM_LOCALID"sv,
                           "SLURM_MEM_PER_NODE"sv,
                           "SLURM_NNODES"sv,
                           "SLURM_NODEID"sv,
                           "SLURM_NTASKS"sv,
                           "SLURM_NTASKS_PER_NODE"sv,
                           "SLURM_PROCID"sv,
                           "WORLD_SIZE"sv};

constexpr std::array secrets{"KEY"sv, "TOKEN"sv, "SECRET"sv, "PASS"sv, "CREDENTIAL"sv, "AUTH"sv};

constexpr std::size_t longest_value = 1024;

}  // namespace

bool may_record_variable(std::string_view name) {
  const auto contained = [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  if (std::any_of(secrets.begin(), secrets.end(), contained)) return false;
  return std::find(names.begin(), names.end(), name) != names.end() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
           return name.size() > prefix.size() && name.substr(0, prefix.size()) == prefix;
         });
}

FactSection allowed_variables(const std::vector<std::string>& entries) {
  std::map<std::string, std::string> allowed;
  for (const std::string& entry : entries) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || !may_record_variable(entry.substr(0, equals))) continue;
    std::string value = entry.substr(equals + 1);
    if (value.size() > longest_value) value = value.substr(0, longest_value) + "...";
    allowed[entry.substr(0, equals)] = std::move(value);
  }
  FactSection section{"environment_variables", {}};
  for (auto& [name, value] : allowed)
    section.facts.push_back({name, Value(std::move(value)), "environment"});
  return section;
}

FactSection allowed_variables() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    entries.emplace_back(*entry);
  return allowed_variables(entries);
}

}  // namespace scaleworth
