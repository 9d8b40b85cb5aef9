// SPDX-License-Identifier: Apache-2.0
#include "src/cli/input/table_input.h"
#include "src/core/files/atomic_file.h"
#include "src/core/files/csv.h"
#include "src/core/files/fields.h"
#include "src/core/files/run_directory.h"
#include "src/core/files/toml_table.h"
#include "src/core/whole_number.h"
#include "trace/attribute.h"
#include "trace/classify.h"
#include "trace/formats/read_job.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

namespace scaleworth::cli {
using namespace trace;

namespace {
namespace fs = std::filesystem;

/// By these the kinds of files differ.
constexpr std::size_t front_bytes = std::size_t{64} * 1024;

std::string front_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string front(front_bytes, '\0');
  file.read(front.data(), static_cast<std::streamsize>(front.size()));
  front.resize(static_cast<std::size_t>(file.gcount()));
  return front;
}

/// What there is, in the order of InputKind, and which commands take it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> taken{
    {{"a table", "decide"},
     {"a run", "report decide compare check"},
     {"a recording", "attribute decide"},
     {"what attribute --format json writes", "decide"},
     {"what --format json writes for other programs", ""},
     {"a web page", ""},
     {"a result of nccl-tests", "import report compare check"}}};

/// Whether a member "kind" of the JSON begins as `value`.
bool has_kind(std::string_view json, std::string_view value) {
  constexpr std::string_view key = R"("kind")";
  for (std::size_t at = json.find(key); at != std::string_view::npos; at = json.find(key, at + 1)) {
    std::string_view behind = trimmed(json.substr(at + key.size()));
    if (!behind.starts_with(':')) continue;
    behind.remove_prefix(1);
    if (trimmed(behind).starts_with(value)) return true;
  }
  return false;
}

/// The trouble of one input, which a message about its files need not name.
[[noreturn]] void refuse(const std::string& input, const std::string& trouble) {
  std::error_code ignored;
  std::string message = trouble.find(input) == std::string::npos ? input + ": " + trouble : trouble;
  if (fs::is_directory(input, ignored)) message += ", or give a run directory or its run.json";
  throw UserError(message);
}

using nlohmann::json;

constexpr std::uintmax_t most_bytes = 512U << 20U;
constexpr const char* kind = "scaleworth attribution";
constexpr std::int64_t known_version = 3;
/// Clocks count from 1970 at most; lengths beyond three years are none. Sums of a few fit 64 bits.
constexpr std::int64_t latest_ns = 4'000'000'000'000'000'000;
constexpr std::int64_t longest_ns = 100'000'000'000'000'000;

/// One object of the document, by its path for complaints.
class Fields {
 public:
  Fields(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object_.is_object()) refuse("is no object");
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw UserError("{} {}; write it again with scaleworth attribute --format json", place_, what);
  }

  /// Null for what is absent or null.
  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  const json& at(const char* key) const {
    const json* value = find(key);
    if (!value) refuse(fmt::format("has no {}", key));
    return *value;
  }
  std::int64_t integer(const char* key, std::int64_t least, std::int64_t most) const {
    const json& value = at(key);
    const auto number = value.is_number_unsigned()
                            ? whole_number<std::int64_t>(value.get<std::uint64_t>(), least, most)
                        : value.is_number_integer()
                            ? whole_number<std::int64_t>(value.get<std::int64_t>(), least, most)
                            : std::nullopt;
    if (!number) refuse(fmt::format("has a {} that is no integer from {} to {}", key, least, most));
    return *number;
  }
  Nanoseconds length(const char* key) const { return Nanoseconds(integer(key, 0, longest_ns)); }
  std::optional<double> number(const char* key) const {
    return value<double>(key, &json::is_number, "no number");
  }
  std::string text(const char* key) const {
    return value<std::string>(key, &json::is_string, "no text").value_or("");
  }
  bool flag(const char* key) const {
    return value<bool>(key, &json::is_boolean, "neither true nor false").value_or(false);
  }
  /// Which of the two is there: version 1 has other words for some keys.
  const char* either(const char* key, const char* of_version_1) const {
    return object_.contains(of_version_1) ? of_version_1 : key;
  }
  Fields object(const char* key) const { return {at(key), fmt::format("{}: {}", place_, key)}; }
  std::vector<Fields> objects(const char* key) const {
    const json& list = at(key);
    if (!list.is_array()) refuse(fmt::format("has a {} that is no list", key));
    std::vector<Fields> fields;
    fields.reserve(list.size());
    for (const json& one : list) {
      fields.emplace_back(one, fmt::format("{}: {} {}", place_, key, fields.size() + 1));
    }
    return fields;
  }

 private:
  template <class T>
  std::optional<T> value(const char* key, bool (json::*is)() const noexcept, const char* no) const {
    const json* found = find(key);
    if (found && !(found->*is)()) refuse(fmt::format("has a {} that is {}", key, no));
    return found ? std::optional(found->get<T>()) : std::nullopt;
  }

  const json& object_;
  std::string place_;
};

