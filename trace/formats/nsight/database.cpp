// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/nsight/database.h"

#include "src/core/process.h"

#include <array>
#include <filesystem>
#include <fstream>

#include <sqlite3.h>

namespace scaleworth::trace::nsight {
namespace {
constexpr std::string_view magic("SQLite format 3\0", 16);
constexpr int longest_value = 64 << 20;             // bytes; payloads and names are far below
constexpr std::int64_t rows_between_looks = 65536;  // at Ctrl-C

/// What to do about a file that is no database, by what it looks like.
std::string no_database(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".nsys-rep" || extension == ".qdrep")
    return fmt::format(
        "{0} is a report of Nsight Systems that only nsys can read: "
        "run nsys export --type sqlite {0} and give the .sqlite file",
        path);
  return fmt::format(
      "{} is no SQLite database: give the file that nsys export --type sqlite writes", path);
}

void check_magic(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UserError("{} cannot be opened: check its name and rights", path);
  std::array<char, 16> begin{};
  file.read(begin.data(), begin.size());
  if (file.gcount() == 0) throw UserError("{} is empty: export the report again", path);
  if (std::string_view(begin.data(), static_cast<std::size_t>(file.gcount())) != magic)
    throw UserError(no_database(path));
}

/// In a URI, because only there a file can be declared to be immutable.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    if (c == '%' || c == '?' || c == '#')
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  return uri + "?mode=ro&immutable=1";
}

std::string identifier(std::string_view name) {
  std::string result = "\"";
  for (const char c : name) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}
}  // namespace

void CloseSqlite::operator()(sqlite3* database) const {
  sqlite3_close_v2(database);
}

void CloseSqlite::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Rows::Rows(sqlite3* database, const std::string& query, std::string table, RowTrouble& trouble)
    : database_(database), table_(std::move(table)), trouble_(&trouble) {
  if (query.empty()) return;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    note_damage();
  statement_.reset(statement);
}

void Rows::note_damage() {
  trouble_->damaged.push_back(
      fmt::format("table {} ends after {} rows: {}", table_, rows_, sqlite3_errmsg(database_)));
}

bool Rows::next() {
  if (!statement_) return false;
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW && rows_ < trouble_->most_rows) {
    if (++rows_ % rows_between_looks == 0) check_interrupt();
    return true;
  }
  if (status != SQLITE_DONE) note_damage();
  statement_.reset();
  return false;
}

std::optional<std::int64_t> Rows::integer(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  if (type == SQLITE_INTEGER) return sqlite3_column_int64(statement_.get(), column);
  if (type != SQLITE_NULL) ++trouble_->wrong_types;
  return std::nullopt;
}

std::optional<std::string_view> Rows::text(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  if (type == SQLITE_TEXT) {
    const unsigned char* text = sqlite3_column_text(statement_.get(), column);
    const int size = sqlite3_column_bytes(statement_.get(), column);
    if (text)
      return std::string_view(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
  }
  if (type != SQLITE_NULL) ++trouble_->wrong_types;
  return std::nullopt;
}

std::span<const unsigned char> Rows::bytes(int column) const {
  const void* blob = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (!blob) return {};
  return {static_cast<const unsigned char*>(blob), static_cast<std::size_t>(size)};
}

Database::Database(const std::string& path) {
  check_magic(path);
  trouble_.most_rows = static_cast<std::int64_t>(std::filesystem::file_size(path));
  sqlite3* database = nullptr;
  const int status = sqlite3_open_v2(immutable_uri(path).c_str(),
                                     &database,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                                     nullptr);
  database_.reset(database);
  if (status != SQLITE_OK)
    throw UserError("{} cannot be opened ({}): check its rights", path, sqlite3_errstr(status));
  // The schema of a file from elsewhere must not run code of its own.
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  // Else a truncated file is refused as a whole; nothing is ever written.
  sqlite3_db_config(database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, longest_value);
  read_schema(path);
}

void Database::read_schema(const std::string& path) {
  {
    Rows rows(database_.get(),
              "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'",
              "sqlite_master",
              trouble_);
    while (rows.next())
      if (const auto name = rows.text(0)) tables_[std::string(*name)];
  }
  if (tables_.empty() && !trouble_.damaged.empty())
    throw UserError(
        "{} is encrypted or damaged ({}): export the report again", path, trouble_.damaged.front());
  for (auto& [table, columns] : tables_) {
    Rows rows(database_.get(),
              fmt::format("PRAGMA table_info({})", identifier(table)),
              "columns of " + table,
              trouble_);
    while (rows.next())
      if (const auto name = rows.text(1)) columns.emplace(*name);
  }
}

bool Database::has(std::string_view table, std::string_view column) const {
  const auto* found = value_at(tables_, table);
  return found && found->contains(column);
}

Rows Database::select(std::string_view table,
                      const std::vector<const char*>& columns,
                      const char* key,
                      std::int64_t value) {
  std::string query;
  if (has(table) && (!key || has(table, key))) {
    query = "SELECT ";
    for (const char* column : columns)
      query += (has(table, column) ? identifier(column) : "NULL") + ",";
    query.back() = ' ';
    query += "FROM " + identifier(table);
    if (key) query += fmt::format(" WHERE {} = {}", identifier(key), value);
  }
  return {database_.get(), query, std::string(table), trouble_};
}

std::optional<std::string> Database::string(std::int64_t id) {
  if (!string_query_) {
    if (!has("StringIds", "id") || !has("StringIds", "value")) return std::nullopt;
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(
        database_.get(), "SELECT value FROM StringIds WHERE id = ?1", -1, &statement, nullptr);
    string_query_.reset(statement);
    if (!string_query_) return std::nullopt;
  }
  std::optional<std::string> result;
  sqlite3_bind_int64(string_query_.get(), 1, id);
  if (sqlite3_step(string_query_.get()) == SQLITE_ROW)
    if (const unsigned char* text = sqlite3_column_text(string_query_.get(), 0))
      result.emplace(reinterpret_cast<const char*>(text),
                     static_cast<std::size_t>(sqlite3_column_bytes(string_query_.get(), 0)));
  sqlite3_reset(string_query_.get());
  return result;
}
}  // namespace scaleworth::trace::nsight
