// SPDX-License-Identifier: Apache-2.0
/// Kineto files written by hand.
#pragma once

#include "tests/unit/trace/formats/text_source.h"
#include "trace/formats/kineto.h"

#include <string>
#include <string_view>
#include <utility>

namespace scaleworth::testing {

inline trace::Recording read_kineto_text(const std::string& text) {
  TextSource source(text);
  const auto keep = [](std::string_view name) { return name.starts_with("enumerate(DataLoader)"); };
  return std::move(trace::read_kineto(source, keep).front());
}

/// The object around `events`.
inline std::string kineto_file(const std::string& events, const std::string& members = "") {
  return R"({"schemaVersion": 1, )" + members + R"("traceEvents": [)" + events +
         R"(], "traceName": "t.json"})";
}

/// A kernel on device 0, stream 7.
inline std::string kineto_kernel(const std::string& name,
                                 const std::string& ts,
                                 const std::string& dur,
                                 int correlation) {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" +
         ts + R"(, "dur": )" + dur +
         R"(, "args": {"device": 0, "context": 1, "stream": 7, "correlation": )" +
         std::to_string(correlation) + "}}";
}

}  // namespace scaleworth::testing