Rank rank_of(const Fields& fields) {
  return Rank{static_cast<int>(fields.integer("rank", 0, most_ranks - 1))};
}

StepLedger ledger_of(const Fields& fields) {
  StepLedger ledger;
  ledger.step = static_cast<std::int32_t>(fields.integer("step", INT32_MIN, INT32_MAX));
  ledger.rank = rank_of(fields);
  ledger.start = Nanoseconds(fields.integer("start_ns", -latest_ns, latest_ns));
  ledger.end = Nanoseconds(fields.integer("end_ns", -latest_ns, latest_ns));
  ledger.excluded = fields.text("excluded");
  Nanoseconds sum{};
  for (const Part part : recording_parts) {
    // Older versions have fewer parts; null is what exposed_undivided_ns may hold.
    if (fields.find(part_key(part))) ledger.part(part) = fields.length(part_key(part));
    sum += ledger.part(part);
  }
  if (sum != ledger.end - ledger.start) fields.refuse("has parts that do not add up to its step");
  return ledger;
}

LateCause cause_of(const Fields& fields) {
  const std::string name = fields.text("cause");
  for (int i = 0; i <= static_cast<int>(LateCause::undecided); ++i) {
    const auto cause = static_cast<LateCause>(i);
    if (name == late_cause_name(cause)) return cause;
  }
  return LateCause::undecided;
}

Straggler straggler_of(const Fields& fields) {
  Straggler straggler;
  straggler.rank = rank_of(fields);
  straggler.unit = fields.text("unit");
  if (const auto saved = fields.number("saved_ns"))
    straggler.saved = Nanoseconds(saturated<std::int64_t>(std::round(*saved)));
  straggler.exposed_per_step_ms = fields.number("exposed_per_step_ms").value_or(0.0);
  straggler.significant = fields.flag("significant");
  straggler.cause = cause_of(fields);
  for (const Fields& share : fields.objects("shares")) {
    straggler.shares.push_back({cause_of(share), Nanoseconds{}, share.text("detail")});
  }
  return straggler;
}

constexpr std::array<std::pair<const char*, double Efficiency::*>, 6> factors{
    {{"parallel", &Efficiency::parallel},
     {"load_balance", &Efficiency::load_balance},
     {"serialization", &Efficiency::serialization},
     {"host", &Efficiency::host},
     {"dependency", &Efficiency::dependency},
     {"transfer", &Efficiency::transfer}}};

Efficiency efficiency_of(const Fields& fields) {
  Efficiency one;
  one.window = fields.text("window");
  for (const auto& [key, member] : factors) {
    one.*member = fields.number(key).value_or(0.0);
    // Rounded when it was written.
    if (one.*member > 0.0 && one.*member <= 1.0 + 1e-9) continue;
    fields.refuse(fmt::format("has a {} that lies not within 0 to 1", key));
  }
  one.runtime = fields.length("runtime_ns");
  one.step_time = fields.length("step_time_ns");
  const json& useful = fields.at("useful_ns");
  if (!useful.is_array()) fields.refuse("has a useful_ns that is no list");
  for (const json& time : useful) {
    const double value = time.is_number() ? time.get<double>() : -1.0;
    if (!(value >= 0.0 && value <= static_cast<double>(longest_ns))) {
      fields.refuse("has a useful_ns that is no time");
    }
    one.useful.emplace_back(std::llround(value));
  }
  return one;
}

