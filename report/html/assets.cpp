// SPDX-License-Identifier: Apache-2.0
#include "report/html/assets.h"

// Defined by assembler files that CMake writes (cmake/embed.cmake).
extern "C" {
extern const char scaleworth_asset_style[];
extern const char scaleworth_asset_style_end[];
extern const char scaleworth_asset_charts[];
extern const char scaleworth_asset_charts_end[];
extern const char scaleworth_asset_licences[];
extern const char scaleworth_asset_licences_end[];
}

namespace scaleworth::report {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::string_view style_sheet() {
  return between(scaleworth_asset_style, scaleworth_asset_style_end);
}

std::string_view chart_script() {
  return between(scaleworth_asset_charts, scaleworth_asset_charts_end);
}

std::string_view chart_licences() {
  return between(scaleworth_asset_licences, scaleworth_asset_licences_end);
}

}  // namespace scaleworth::report
