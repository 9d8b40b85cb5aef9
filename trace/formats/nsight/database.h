// SPDX-License-Identifier: Apache-2.0
/// An SQLite file as tables of untrusted rows, whose columns may be missing or of another type.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace scaleworth::trace::nsight {
/// What reading the rows met on the way; the sum over all tables.
struct RowTrouble {
  /// That a table of a file of this size can have: more are a loop in it.
  std::int64_t most_rows = 0;
  std::int64_t wrong_types = 0;  // values that are neither missing nor of the type asked for
  /// "table X ends after 12 rows: database disk image is malformed"
  std::vector<std::string> damaged;
};

struct CloseSqlite {
  void operator()(sqlite3* database) const;
  void operator()(sqlite3_stmt* statement) const;
};

/// The rows of one table, in the order of the file; columns are numbered as in `select`.
class Rows {
 public:
  Rows(sqlite3* database, const std::string& query, std::string table, RowTrouble& trouble);

  /// Moves to the next row; false at the end and where the file is damaged.
  bool next();
  std::optional<std::int64_t> integer(int column) const;
  /// Valid until the next call of `next`.
  std::optional<std::string_view> text(int column) const;
  std::span<const unsigned char> bytes(int column) const;

 private:
  void note_damage();

  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, CloseSqlite> statement_;
  std::string table_;
  RowTrouble* trouble_;
  std::int64_t rows_ = 0;
};

/// Opens read-only and never looks at journals beside the file.
class Database {
 public:
  /// Throws UserError when `path` cannot be read or is no SQLite database.
  explicit Database(const std::string& path);

  bool has(std::string_view table) const { return tables_.contains(table); }
  bool has(std::string_view table, std::string_view column) const;
  /// Columns that the table does not have read as missing; a table that is not there has no rows.
  /// With `key` only the rows in which that column has `value`; none when there is no such column.
  Rows select(std::string_view table,
              const std::vector<const char*>& columns,
              const char* key = nullptr,
              std::int64_t value = 0);
  /// The text with that number in the table StringIds.
  std::optional<std::string> string(std::int64_t id);

  const RowTrouble& trouble() const { return trouble_; }

 private:
  void read_schema(const std::string& path);

  std::unique_ptr<sqlite3, CloseSqlite> database_;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> tables_;
  RowTrouble trouble_;
  std::unique_ptr<sqlite3_stmt, CloseSqlite> string_query_;
};
}  // namespace scaleworth::trace::nsight