AttributedCount attributed(const std::string& input, const RuleTable& rules) {
  if (input_kind(input) == InputKind::attribution) {
    const std::string text =
        read_whole(input, input, most_bytes, " are too many; give the recordings themselves");
    return attributed_count(parse_attribution(text, input), input);
  }
  try {
    Job job = read_job({input}, rules);
    classify(job.recordings, rules);
    return attributed_count(attribute(job).result, input);
  } catch (const UserError& error) {
    refuse(input, error.what());
  }
}

using toml_file::Table;

OwnedTerms owned(Table& table, double capex_usd) {
  const auto value = [&](const char* key, double otherwise) {
    return table.optional_positive(key).value_or(otherwise);
  };
  OwnedTerms terms;
  terms.capital = Dollars(capex_usd);
  terms.residual = Dollars(value("residual_usd", 0.0));
  terms.lifetime_years = table.positive("lifetime_years");
  terms.discount_rate = value("discount_rate", 0.0);
  terms.power_kw = value("power_kw", 0.0);
  terms.power_usage_effectiveness = value("pue", 1.0);
  terms.usd_per_kwh = value("electricity_usd_per_kwh", 0.0);
  terms.operation_usd_per_year = value("opex_usd_per_year", 0.0);
  terms.utilisation = value("utilisation", 1.0);
  return terms;
}

SpotTerms spot(Table& table, double usd_per_hour, double preemption_per_hour) {
  SpotTerms terms{dollars_per_hour(usd_per_hour), {}};
  Preemption& preemption = terms.preemption;
  preemption.per_hour = preemption_per_hour;
  const auto read = [&](const char* key, Seconds& time) {
    if (const auto seconds = table.optional_amount(key)) time = Seconds(*seconds);
  };
  read("checkpoint_s", preemption.checkpoint);
  read("restart_s", preemption.restart);
  read("reacquire_s", preemption.reacquisition);
  read("notice_s", preemption.notice);
  if (table.has("ranks_per_instance")) {
    const std::int64_t ranks = table.positive_integer("ranks_per_instance");
    preemption.ranks_per_instance = static_cast<int>(std::min<std::int64_t>(ranks, 1 << 30));
  }
  return terms;
}

Regime regime(Table& table) {
  Regime result{table.text("name"), PricePart{}};
  const auto part = table.optional_positive("price_part");
  const auto price = table.optional_positive("price_usd_per_hour");
  const auto capex = table.optional_positive("capex_usd");
  if (part.has_value() + price.has_value() + capex.has_value() != 1) {
    table.refuse("a regime has one of price_part, price_usd_per_hour and capex_usd");
  }
  if (capex) {
    result.terms = owned(table, *capex);
  } else if (part) {
    result.terms = PricePart{*part, table.optional_positive("utilisation")};
  } else if (const auto rate = table.optional_amount("preemption_per_hour")) {
    result.terms = spot(table, *price, *rate);
  } else {
    result.terms = ListPrice{dollars_per_hour(*price), table.optional_positive("utilisation")};
  }
  table.finish();
  return result;
}
}  // namespace

Attribution parse_attribution(std::string_view text, const std::string& file) {
  const json parsed = parse_bounded_json(text, file);
  const Fields document(parsed, file);
  if (document.text("kind") != kind) document.refuse("is no attribution");
  const std::int64_t version = document.integer("schema_version", 1, latest_ns);
  if (version > known_version) {
    document.refuse(fmt::format(
        "has schema version {}, and this program knows {} at most", version, known_version));
  }
  Attribution attribution;
  for (const Fields& recording : document.objects("recordings")) {
    attribution.recordings.emplace_back().rank = rank_of(recording);
  }
  if (document.find("job_ranks")) {
    const Fields size = document.object("job_ranks");
    attribution.job_size = {static_cast<std::int32_t>(size.integer("at_least", 0, most_ranks)),
                            size.flag(size.either("stated", "told"))};
  }
  for (const Fields& ledger : document.objects("ledger")) {
    attribution.ledger.push_back(ledger_of(ledger));
  }
  const Fields stragglers = document.object(document.either("stragglers", "culprits"));
  for (const Fields& straggler : stragglers.objects(stragglers.either("stragglers", "culprits"))) {
    attribution.stragglers.stragglers.push_back(straggler_of(straggler));
  }
  if (document.find("efficiency")) {
    attribution.efficiency = efficiency_of(document.object("efficiency"));
  }
  attribution.efficiency_reason = document.text("efficiency_reason");
  return attribution;
}

