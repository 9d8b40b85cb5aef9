// SPDX-License-Identifier: Apache-2.0
/// Reads what the PyTorch profiler (Kineto) writes: Chrome JSON, of any of its versions.
#pragma once

#include "trace/classify/rules.h"
#include "trace/format/input/byte_source.h"
#include "trace/timeline/recording.h"

#include <functional>
#include <string_view>
#include <vector>

namespace scaleworth::trace {

/// Whether to keep a framework's operator or Python function of this name.
using KeepOperation = std::function<bool(std::string_view)>;

/// The one recording in `source`, on the clock of the file: nanoseconds since 1970 where the file
/// says from when its times count. Of operators and Python functions only what `keep` wants.
/// Throws UserError when it holds no events.
std::vector<Recording> read_kineto(ByteSource& source, const KeepOperation& keep);

/// Keeps the operators in which the host rules see a cause.
inline std::vector<Recording> read_kineto(ByteSource& source, const RuleTable& rules) {
  return read_kineto(source, [&](std::string_view name) { return rules.host(name).has_value(); });
}

}  // namespace scaleworth::trace
