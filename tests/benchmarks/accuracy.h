// SPDX-License-Identifier: Apache-2.0
/// How well the product's figures meet known truths and public measurements.
#pragma once

#include <string>
#include <vector>

namespace scaleworth::accuracy {
struct Row {
  std::string what;    // the figure
  std::string data;    // the table or the truth that it is scored on
  std::string figure;  // what was reached
  std::string goal;
};

/// The curves of collectives, fitted to every other size and scored on the rest.
std::vector<Row> collective_rows();
}  // namespace scaleworth::accuracy
