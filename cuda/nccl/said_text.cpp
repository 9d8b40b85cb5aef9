// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl/said_text.h"

#include "src/core/error.h"

#include <algorithm>
#include <cstring>

#include <nlohmann/json.hpp>

namespace scaleworth::gpu {
namespace {

using nlohmann::json;

}  // namespace

std::string news_text(const WarmUpNews& news) {
  json predictions = json::array();
  for (const probes::PredictedTime& time : news.said.predictions) {
    predictions.push_back({time.way.algorithm, time.way.protocol, time.time.value()});
  }
  json ran = nullptr;
  if (news.said.ran) {
    ran = {news.said.ran->way.algorithm, news.said.ran->way.protocol, news.said.ran->channels};
  }
  return json{{"predictions", predictions},
              {"ran", ran},
              {"asked", news.said.asked},
              {"refused", news.said.refused},
              {"operation_s", news.operation.value()}}
      .dump();
}

WarmUpNews news_of(const std::string& text) {
  try {
    const json object = json::parse(text);
    WarmUpNews news;
    for (const json& entry : object.at("predictions")) {
      news.said.predictions.push_back(
          {{entry.at(0).get<std::string>(), entry.at(1).get<std::string>()},
           Seconds(entry.at(2).get<double>())});
    }
    if (const json& ran = object.at("ran"); !ran.is_null()) {
      news.said.ran = probes::RanAlgorithm{
          {ran.at(0).get<std::string>(), ran.at(1).get<std::string>()}, ran.at(2).get<int>()};
    }
    news.said.asked = object.at("asked").get<bool>();
    news.said.refused = object.at("refused").get<bool>();
    news.operation = Seconds(object.at("operation_s").get<double>());
    return news;
  } catch (const json::exception&) {
    throw ProbeFailure("a rank reported its warm-up in a way that cannot be read");
  }
}

std::string samples_text(const std::vector<double>& samples) {
  std::string text(samples.size() * sizeof(double), '\0');
  std::memcpy(text.data(), samples.data(), text.size());
  return text;
}

std::vector<double> samples_of(const std::string& text) {
  std::vector<double> samples(text.size() / sizeof(double));
  std::memcpy(samples.data(), text.data(), samples.size() * sizeof(double));
  return samples;
}

void take_slowest(std::vector<double>& slowest, const std::vector<double>& other) {
  if (other.empty()) return;
  if (slowest.empty()) {
    slowest = other;
    return;
  }
  if (slowest.size() != other.size()) {
    throw ProbeFailure("ranks report different numbers of repetitions");
  }
  for (std::size_t i = 0; i < slowest.size(); ++i) slowest[i] = std::max(slowest[i], other[i]);
}

}  // namespace scaleworth::gpu
