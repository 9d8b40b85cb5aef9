// SPDX-License-Identifier: Apache-2.0
#include "probes/gpu/number_format.h"

namespace scaleworth::probes {
namespace {

struct FormatFacts {
  NumberFormat format;
  const char* name;
  double bytes;
  int from_capability;
  int to_capability;
};

constexpr int any = 1000;
// In the order of the enumeration.
constexpr std::array facts{FormatFacts{NumberFormat::fp64, "fp64", 8.0, 0, any},
                           FormatFacts{NumberFormat::fp32, "fp32", 4.0, 0, any},
                           FormatFacts{NumberFormat::tf32, "tf32", 4.0, 80, any},
                           FormatFacts{NumberFormat::bf16, "bf16", 2.0, 80, any},
                           FormatFacts{NumberFormat::fp16, "fp16", 2.0, 70, any},
                           FormatFacts{NumberFormat::fp8_e4m3, "fp8_e4m3", 1.0, 89, any},
                           FormatFacts{NumberFormat::fp8_e5m2, "fp8_e5m2", 1.0, 89, any},
                           FormatFacts{NumberFormat::fp8_block, "fp8_block", 1.0, 90, 90},
                           FormatFacts{NumberFormat::int8, "int8", 1.0, 75, any},
                           FormatFacts{NumberFormat::mxfp8, "mxfp8", 1.0, 100, any},
                           FormatFacts{NumberFormat::nvfp4, "nvfp4", 0.5, 100, any}};
static_assert(facts.size() == all_number_formats.size());

const FormatFacts& facts_of(NumberFormat format) {
  return facts.at(static_cast<std::size_t>(format));
}

}  // namespace

const char* number_format_name(NumberFormat format) {
  return facts_of(format).name;
}

std::optional<NumberFormat> parse_number_format(std::string_view name) {
  for (const FormatFacts& entry : facts) {
    if (name == entry.name) return entry.format;
  }
  return std::nullopt;
}

double element_bytes(NumberFormat format) {
  return facts_of(format).bytes;
}

bool has_format(NumberFormat format, int compute_capability) {
  const FormatFacts& entry = facts_of(format);
  return compute_capability >= entry.from_capability && compute_capability <= entry.to_capability;
}

}  // namespace scaleworth::probes
