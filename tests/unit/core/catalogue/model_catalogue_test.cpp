// SPDX-License-Identifier: Apache-2.0
#include "src/core/catalogue/model_catalogue.h"

#include "src/core/error.h"
#include "tests/catch.h"
#include "tests/unit/core/catalogue/refusal.h"

using namespace scaleworth;
using namespace scaleworth::catalogue_tests;

namespace {

const char* const minimal = R"([[model]]
id = "tiny"
name = "Tiny"
layers = 2
hidden = 64
heads = 4
kv_heads = 2
ffn = 256
vocabulary = 1000
sequence = 128
parameters = 1e5
source = "a test"
date = "2026-01-31"
)";

std::string refusal(const std::string& text) {
  return refusal_of([&] { parse_model_catalogue(text, "models.toml"); });
}

}  // namespace

TEST_CASE("what a row leaves out has the plain meaning", "[catalogue]") {
  const auto models = parse_model_catalogue(minimal, "models.toml");
  REQUIRE(models.size() == 1);
  REQUIRE(models[0].head_size == 16);
  REQUIRE(models[0].experts == 1);
  REQUIRE(models[0].active_experts == 1);
  REQUIRE(models[0].positions == 0);
  REQUIRE(!models[0].gated);
  REQUIRE(!models[0].tied_embeddings);
  REQUIRE(!models[0].latent);
  REQUIRE(models[0].window_layers == 0);
  REQUIRE(models[0].shared_experts == 0);
}

TEST_CASE("shapes that fit no model are refused with line and remedy", "[catalogue]") {
  REQUIRE(contains(refusal(replaced(minimal, "kv_heads = 2", "kv_heads = 3")), "models.toml:7"));
  REQUIRE(contains(refusal(replaced(minimal, "hidden = 64", "hidden = 66")), "'head_size'"));
  REQUIRE(contains(refusal(std::string(minimal) + "experts = 4\n"), "'active_experts'"));
  REQUIRE(contains(refusal(std::string(minimal) + "experts = 4\nactive_experts = 5\n"),
                   "at most 'experts'"));
  REQUIRE(contains(refusal(replaced(minimal, "layers = 2", "layers = 9999999")), "at most"));
  REQUIRE(contains(refusal(std::string(minimal) + "width = 3\n"), "unknown key 'width'"));
  REQUIRE(contains(refusal(std::string(minimal) + minimal), "occurs twice"));
  REQUIRE(contains(refusal(""), "[[model]]"));
}

TEST_CASE("experts, windows and latent attention are read together or not at all", "[catalogue]") {
  const std::string experts = std::string(minimal) + "experts = 4\nactive_experts = 2\n";
  const auto model =
      parse_model_catalogue(experts +
                                "shared_experts = 1\ndense_layers = 1\ndense_ffn = 512\n"
                                "key_value_rank = 32\nrope_head_size = 8\n",
                            "models.toml")[0];
  REQUIRE(model.shared_experts == 1);
  REQUIRE(model.dense_ffn == 512);
  REQUIRE(model.latent.value().query_rank == 0);
  REQUIRE(model.latent.value().value_size == 16);
  REQUIRE(contains(refusal(experts + "dense_layers = 1\n"), "'dense_ffn'"));
  REQUIRE(contains(refusal(experts + "dense_layers = 2\ndense_ffn = 8\n"), "below 'layers'"));
  REQUIRE(contains(refusal(std::string(minimal) + "shared_experts = 1\n"), "unknown key"));
  REQUIRE(contains(refusal(std::string(minimal) + "query_rank = 8\n"), "'key_value_rank'"));
  REQUIRE(contains(refusal(std::string(minimal) + "window_layers = 1\n"), "'window'"));
  REQUIRE(contains(refusal(std::string(minimal) + "window = 8\nwindow_layers = 3\n"), "at most"));
  REQUIRE(parse_model_catalogue(std::string(minimal) + "window = 8\n", "models.toml")[0]
              .window_layers == 2);
}

TEST_CASE("an unknown model is refused with the nearest that are known", "[catalogue]") {
  REQUIRE(find_model(model_catalogue(), "llama-3.1-8b").layers == 32);
  const std::string message =
      refusal_of([] { find_model(model_catalogue(), "llama-3.1-8B-instruct"); });
  REQUIRE(contains(message, "did you mean llama-3.1-8b"));
  REQUIRE(contains(message, "list --known"));
}
