// SPDX-License-Identifier: Apache-2.0
#include "src/cli/vendor_options.h"

#include <CLI/CLI.hpp>

namespace scaleworth::cli {

void add_vendor_options(CLI::App& app, probes::VendorPaths& paths) {
  app.add_option("--cublas-lib",
                 paths.cublas_lt,
                 "path or folder of the cuBLASLt to use (default: the active Python's, else the "
                 "loader's, else the toolkit's)");
  app.add_option("--nccl-lib", paths.nccl, "path or folder of the NCCL to use (default: likewise)");
  app.add_option("--nvml-lib",
                 paths.nvml,
                 "path or folder of the driver's libnvidia-ml (default: the loader's)");
  app.add_option(
      "--cupti-lib", paths.cupti, "path or folder of the CUPTI to use (default: as for cuBLASLt)");
}

}  // namespace scaleworth::cli
