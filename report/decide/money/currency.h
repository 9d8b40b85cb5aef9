// SPDX-License-Identifier: Apache-2.0
/// The label of all amounts of money, where it is not USD. Nothing is converted.
#pragma once

#include "report/document.h"
#include "report/json/parts.h"

#include <string>

namespace scaleworth::report {

/// "USD" as a word becomes `currency`; "USD_PER_HOUR", a placeholder of a command, stays.
void label_amounts(std::string& text, const std::string& currency);
/// In every sentence, header and unit; column ids that end in _usd keep their names.
void label_amounts(Document& document, const std::string& currency);
/// In every text; keys keep their names.
void label_amounts(Json& json, const std::string& currency);

}  // namespace scaleworth::report
