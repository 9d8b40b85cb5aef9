// SPDX-License-Identifier: Apache-2.0
/// The command line from words to exit code: the only place that prints an error and chooses the
/// code.
#pragma once

namespace scaleworth::cli {

int run_application(int argc, char** argv);

}  // namespace scaleworth::cli
