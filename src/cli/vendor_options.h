// SPDX-License-Identifier: Apache-2.0
/// The flags that name the GPU vendor's libraries, for every command that opens them.
#pragma once

#include "probes/gpu/open.h"

// CLI11 is heavy to compile; those who only pass the application along need no more than its name.
namespace CLI {
class App;
}  // namespace CLI

namespace scaleworth::cli {

/// Adds --cublas-lib, --nccl-lib, --nvml-lib and --cupti-lib, which fill `paths`; `paths` must live
/// until parsing is over.
void add_vendor_options(CLI::App& app, probes::VendorPaths& paths);

}  // namespace scaleworth::cli
