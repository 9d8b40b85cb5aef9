// SPDX-License-Identifier: Apache-2.0
/// Small files with the tables of Nsight Systems, one statement of SQL at a time.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "tests/unit/trace/formats/test_folder.h"

#include <fmt/format.h>
#include <sqlite3.h>
namespace scaleworth::trace {

class NsysFile {
 public:
  NsysFile() : path_(folder_.file("report.sqlite")) {
    if (sqlite3_open(path_.c_str(), &database_) != SQLITE_OK) throw std::runtime_error("no file");
  }
  NsysFile(const NsysFile&) = delete;
  NsysFile& operator=(const NsysFile&) = delete;
  ~NsysFile() { sqlite3_close(database_); }

  NsysFile& sql(const std::string& statement) {
    char* error = nullptr;
    if (sqlite3_exec(database_, statement.c_str(), nullptr, nullptr, &error) != SQLITE_OK)
      throw std::runtime_error(statement + ": " + error);
    return *this;
  }
  const std::string& path() const { return path_; }

  /// The tables that every file here has.
  NsysFile& tables() {
    return sql(
        "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT,"
        "  correlationId INT, globalPid INT, demangledName INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT,"
        "  globalTid INT, correlationId INT, nameId INT);"
        "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT,"
        "  textId INT, domainId INT, binaryData BLOB)");
  }
  NsysFile& name(int id, const std::string& value) {
    return sql(fmt::format("INSERT INTO StringIds VALUES({}, '{}')", id, value));
  }
  NsysFile& kernel(int start, int end, int name, int correlation, int pid = 10, int device = 0) {
    return sql(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({},{},{},7,{},{},{})",
                           start,
                           end,
                           device,
                           correlation,
                           global_id(pid),
                           name));
  }
  NsysFile& call(int start, int end, int name, int correlation, int pid = 10, int thread = 1) {
    return sql(fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({},{},1,{},{},{})",
                           start,
                           end,
                           global_id(pid, thread),
                           correlation,
                           name));
  }
  NsysFile& range(int start,
                  int end,
                  const std::string& text,
                  int pid = 10,
                  const std::string& blob = "NULL",
                  int thread = 1) {
    return sql(fmt::format("INSERT INTO NVTX_EVENTS VALUES({},{},59,'{}',{},NULL,1,{})",
                           start,
                           end,
                           text,
                           global_id(pid, thread),
                           blob));
  }

  static std::int64_t global_id(std::int64_t pid, std::int64_t thread = 0) {
    return (std::int64_t{1} << 48) | (pid << 24) | thread;
  }

 private:
  TestFolder folder_;
  std::string path_;
  sqlite3* database_ = nullptr;
};

/// A payload as NVTX_EVENTS.binaryData holds it: header and fields, as a literal of SQL.
class PayloadBlob {
 public:
  explicit PayloadBlob(std::int64_t schema) {
    add(std::int64_t{1});
    add(schema);
    add(std::int64_t{0});
    add(std::int64_t{0});
  }
  PayloadBlob& add(std::int64_t value) { return raw(&value, sizeof value); }
  PayloadBlob& add(std::int32_t value) { return raw(&value, sizeof value); }
  std::string literal() const { return "x'" + hex_ + "'"; }

 private:
  PayloadBlob& raw(const void* from, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      hex_ += fmt::format("{:02x}", static_cast<const unsigned char*>(from)[i]);
    return *this;
  }
  std::string hex_;
};

}  // namespace scaleworth::trace
