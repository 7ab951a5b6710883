// SPDX-License-Identifier: Apache-2.0
// What is asked of all sequences of a model, whatever its family: that their first tokens stay beside windows, and that
// prefixes are seen as a whole.
#include "frontends/Graph.h"

#include <fmt/format.h>

#include <algorithm>

using namespace mlir;

namespace talc {

static void refuse(Diagnostics &diagnostics, const std::string &what, const std::string &why) {
  diagnostics.error(ImportError::ConfigUnsupported, what + ": " + why);
}

// Positions are those inside of what a sequence sees, so that tokens move on to others.
void GraphBuilder::Graph::stream(bool hardPositions) {
  constexpr int64_t maxTokens = int64_t(1) << 30;
  if (hardPositions)
    return refuse(diagnostics, "--sinks", "the model's positions are learned, and cannot move with a window");
  cacheTokens = maxSequence;
  maxSequence = maxTokens;
  if (sinks >= cacheTokens)
    refuse(diagnostics, "--sinks", fmt::format("{} tokens stay, but a sequence has room for {}", sinks, cacheTokens));
}

// What segments leave is in their memory: they have no first tokens that stay, and nothing before them is seen whole.
void GraphBuilder::Graph::divide(int64_t segment) {
  if (sinks > 0)
    refuse(diagnostics, "--sinks", "the model has segments and a memory of them (infini_attention)");
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
  if (result.mask != Mask::Causal || result.bias || result.rowBias || cacheTokens == 0)
    refuse(diagnostics, "--sinks",
           "is for causal attention with rotary positions or none; this model has a prefix, or a bias by distance");
  int64_t room = cacheTokens - sinks;
  result.window = result.window > 0 ? std::min(result.window, room) : room;
  return result;
}

// Encoders see all of a text anyway, and decoders of a source have nothing that would be their prefix.
void GraphBuilder::Graph::checkPrefixes() {
  if (prefixes && (encoder.op || statesByName.empty()))
    refuse(diagnostics, "config.json: key 'prefix_lm'", "is true, but only models that continue texts have prefixes");
}

// Whether a value of rows was turned by position on its way.
static bool isTurned(Value rows) {
  Operation *op = rows.getDefiningOp();
  if (!op || !(isa<RopeOp>(op) || op->hasTrait<KeepsRows>()))
    return false;
  return isa<RopeOp>(op) || llvm::any_of(op->getOperands(), isTurned);
}

// The newest token stands at the last position of what it sees.
Value GraphBuilder::Graph::keptQueries(Tensor queries, int64_t window) {
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

Tensor GraphBuilder::Graph::attention(Tensor queries, Tensor keys, Tensor values, Value keptQueries,
                                      const Attention &attention, MaskKind mask) {
  auto natural = [](int64_t number) { return static_cast<uint64_t>(number); };
  return make<AttentionOp>(location(), queries.width(), value(queries), value(keys), value(values), sequences(),
                           value(attention.bias), value(attention.sinks), keptQueries, value(attention.rowBias), mask,
                           natural(attention.heads), natural(attention.keyValueHeads), llvm::APFloat(attention.scale),
                           natural(attention.window), llvm::APFloat(attention.cap), attention.absolute,
                           natural(keptQueries ? sinks : 0), attention.zeroStart);
}

}  // namespace talc
