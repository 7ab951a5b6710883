// SPDX-License-Identifier: Apache-2.0
// Requests for all sequences of a model, whatever its family: sink tokens beside windows, and prefixes whose tokens see
// each other.
#include "frontends/Graph.h"
#include "runtime/artifact/GenerationSettings.h"

#include <fmt/format.h>

#include <algorithm>

using namespace mlir;

namespace talc {

static void refuse(Diagnostics &diagnostics, const std::string &what, const std::string &why) {
  diagnostics.error(ImportError::ConfigUnsupported, what + ": " + why);
}

void GraphBuilder::useAsEmbedder() {
  graph->embeds = true;
}

void GraphBuilder::classPlace(ClassPlace place, int64_t token) {
  static_assert(static_cast<int>(ClassPlace::LastOf) == static_cast<int>(artifact::ClassPlace::LastOf));
  OpBuilder &b = graph->builder;
  auto name = b.getStringAttr(artifact::settings::classPlace.range.choices[static_cast<size_t>(place)]);
  (*graph->module)
      ->setAttr(generationAttr,
                b.getDictionaryAttr({b.getNamedAttr(artifact::settings::classPlace.name, name),
                                     b.getNamedAttr(artifact::settings::classToken.name, b.getI64IntegerAttr(token))}));
}

bool GraphBuilder::isEmbedder() const {
  return graph->embeds;
}

// Positions are counted in the window, so that they change as the window moves.
void GraphBuilder::Graph::stream(bool hardPositions) {
  constexpr int64_t maxTokens = int64_t(1) << 30;
  if (hardPositions)
    return refuse(diagnostics, "--sinks", "the model's positions are learned, and cannot move with a window");
  cacheTokens = maxSequence;
  maxSequence = maxTokens;
  if (sinks >= cacheTokens)
    refuse(diagnostics, "--sinks", fmt::format("{} tokens stay, but a sequence has room for {}", sinks, cacheTokens));
}

// Earlier segments are only in the compressive memory: neither sink tokens nor prefixes exist.
void GraphBuilder::Graph::divide(int64_t segment) {
  if (sinks > 0)
    refuse(diagnostics, "--sinks", "the model has segments and a memory of them (infini_attention)");
  if (embeds)
    refuse(diagnostics, "config.json: key 'infini_attention'",
           "divides texts into segments, but embeddings and classes are made of whole texts");
  if (prefixes)
    refuse(diagnostics, "config.json: key 'prefix_lm'", "is true, but the model has segments (infini_attention)");
  maxSequence = segment;
  segmented = true;
  (*module)->setAttr(segmentedAttr, builder.getUnitAttr());
}

Attention GraphBuilder::Graph::adapted(const Attention &attention) {
  Attention result = attention;
  if (prefixes && result.mask == Mask::Causal)
    result.mask = Mask::Prefix;
  if (sinks == 0)
    return result;
  if (embeds)
    refuse(diagnostics, "--sinks", "is for models that continue texts; this one reads whole texts");
  if (result.mask != Mask::Causal || result.bias || result.rowBias || cacheTokens == 0)
    refuse(diagnostics, "--sinks",
           "is for causal attention with rotary positions or none; this model has a prefix, or a bias by distance");
  int64_t room = cacheTokens - sinks;
  result.window = result.window > 0 ? std::min(result.window, room) : room;
  return result;
}

// Encoders see the whole text anyway, and decoders with a source have no prefix.
void GraphBuilder::Graph::checkPrefixes() {
  if (prefixes && (encoder.op || kvCachesByName.empty()))
    refuse(diagnostics, "config.json: key 'prefix_lm'", "is true, but only models that continue texts have prefixes");
}

// Whether rope was applied on the way to a value.
static bool isTurned(Value rows) {
  Operation *op = rows.getDefiningOp();
  if (!op || !(isa<RopeOp>(op) || op->hasTrait<KeepsRows>()))
    return false;
  return isa<RopeOp>(op) || llvm::any_of(op->getOperands(), isTurned);
}

// The newest token has the last position of the window.
Value GraphBuilder::Graph::sinkQueries(Tensor queries, int64_t window) {
  Value turned = value(queries);
  auto rope = turned.getDefiningOp<RopeOp>();
  if (!rope && isTurned(turned))
    refuse(diagnostics, "--sinks", "the model changes queries after their turn by position");
  if (!rope)
    return turned;
  auto clone = cast<RopeOp>(builder.clone(*rope));
  clone.setLast(sinks + window - 1);
  return clone.getResult();
}

Tensor GraphBuilder::Graph::attention(Tensor queries, Tensor keys, Tensor values, Value sinkQueries,
                                      const Attention &attention, MaskKind mask) {
  auto natural = [](int64_t number) { return static_cast<uint64_t>(number); };
  return make<AttentionOp>(location(), queries.width(), value(queries), value(keys), value(values), sequences(),
                           value(attention.bias), value(attention.sinks), sinkQueries, value(attention.rowBias), mask,
                           natural(attention.heads), natural(attention.keyValueHeads), llvm::APFloat(attention.scale),
                           natural(attention.window), llvm::APFloat(attention.cap), attention.absolute,
                           natural(sinkQueries ? sinks : 0), attention.zeroStart);
}

// Equal scores weigh all tokens equally.
Tensor GraphBuilder::mean(Tensor x, int64_t heads) {
  Tensor zeros = scale(x, 0);
  return attention(zeros, zeros, x, {heads, heads, 1, Mask::Full});
}

// The mean of a token and the one before, without the token's own part.
Tensor GraphBuilder::previous(Tensor x, int64_t heads) {
  constexpr int64_t both = 2;
  Tensor zeros = scale(x, 0);
  Attention kind = {heads, heads, 1, Mask::Causal, both};
  kind.rowBias = slice(zeros, 0, heads * both);
  kind.zeroStart = true;
  return add(scale(attention(zeros, zeros, x, kind), both), scale(x, -1));
}

}  // namespace talc
