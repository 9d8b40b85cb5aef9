// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"
#include "src/cli/bind_flags.h"
#include "src/cli/flags.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/run_directory.h"

#include <filesystem>
#include <memory>
#include <set>

#include <unistd.h>
#include <zlib.h>

namespace scaleworth::cli {
namespace {
struct PackOptions {
  std::string run;
  std::string out;  // empty: beside the run
};

constexpr std::size_t tar_block = 512;

/// A regular file in POSIX's ustar format (pax, IEEE 1003.1): fields in octal at fixed places, the
/// sum of all bytes with blanks in its own place. Without a time: the same run packs to the same
/// bytes. Throws UserError for a name that the format cannot hold. By hand, for libarchive's writer
/// brings those of all formats, and libxml2, into a static build.
std::string tar_header(const std::string& name, std::size_t bytes) {
  if (name.size() > 100) throw UserError("{}: a name of over 100 bytes; rename the run", name);
  std::string block(tar_block, '\0');
  const auto put = [&](std::size_t at, const std::string& text) {
    block.replace(at, text.size(), text);
  };
  put(0, name);
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", bytes));
  put(136, "00000000000");
  put(148, std::string(8, ' '));
  put(156, "0");
  put(257, std::string("ustar\0", 6) + "00");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

enum class Packed : std::uint8_t { yes, recording, no };

/// Recordings, by the name of a file or of its folder, are most of a run's bytes, and no figure of
/// it needs them. Nor are hidden files and archives of the run itself part of it.
Packed packed_as(const std::filesystem::path& inside) {
  Packed as = inside.extension() == ".tgz" ? Packed::no : Packed::yes;
  for (const auto& part : inside) {
    if (part.string().starts_with('.')) return Packed::no;
    if (part.string().starts_with("trace")) as = Packed::recording;
  }
  return as;
}

int pack_run(const PackOptions& options) {
  namespace fs = std::filesystem;
  read_run(options.run);  // throws for what is none
  const fs::path run = fs::weakly_canonical(options.run);
  if (!fs::is_directory(run)) throw UserError("{}: is no run directory", options.run);
  if (fs::is_symlink(run / run_file_name))
    throw UserError("{}: {} is a link; pack the run that it is of", options.run, run_file_name);
  const std::string out = options.out.empty() ? run.filename().string() + ".tgz" : options.out;
  // What is written takes the name of what is there, a device's or a link's too.
  std::error_code trouble;
  const fs::file_status there = fs::symlink_status(out, trouble);
  if (fs::exists(there) && !fs::is_regular_file(there))
    throw UserError("{}: is no regular file; name a file for the archive", out);
  std::set<fs::path> files;
  std::size_t left_out = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    if (entry.is_symlink() || !entry.is_regular_file()) continue;
    const Packed as = packed_as(entry.path().lexically_relative(run));
    if (as == Packed::yes) files.insert(entry.path());
    if (as == Packed::recording) ++left_out;
  }
  NewFile file(out);
  // Its own copy of the descriptor, which gzclose() closes.
  const gzFile packed = gzdopen(dup(file.descriptor()), "wb");
  if (packed == nullptr) file.fail();
  const auto write = [&](std::string_view bytes) {
    const bool whole = gzfwrite(bytes.data(), 1, bytes.size(), packed) == bytes.size();
    if (!whole) file.fail();
  };
  // The run first, by which readers of the archive know it.
  std::vector<fs::path> order{run / run_file_name};
  files.erase(order.front());
  order.insert(order.end(), files.begin(), files.end());
  for (const fs::path& path : order) {
    const std::string contents =
        read_whole(path.string(), path.string(), 1U << 30U, "; move it out of the run");
    write(tar_header((run.filename() / path.lexically_relative(run)).string(), contents.size()));
    write(contents);
    write(std::string((tar_block - contents.size() % tar_block) % tar_block, '\0'));
  }
  write(std::string(2 * tar_block, '\0'));
  if (gzclose(packed) != Z_OK) file.fail();
  file.commit();
  fmt::print("{} in {}{}\n\nnext, on any machine: scaleworth report {}\n",
             counted(order.size(), "file"),
             out,
             left_out == 0 ? "" : fmt::format("; left out: {}", counted(left_out, "recording")),
             report::shell_words({out}));
  return exit_done;
}
}  // namespace

Command add_pack_command(CLI::App& app) {
  auto options = std::make_shared<PackOptions>();
  CLI::App* command = add_command(app, "pack");
  const Flags flags(*command);
  flags.add("run", options->run)->required();
  flags.add("--out", options->out);
  return {command, [options](const Arguments&) { return pack_run(*options); }};
}
}  // namespace scaleworth::cli
