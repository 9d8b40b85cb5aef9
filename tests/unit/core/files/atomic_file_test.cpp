// SPDX-License-Identifier: Apache-2.0
#include "src/core/files/atomic_file.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/core/temporary_directory.h"

#include <csignal>

#include <sys/resource.h>
#include <unistd.h>

using namespace scaleworth;

namespace {

/// While it lives a file cannot grow beyond `bytes`: a full disk for tests.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("a file is replaced whole and leaves no temporary file", "[file]") {
  const TemporaryDirectory directory;
  write_file_atomically(directory.path() / "a", "one");
  write_file_atomically(directory.path() / "a", "two");
  REQUIRE(contents(directory.path() / "a") == "two");
  REQUIRE(entries(directory.path()) == 1);
}

TEST_CASE("a link in the place of the temporary file is not followed", "[file]") {
  const TemporaryDirectory directory;
  const TemporaryDirectory elsewhere;
  write_file_atomically(elsewhere.path() / "theirs", "theirs");
  const auto guessed = directory.path() / (".a." + std::to_string(getpid()) + ".tmp");
  std::filesystem::create_symlink(elsewhere.path() / "theirs", guessed);
  write_file_atomically(directory.path() / "a", "ours");
  CHECK(contents(elsewhere.path() / "theirs") == "theirs");
  CHECK(contents(directory.path() / "a") == "ours");
  CHECK_FALSE(std::filesystem::is_symlink(directory.path() / "a"));
  CHECK(std::filesystem::is_symlink(guessed));  // it is somebody's
  CHECK(entries(directory.path()) == 2);
}

TEST_CASE("a file that never became whole leaves nothing, and what has its name stays", "[file]") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "a";
  write_file_atomically(file, "before");
  {
    NewFile half(file);
    half.write("half");
  }
  CHECK(contents(file) == "before");
  CHECK(entries(directory.path()) == 1);
}

TEST_CASE("two that write one file at once leave one of them whole", "[file]") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "a";
  NewFile one(file);
  NewFile other(file);
  one.write("one");
  other.write("other");
  other.commit();
  one.commit();
  CHECK(contents(file) == "one");
  CHECK(entries(directory.path()) == 1);
}

TEST_CASE("a write that does not fit keeps the former file and names path, cause and remedy",
          "[file]") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "a";
  write_file_atomically(file, "before");
  std::string message;
  {
    const FileSizeLimit limit(1000);
    message = message_of<UserError>([&] { write_file_atomically(file, std::string(100000, 'x')); });
  }
  REQUIRE(message == "cannot write " + file.string() +
                         ": File too large; raise the file size limit (ulimit -f) or choose "
                         "another output directory");
  REQUIRE(contents(file) == "before");
  REQUIRE(entries(directory.path()) == 1);
}

TEST_CASE("rows that do not fit are not appended in part", "[file]") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "a.csv";
  append_to_file(file, "1,2\n", Existing::refuse);
  {
    const FileSizeLimit limit(1000);
    REQUIRE_THROWS_AS(append_to_file(file, std::string(5000, 'x'), Existing::append), UserError);
    REQUIRE_THROWS_AS(
        append_to_file(directory.path() / "b.csv", std::string(5000, 'x'), Existing::refuse),
        UserError);
  }
  append_to_file(file, "3,4\n", Existing::append);
  REQUIRE(contents(file) == "1,2\n3,4\n");
  REQUIRE(entries(directory.path()) == 1);
}

TEST_CASE("a file that exists already is not taken for a new one", "[file]") {
  const TemporaryDirectory directory;
  append_to_file(directory.path() / "a.csv", "mine\n", Existing::refuse);
  REQUIRE_THROWS_AS(append_to_file(directory.path() / "a.csv", "x\n", Existing::refuse), UserError);
  REQUIRE(contents(directory.path() / "a.csv") == "mine\n");
}

TEST_CASE("a directory below a plain file cannot be made and the message says why", "[file]") {
  const TemporaryDirectory directory;
  write_file_atomically(directory.path() / "file", "");
  const auto below = directory.path() / "file" / "run";
  REQUIRE(message_of<UserError>([&] { make_directory(below); }) ==
          "cannot write " + below.string() +
              ": Not a directory; choose an output directory that you may write to");
  REQUIRE_THROWS_AS(make_directory(directory.path() / "file"), UserError);
}

TEST_CASE("a file system that takes no files is named with its cause", "[file]") {
  REQUIRE_THROWS_AS(write_file_atomically("/proc/scaleworth", "x"), UserError);
  REQUIRE_THROWS_AS(make_directory("/proc/scaleworth"), UserError);
}
