// SPDX-License-Identifier: Apache-2.0
/// One job on several machines, as a document: which does more, which is cheaper, what each is
/// worth.
#include "report/charts/charts.h"
#include "report/render.h"
#include "report/run/compare_report.h"
#include "report/words.h"
#include "src/core/files/fields.h"

namespace scaleworth::report {
namespace {
using model::Offer;
using model::OfferComparison;
using model::OfferRatio;
using model::TimeBasis;

struct View {
  const OfferComparison& all;
  const RenderOptions& options;

  /// What costs are of: "million tokens", "run", "thousand steps".
  std::string amount() const {
    if (of_epochs()) return "epoch";
    if (all.work) return "million " + (all.work_noun.empty() ? "units of work" : all.work_noun);
    return all.basis == TimeBasis::step ? "thousand steps" : "run";
  }
  double amount_size() const {
    if (of_epochs()) return 1.0;
    if (all.work) return 1e6;
    return all.basis == TimeBasis::step ? 1e3 : 1.0;
  }
  bool of_epochs() const { return all.work && all.work_noun == "epochs"; }
  std::string noun(int count) const {
    const std::string many = all.noun.empty() ? "ranks" : all.noun;
    return count == 1 ? many.substr(0, many.size() - 1) : many;
  }
  std::string counted(int count) const { return fmt::format("{} {}", count, noun(count)); }
  std::string money(double amount) const { return format_money(number(amount), options.currency); }
  /// "$3.20 per GPU-hour".
  std::string price(double per_second) const {
    return fmt::format("{} per {}-hour", money(per_second * 3600.0), noun(1));
  }
};

/// "H100 is 1.42 ± 0.12x as fast as A100 at 8 GPUs each".
std::string speed_clause(const View& view, const OfferRatio& one) {
  const std::string speed = format_quantity(one.speed, Unit::plain) + "x";
  if (one.a.count == one.b.count)
    return fmt::format("{} is {} as fast as {} at {}{}",
                       one.b.name,
                       speed,
                       one.a.name,
                       view.counted(one.a.count),
                       one.a.count == 1 ? "" : " each");
  return fmt::format("{} on {} is {} as fast as {} on {}",
                     one.b.name,
                     view.counted(one.b.count),
                     speed,
                     one.a.name,
                     view.counted(one.a.count));
}

/// The smallest difference of costs that is told; below it they are called the same.
constexpr double same_cost = 0.005;

bool same_within_noise(const OfferRatio& one) {
  return one.cost->low() <= 1.0 && one.cost->high() >= 1.0;
}

std::string cost_clause(const View& view, const OfferRatio& one) {
  const double more = one.cost->value - 1.0;
  if (std::abs(more) < same_cost) return fmt::format("costs the same per {}", view.amount());
  if (same_within_noise(one))
    return fmt::format("costs the same per {} within the noise", view.amount());
  if (more >= 1.0)
    return fmt::format("costs {:.3g} times as much per {}", one.cost->value, view.amount());
  return fmt::format("{}{:.0f} % {} per {}",
                     more < 0.0 ? "" : "costs ",
                     100.0 * std::abs(more),
                     more < 0.0 ? "cheaper" : "more",
                     view.amount());
}

/// Of two machines: what differs, what it costs, what to do.
std::string ratio_sentence(const View& view, const OfferRatio& one) {
  const bool faster = one.speed.value > 1.0;
  const std::string speed = speed_clause(view, one);
  if (!view.all.warnings.empty())
    return speed + (one.cost ? ", and " + cost_clause(view, one) : "") + ".";
  if (!one.cost) {
    const std::string worth = one.break_even
                                  ? view.price(one.break_even->value)
                                  : fmt::format("{:.2f} times the price of {}",
                                                one.speed.value * one.a.count / one.b.count,
                                                one.a.name);
    if (!one.differs())
      return fmt::format("No difference beyond the noise: {}: take the cheaper one.", speed);
    return fmt::format("{}: it is worth up to {}.", speed, worth);
  }
  const bool same = same_within_noise(one) || std::abs(one.cost->value - 1.0) < same_cost;
  const bool cheaper = !same && one.cost->value < 1.0;
  const bool dearer = !same && one.cost->value > 1.0;
  const std::string cost = cost_clause(view, one);
  if (!one.differs() && same)
    return fmt::format("No difference beyond the noise in speed or cost: {}: take either.", speed);
  if (!one.differs())
    return fmt::format("No difference in speed beyond the noise: {}, and {}: take {}.",
                       speed,
                       cost,
                       dearer ? one.a.name : one.b.name);
  if (faster ? !dearer : !cheaper)
    return fmt::format("{} and {}: take {}.", speed, cost, faster ? one.b.name : one.a.name);
  return cheaper ? fmt::format(
                       "{} but {}: take {} unless you must have the time.", speed, cost, one.b.name)
                 : fmt::format("{} but {}: it is worth up to {}.",
                               speed,
                               cost,
                               view.price(one.break_even->value));
}

std::string on(const View& view, const Offer& one) {
  return fmt::format("{} on {}", one.name, view.counted(one.count));
}

/// Of all offers the fastest and the cheapest.
std::string choice_sentence(const View& view) {
  const Offer& fastest = view.all.offers[view.all.fastest];
  if (!view.all.cheapest)
    return fmt::format(
        "Fastest is {}; give the prices (--price NAME={} per hour) for the cheapest.",
        on(view, fastest),
        view.options.currency);
  const Offer& cheapest = view.all.offers[*view.all.cheapest];
  const double least = cheapest.cost()->value;
  const std::string costs = view.money(least * view.amount_size());
  if (&fastest == &cheapest)
    return fmt::format("Take {}: the fastest, and the cheapest at {} per {}.",
                       on(view, fastest),
                       costs,
                       view.amount());
  return fmt::format(
      "Cheapest is {} at {} per {}; fastest {}, {:.2f}x as fast for {:.2f}x the cost.",
      on(view, cheapest),
      costs,
      view.amount(),
      on(view, fastest),
      fastest.rate.value / cheapest.rate.value,
      fastest.cost()->value / least);
}

Table offers_table(const View& view) {
  const std::string unit = view.noun(1);
  const auto price = [&](auto of) {
    return [=](const Offer& one) -> Cell { return one.price ? as_cell(of(one)) : Cell{}; };
  };
  const bool work = view.all.work;
  const std::string what =
      !work ? "time" : (view.all.work_noun.empty() ? "work" : view.all.work_noun) + " per second";
  const auto worth = [&](const Offer& one) -> Cell {
    const auto* ratio =
        find_in(view.all.ratios, one.name, [](const OfferRatio& each) { return each.b.name; });
    if (ratio == nullptr || !ratio->a.price) return {};
    return as_cell(ratio->a.price->value() * 3600.0 * ratio->a.count / one.count * one.rate.value /
                   ratio->a.rate.value);
  };
  const auto speed = [&](const Offer& one) -> Cell {
    if (work) return one.rate;
    return transform_decreasing(one.rate, [](double rate) { return 1.0 / rate; });
  };
  std::vector<std::string> notes;
  if (std::ranges::any_of(view.all.ratios,
                          [](const OfferRatio& one) { return one.a.price.has_value(); }))
    notes.push_back(
        fmt::format("Worth: the price at which its cost is that of {} in the comparison above.",
                    view.all.offers.front().name));
  return make_table(
      "offers",
      "The machines",
      view.all.offers,
      {{parameter("machine", "machine"), &Offer::name},
       {parameter("count", view.noun(2)), &Offer::count},
       {measure("speed", what, work ? Unit::plain : Unit::seconds), speed},
       {measure("price_per_hour", "price of all per hour", Unit::dollars).if_present(),
        price([](const Offer& one) { return one.count * one.price->value() * 3600.0; })},
       {measure("cost", "cost per " + view.amount(), Unit::dollars).if_present(),
        price([&](const Offer& one) { return one.cost()->value * view.amount_size(); })},
       {measure("worth", fmt::format("worth per {}-hour", unit), Unit::dollars).if_present(),
        worth}},
      std::move(notes));
}

Document compose(const View& view) {
  const OfferComparison& all = view.all;
  Document document;
  document.title = document_title(view.options.tool_version, "which machine for this job?");
  document.subject = listed(all.ratios, [](const OfferRatio& one) { return one.b.name; });
  document.subtitle = fmt::format("A: {}; against: {}", all.offers.front().name, document.subject);
  Verdict& verdict = document.verdict;
  if (!all.warnings.empty()) {
    verdict.headline = not_reliable(all.warnings);
    for (const OfferRatio& one : all.ratios) verdict.lines.push_back(ratio_sentence(view, one));
  } else if (all.ratios.size() == 1) {
    verdict.headline = ratio_sentence(view, all.ratios.front());
    if (all.offers.size() > 2) verdict.lines.push_back(choice_sentence(view));
  } else {
    verdict.headline = choice_sentence(view);
    for (const OfferRatio& one : all.ratios) verdict.lines.push_back(ratio_sentence(view, one));
  }
  if (!all.repeated)
    verdict.lines.push_back(fmt::format(
        "Without repeats the noise between runs is taken as {:g} % of each: measure each three "
        "times before you decide on a small difference.",
        100.0 * model::presumed_run_noise));
  for (const auto& findings : {all.warnings, all.remarks})
    std::ranges::copy(sentences(findings), std::back_inserter(verdict.lines));
  document.sections = {section_of("offers", "Machines", {offers_table(view)})};
  const Offer& best = all.offers[all.cheapest.value_or(all.fastest)];
  document.next = {
      {fmt::format("scaleworth decide {}{}",
                   best.input,
                   best.price ? fmt::format(" --price {:.10g}", per_hour(*best.price)) : ""),
       fmt::format("how many of {} to take", best.name)}};
  return document;
}

/// Cost against time, a line for each machine.
std::vector<Chart> charts_of(const View& view) {
  Chart chart{"offers-chart", "offers", "Cost against time"};
  const OfferComparison& all = view.all;
  if (!all.cheapest) return {chart.without("No picture: not every machine has a price.")};
  const auto time_of = [&](const Offer& one) { return view.amount_size() / one.rate.value; };
  const Scale scale = scale_for(Unit::seconds, time_of(std::ranges::max(all.offers, {}, time_of)));
  Json rows = Json::array();
  for (std::size_t i = 0; i < all.offers.size(); ++i) {
    const Offer& one = all.offers[i];
    rows.push_back({{"count", one.count},
                    {"group", one.name},
                    {"name", fmt::format("{} x {}", one.name, one.count)},
                    {"time", json_value(time_of(one) * scale.factor)},
                    {"cost", json_value(one.cost()->value * view.amount_size())},
                    {"taken", i == *all.cheapest}});
  }
  chart.data = {{"kind", "tradeoff"},
                {"x", fmt::format("time per {} ({})", view.amount(), scale.symbol)},
                {"y", fmt::format("cost per {} ({})", view.amount(), view.options.currency)},
                {"rows", std::move(rows)}};
  chart.how_to_read =
      "A point per machine and count: to the left is faster, below is cheaper; a line joins the "
      "counts of one machine.";
  chart.leads = true;
  return {chart};
}

constexpr JsonHead head{1, "scaleworth machines"};

void put_offer(Fields& json, const Offer& one) {
  json.named("offer");
  json.members("name", one.name, "count", one.count, "rate", one.rate);
  json.members("price_per_rank_hour", per_hour(one.price), "cost_per_work", one.cost());
}

std::string offers_json(Fields::Make make,
                        const OfferComparison& all,
                        const std::string& headline,
                        const RenderOptions& options) {
  const auto members = [&](Fields& json) {
    put_versions(json, options);
    json.members("headline", headline, "work", all.work_noun);
    json.array("offers", all.offers, put_offer);
    json.array("ratios", all.ratios, [](Fields& of, const OfferRatio& one) {
      of.object("a", one.a, put_offer);
      of.object("b", one.b, put_offer);
      of.members("speed", one.speed, "cost", one.cost);
      of("break_even",
         one.break_even
             ? std::optional(transform(*one.break_even, [](double rate) { return rate * 3600.0; }))
             : std::nullopt);
    });
  };
  return make == Fields::Make::schema ? schema_of(head, members) : json_of(head, members);
}
}  // namespace

std::string render_offers(const OfferComparison& offers, const RenderOptions& options) {
  return render_document(
      {[&](const RenderOptions& as) {
         return compose({offers, as});
       },
       [&](const RenderOptions& as) {
         return offers_json(
             Fields::Make::document, offers, compose({offers, as}).verdict.headline, as);
       },
       [&] {
         return charts_of({offers, options});
       }},
      options);
}

std::string offers_schema() {
  return offers_json(Fields::Make::schema, {}, "", {});
}
}  // namespace scaleworth::report
