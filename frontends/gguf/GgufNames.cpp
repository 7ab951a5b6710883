// SPDX-License-Identifier: Apache-2.0
// Looks weights up in the tables of architectures.
#include "frontends/gguf/GgufArchitectures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace talc {

static bool isNumber(llvm::StringRef part) {
  constexpr size_t digits = 9;
  return !part.empty() && part.size() <= digits && llvm::all_of(part, llvm::isDigit);
}

// All experts of a layer in one, as checkpoints may have them, too; their gates and inputs multiply the same.
constexpr GgufName stackedNames[] = {
    {"model.layers.#.mlp.experts.gate_up_proj", "blk.#.ffn_gate_exps"},
    {"model.layers.#.mlp.experts.down_proj", "blk.#.ffn_down_exps"},
};

// "model.layers.3.mlp.experts.5.up_proj.weight" as "model.layers.#.mlp.experts.5.up_proj", the same with "*" for "5",
// "3", 5 and ".weight".
static GgufTensorName placeIn(std::initializer_list<llvm::ArrayRef<GgufName>> tables, const std::string &weight) {
  llvm::StringRef rest = weight;
  std::string end = rest.consume_back(".weight") ? ".weight" : rest.consume_back(".bias") ? ".bias" : "";
  llvm::SmallVector<llvm::StringRef, 12> parts;
  rest.split(parts, '.');
  auto layer = llvm::find_if(parts, isNumber);
  std::string number = layer == parts.end() ? "" : layer->str();
  if (layer != parts.end())
    *layer++ = "#";
  std::string general = llvm::join(parts, "."), mixed;
  int64_t expert = -1;
  if (auto second = std::find_if(layer, parts.end(), isNumber); second != parts.end()) {
    second->getAsInteger(10, expert);
    *second = "*";
    mixed = llvm::join(parts, ".");
  }
  for (llvm::ArrayRef<GgufName> names : tables)
    for (const GgufName &known : names) {
      if (known.family != general && known.family != mixed)
        continue;
      std::string file(known.file);
      if (size_t at = file.find('#'); at != std::string::npos)
        file.replace(at, 1, number);
      return {file + end, known.order, known.family == mixed ? expert : -1};
    }
  return {};
}

GgufTensorName ggufTensorName(const GgufArchitecture &architecture, const std::string &weight) {
  return placeIn({architecture.own, architecture.names}, weight);
}

std::vector<GgufTensorName> ggufTensorNames(const std::string &weight) {
  std::vector<GgufTensorName> places;
  auto add = [&](GgufTensorName place) {
    bool isListed = llvm::any_of(
        places, [&](const GgufTensorName &other) { return other.name == place.name && other.order == place.order; });
    if (!place.name.empty() && !isListed)
      places.push_back(std::move(place));
  };
  for (const GgufArchitecture &architecture : ggufArchitectureTable())
    add(ggufTensorName(architecture, weight));
  GgufTensorName stacked = placeIn({stackedNames}, weight);
  for (StoredOrder::Kind order : {StoredOrder::Kind::AsIs, StoredOrder::Kind::Transposed}) {  // gpt-oss has the latter
    stacked.order = order;
    add(stacked);
  }
  return places;
}

}  // namespace talc
