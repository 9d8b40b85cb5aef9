// SPDX-License-Identifier: Apache-2.0
/// Files that are part of the binary because every HTML report carries them.
#pragma once

#include <string_view>

namespace scaleworth::report {

std::string_view style_sheet();
/// The chart library and the few lines that start it; empty in a build without it
/// (SCALEWORTH_HTML=OFF).
std::string_view chart_script();
/// Licences of what chart_script() holds.
std::string_view chart_licences();

}  // namespace scaleworth::report
