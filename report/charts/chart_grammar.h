// SPDX-License-Identifier: Apache-2.0
/// Vega-Lite layers, axes, marks.
#pragma once

#include "report/charts/charts.h"
#include "src/core/estimate.h"
#include "src/model/analysis.h"

namespace scaleworth::report {
// Pieces of Vega-Lite grammar that several charts share. Colours are names of CSS variables of the
// page, so that light, dark and print follow its style sheet.

/// A single view as wide as the page, `height` pixels high.
Json chart_spec(int height);
/// Of one mark over these rows.
Json chart_spec(int height, std::vector<Json> rows, const Json& mark, const Json& encoding);
/// Of several layers, in arrays from the lowest up.
Json layered_spec(
    int height, const Json& x, const Json& y, const Json& colour, const std::vector<Json>& parts);

/// {"values": rows} with the rows left out that have a number that is not finite.
Json inline_data(std::vector<Json> rows);

/// A quantitative channel on a logarithmic scale from `low` to `high` (both positive) with ticks at
/// the powers of ten between them and, where these are few, at three times them.
Json log_channel(const std::string& field, const std::string& title, double low, double high);
Json linear_channel(const std::string& field, const std::string& title, const Json& axis = nullptr);
/// A logarithmic scale of base 2 over the range of the data.
Json doubling_channel(const std::string& field,
                      const std::string& title,
                      const Json& axis = nullptr);
/// Rank counts on a base-2 scale, ticks at 1, 2, 4 ... up to `most`.
Json rank_channel(int most);
/// Message sizes, "bytes", from 1 B to `largest` on a base-2 scale, labelled "1 KiB", "1 MiB".
Json size_channel(double largest);

/// A nominal colour channel with fixed colours in the order of `names`.
Json colour_channel(const std::string& field,
                    const std::vector<std::string>& names,
                    const std::vector<std::string>& colours);

/// Least and largest of a numeric field over the rows, {1, 1} for none.
struct Range {
  double low = 1.0;
  double high = 1.0;
};
Range range_of(const std::vector<Json>& rows, const std::string& field);

/// One line of a tooltip; `format` is a d3 number format or empty.
Json tooltip(const std::string& field, const std::string& title, const std::string& format = "");

/// The part of a channel that a second end needs: {"field": field}.
Json end_of(const std::string& field);

/// A line; `dash`: lengths drawn and left out, in turn.
Json line_mark(const Json& width, const std::vector<int>& dash = {});
/// A filled dot of so many square pixels.
Json dot_mark(int size);
/// From the field "low" to the field "high".
Json interval_ends();
Json layer(const Json& data, const Json& mark, const Json& encoding);
/// Of the rows for which the expression holds.
Json layer_where(const std::string& test, const Json& mark, const Json& encoding = nullptr);

/// Side by side: as many as fill the rows of the page, each `width` x `height` pixels.
struct Grid {
  int columns;
  int width;
  int height;
};
/// One picture for each value of the field "collective", in this order, over one data set.
Json facets(const Json& data,
            const std::vector<std::string>& collectives,
            const Grid& grid,
            const Json& encoding,
            const Json& layers);

/// Distinct values of a text field in order of appearance.
std::vector<std::string> distinct(const std::vector<Json>& rows, const char* field);

/// Series colours that colour-blind readers can distinguish (Okabe and Ito).
extern const std::vector<std::string> series_colours;

std::string css(const std::string& name);

/// Rows have the fields "series", "ranks", "value", "low" and "high"; those of a curve "range",
/// too.
struct CurveLayers {
  std::vector<Json> curve;
  std::vector<Json> measured;
  std::string what;    // of the tooltip: "speed-up"
  std::string format;  // d3 number format
};

/// A number and its interval as fields "value", "low", "high", then `more`; the interval collapses
/// when absent.
Json with_interval(const Estimate<double>& value, const Json& more = Json::object());

/// Adds the points of a law as rows of the series `label` with `more` fields: one line within the
/// measured counts and one beyond, so that the extrapolated part is drawn apart; the last measured
/// point belongs to both. A `value` that is not finite is not drawn.
void add_curve(std::vector<Json>& rows,
               const std::vector<model::CurvePoint>& curve,
               const std::string& label,
               const std::function<Estimate<double>(const model::CurvePoint&)>& value,
               const Json& more = Json::object());

/// Band and line of the curve, error bars and dots of the measured counts.
Json curve_layers(const CurveLayers& parts);

/// "measured" (where there is any), then the series of the curve in their order.
std::vector<std::string> series_names(const CurveLayers& parts);
}  // namespace scaleworth::report
