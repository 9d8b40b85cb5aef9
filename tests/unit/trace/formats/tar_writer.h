// SPDX-License-Identifier: Apache-2.0
/// Small tar archives in memory.
#pragma once

#include <string>

#include <fmt/format.h>

namespace scaleworth::trace {

class TarWriter {
 public:
  TarWriter& file(const std::string& name,
                  const std::string& content,
                  const std::string& prefix = "") {
    return add('0', name, content, prefix);
  }
  TarWriter& folder(const std::string& name) { return add('5', name, "", ""); }
  TarWriter& gnu_long_name(const std::string& name) {
    return add('L', "././@LongLink", name + '\0', "");
  }
  TarWriter& pax_path(const std::string& path) {
    const std::string record = " path=" + path + "\n";
    const std::size_t length = record.size() + 3;  // three digits, as all paths here need
    return add('x', "PaxHeaders/x", fmt::format("{}{}", length, record), "");
  }
  std::string end() const { return bytes_ + std::string(1024, '\0'); }

 private:
  TarWriter& add(char type,
                 const std::string& name,
                 const std::string& content,
                 const std::string& prefix) {
    std::string header(512, '\0');
    header.replace(0, name.size(), name);
    header.replace(124, 11, fmt::format("{:011o}", content.size()));
    header.replace(148, 8, "        ");
    header[156] = type;
    header.replace(257,
                   8,
                   std::string("ustar\0"
                               "00",
                               8));
    header.replace(345, prefix.size(), prefix);
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    header.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
    bytes_ += header + content + std::string((512 - content.size() % 512) % 512, '\0');
    return *this;
  }
  std::string bytes_;
};

}  // namespace scaleworth::trace
