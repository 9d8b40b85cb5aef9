// SPDX-License-Identifier: Apache-2.0
#include "src/core/environment_allow_list.h"

#include "tests/catch.h"

#include <algorithm>
#include <array>

#include <stdlib.h>

using namespace scaleworth;

TEST_CASE("variables that change a measurement are recorded by name, others are not",
          "[environment]") {
  const FactSection section = allowed_variables({"WORLD_SIZE=4",
                                                 "HOME=/home/me",
                                                 "OMP_NUM_THREADS=8",
                                                 "NCCL_ALGO=Ring=x",
                                                 "AWS_SECRET_ACCESS_KEY=hush",
                                                 "OMP_=",
                                                 "not a variable"});
  REQUIRE(section.name == "environment_variables");
  REQUIRE(section.facts.size() == 3);
  REQUIRE(section.facts[0].name == "NCCL_ALGO");
  REQUIRE(section.facts[0].value == Value(std::string("Ring=x")));
  REQUIRE(section.facts[0].source == "environment");
  REQUIRE(section.facts[1].name == "OMP_NUM_THREADS");
  REQUIRE(section.facts[2].name == "WORLD_SIZE");
}

TEST_CASE("the ranks of every supported launcher are recorded", "[environment]") {
  const std::array names{"RANK",
                         "LOCAL_RANK",
                         "MASTER_ADDR",
                         "SLURM_PROCID",
                         "OMPI_COMM_WORLD_RANK",
                         "PMIX_RANK",
                         "CUDA_VISIBLE_DEVICES"};
  REQUIRE(std::all_of(names.begin(), names.end(), may_record_variable));
}

TEST_CASE("what changes the work of GPUs is recorded", "[environment]") {
  const std::array names{"CUDA_VISIBLE_DEVICES",
                         "CUDA_DEVICE_ORDER",
                         "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                         "NVIDIA_TF32_OVERRIDE",
                         "NVIDIA_VISIBLE_DEVICES",
                         "NCCL_PROTO",
                         "CUBLAS_WORKSPACE_CONFIG",
                         "CUBLASLT_LOG_LEVEL"};
  REQUIRE(std::all_of(names.begin(), names.end(), may_record_variable));
  REQUIRE(!may_record_variable("CUDA_API_KEY"));
}

TEST_CASE("a secret is never recorded, not even under an allowed prefix", "[environment]") {
  const std::array names{"NCCL_AUTH_TOKEN",
                         "OMP_SECRET",
                         "HF_TOKEN",
                         "SLURM_JWT",
                         "OMPI_MCA_pass",
                         "PATH",
                         "LD_PRELOAD",
                         "RANK_KEY",
                         ""};
  REQUIRE(std::none_of(names.begin(), names.end(), may_record_variable));
}

TEST_CASE("an endless value is cut", "[environment]") {
  const FactSection section = allowed_variables({"OMP_PLACES=" + std::string(5000, '0')});
  REQUIRE(std::get<std::string>(*section.facts[0].value).size() == 1027);
}

TEST_CASE("the variables of this process are read", "[environment]") {
  REQUIRE(setenv("OPENBLAS_CORETYPE", "Haswell", 1) == 0);
  const FactSection section = allowed_variables();
  unsetenv("OPENBLAS_CORETYPE");
  REQUIRE(std::any_of(section.facts.begin(), section.facts.end(), [](const Fact& fact) {
    return fact.name == "OPENBLAS_CORETYPE" && fact.value == Value(std::string("Haswell"));
  }));
}
