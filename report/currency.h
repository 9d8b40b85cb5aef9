// SPDX-License-Identifier: Apache-2.0
/// The label of all amounts of money, where it is not USD. Nothing is converted.
#pragma once

#include "report/document.h"
#include "report/html/charts/charts.h"
#include "report/json/parts.h"

#include <string>

namespace scaleworth::report {

/// "USD" as a word becomes `currency`; "USD_PER_HOUR", a placeholder of a command, stays.
void label_amounts(std::string& text, const std::string& currency);
/// In every sentence, header and unit, and the subtitle says so; column ids that end in _usd keep
/// their names.
void label_amounts(Document& document, const std::string& currency);
/// In its picture and every sentence beside it.
void label_amounts(Chart& chart, const std::string& currency);
/// In every text but "input", the name that the user gave a file; keys keep their names.
void label_amounts(Json& json, const std::string& currency);

/// A labelled document of JSON as text. What came in from the command line or a file may be in any
/// encoding; a replacement character beats an exception.
std::string json_text(Json json, const std::string& currency);

}  // namespace scaleworth::report
