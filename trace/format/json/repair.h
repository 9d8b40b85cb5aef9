// SPDX-License-Identifier: Apache-2.0
/// Events whose writer forgot to escape a name.
#pragma once

#include <string>
#include <string_view>

namespace scaleworth::trace {

/// `event` from its `{` to its `}` with its strings escaped as JSON wants it: quotes and
/// backslashes within, control characters (as blanks) and bytes that are no UTF-8 (as question
/// marks). A string is taken to end at a quote that is followed by what may follow a string there.
/// Whether the result is JSON is for a parser to say.
std::string repair_event(std::string_view event);

}  // namespace scaleworth::trace
