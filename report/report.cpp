// SPDX-License-Identifier: Apache-2.0
#include "report/report.h"

#include "report/formats.h"
#include "report/summary/summary.h"
#include "src/core/error.h"

#include <array>

namespace scaleworth::report {
namespace {

struct NamedFormat {
  Format format;
  const char* name;
};
constexpr std::array formats{NamedFormat{Format::text, "text"},
                             NamedFormat{Format::markdown, "md"},
                             NamedFormat{Format::csv, "csv"},
                             NamedFormat{Format::json, "json"},
                             NamedFormat{Format::html, "html"}};

Document short_or_whole(const Run& run,
                        const model::Analysis& analysis,
                        const RenderOptions& options) {
  return options.details ? compose(run, analysis, options) : summarise(run, analysis, options);
}

}  // namespace

const char* format_name(Format format) {
  for (const NamedFormat& known : formats) {
    if (known.format == format) {
      return known.name;
    }
  }
  return "";
}

Format parse_format(std::string_view name) {
  for (const NamedFormat& known : formats) {
    if (name == known.name) {
      return known.format;
    }
  }
  if (name == "markdown") {
    return Format::markdown;
  }
  throw UserError("unknown format \"" + std::string(name) + "\": use text, md, csv, json or html");
}

std::string render(const Run& run,
                   const model::Analysis& analysis,
                   Format format,
                   const RenderOptions& options) {
  switch (format) {
    case Format::markdown:
      return render_markdown(short_or_whole(run, analysis, options));
    case Format::csv:
      return render_csv(run, compose(run, analysis, options));
    case Format::json:
      return render_json(run, analysis, options);
    case Format::html:
      return render_html(run, analysis, options);
    case Format::text:
      break;
  }
  return render_text(short_or_whole(run, analysis, options), options);
}

}  // namespace scaleworth::report
