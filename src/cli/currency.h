// SPDX-License-Identifier: Apache-2.0
/// The label of all amounts of money, in reports and in messages alike.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace scaleworth::cli {

/// --currency. Nothing is converted.
void add_currency(CLI::App& command, std::string& currency);

/// What `body` returns; amounts in the message of a UserError of its carry the label.
int in_currency(const std::string& currency, const std::function<int()>& body);

}  // namespace scaleworth::cli
