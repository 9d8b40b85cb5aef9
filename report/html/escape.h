// SPDX-License-Identifier: Apache-2.0
/// Putting foreign text into a page without it becoming part of the page.
#pragma once

#include <string>
#include <string_view>

namespace scaleworth::report {

/// Text between tags or in a double-quoted attribute.
std::string html_escaped(std::string_view text);

/// JSON inside <script type="application/json">: every "<" as \u003c, so that neither "</script"
/// nor "<!--" can end or hide the element.
std::string json_in_script(std::string_view json);

/// JavaScript inside <script>: "</script" as "<\/script" and "<!--" as "<\!--", which mean the
/// same inside string and regular-expression literals, the only places where they can stand.
std::string code_in_script(std::string_view code);

}  // namespace scaleworth::report
