// SPDX-License-Identifier: Apache-2.0
/// Which probes of a table the words after --only mean.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace scaleworth::cli {

/// Whether `probe` ("roofline.memory") is named by one of `only`: by itself or by leading words
/// ("roofline"). An empty `only` means all.
bool is_asked_for(std::string_view probe, const std::vector<std::string>& only);

/// Throws UserError naming the known probes when a word of `only` means none of `known`; `remedy`
/// is added to it.
void check_words(const std::vector<std::string>& only,
                 const std::vector<std::string_view>& known,
                 const std::string& remedy = "");

}  // namespace scaleworth::cli