InputKind kind_of_content(std::string_view text) {
  const std::string simple = simple_json(text.substr(0, front_bytes));
  const std::string_view front = trimmed(simple);
  const auto has = [&](std::string_view word) { return front.find(word) != std::string::npos; };
  if (front.starts_with("<!DOCTYPE") || front.starts_with("<html")) return InputKind::page;
  if (!front.starts_with('{') && !front.starts_with('['))
    return has(" algbw ") && has(" busbw ") ? InputKind::results : InputKind::other;
  if (has(R"("nccl_version")") && has(R"("config")")) return InputKind::results;
  if (has(R"("scaleworth attribution")")) return InputKind::attribution;
  if (has_kind(front, R"("scaleworth )")) return InputKind::answer;
  // As trace viewers' JSON begins.
  for (const char* word :
       {R"("traceEvents")", R"("ph")", R"("deviceProperties")", R"("distributedInfo")"})
    if (has(word)) return InputKind::recordings;
  return has(R"("schema_version")") ? InputKind::run : InputKind::table;
}

InputKind input_kind(const std::string& input) {
  const fs::path path = input;
  std::error_code ignored;
  const bool pattern = input.find_first_of("*?[") != std::string::npos;
  if (!fs::exists(path, ignored)) return pattern ? InputKind::recordings : InputKind::other;
  if (path.filename() == run_file_name || fs::exists(path / run_file_name, ignored))
    return InputKind::run;
  if (fs::is_directory(path, ignored)) return InputKind::recordings;
  if (!fs::is_regular_file(path, ignored)) return InputKind::other;
  const auto ends = [&](std::string_view endings) {
    return std::ranges::count(split(endings, ' '), path.extension().string()) > 0;
  };
  if (ends(".csv .tsv .toml .md")) return InputKind::table;
  if (ends(".swtrace .sqlite .nsys-rep .gz .zst .tar .tgz")) return InputKind::recordings;
  return kind_of_content(front_of(input));
}

void refuse_foreign(const std::string& input, std::string_view command) {
  const InputKind kind = input_kind(input);
  if (kind == InputKind::other) return;
  const auto& [what, commands] = taken[static_cast<std::size_t>(kind)];
  if (!command.empty() && commands.find(command) != std::string_view::npos) return;
  throw UserError("{} is {}: {}",
                  input,
                  what,
                  commands.empty() ? "no command reads it; give what it was made of"
                                   : fmt::format("give it to scaleworth {}",
                                                 fmt::join(split(commands, ' '), " or ")));
}

ScalingTable recordings_table(const std::vector<std::string>& inputs,
                              std::optional<Scaling> declared) {
  const RuleTable rules = RuleTable::built_in();
  std::vector<AttributedCount> counts;
  for (const std::string& input : inputs) {
    const InputKind kind = input_kind(input);
    if (kind == InputKind::table || kind == InputKind::run) {
      throw UserError(
          "{}: several arguments are the recordings of one job at several counts; a table or a run "
          "stands alone",
          input);
    }
    counts.push_back(attributed(input, rules));
  }
  return attributed_table(std::move(counts), declared);
}

std::vector<Regime> parse_regimes(std::string_view text, const std::string& file) {
  Table root = Table::parse(text, file);
  std::vector<Regime> regimes;
  for (Table& table : root.tables("regime")) regimes.push_back(regime(table));
  root.finish();
  if (regimes.empty()) root.refuse("no regime in the file: write each as [[regime]]");
  return regimes;
}
}  // namespace scaleworth::cli
