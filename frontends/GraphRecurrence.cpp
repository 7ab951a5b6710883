// SPDX-License-Identifier: Apache-2.0
// Layers in which a token sees earlier ones through a state of fixed size.
#include "dialects/talc/RecurrenceOps.h"
#include "frontends/Graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace talc {

int64_t GraphBuilder::Graph::addState(const std::string &name, int64_t heads, int64_t columns, int64_t rows) {
  constexpr int64_t maxElements = int64_t(1) << 44;
  auto refuse = [&](const std::string &what) {
    diagnostics.error(ImportError::ConfigUnsupported, what + ", but the model has states that forget no single tokens");
  };
  if (sinks > 0)
    refuse("--sinks: bounds what a text takes");
  if (segmented)
    refuse("config.json: key 'infini_attention': cuts texts into segments");
  if (embeds)
    refuse("modules.json: makes embeddings of whole texts");
  if (failed())
    return -1;
  if (heads <= 0 || columns <= 0 || rows <= 0 || rows > maxElements / columns / heads) {
    error(fmt::format("the state '{}' cannot hold {} heads of {} x {} numbers", name, heads, rows, columns));
    return -1;
  }
  return insertKvCache(name, KvCacheType::get(builder.getContext(), heads, columns, rows, KvCacheRole::recurrence));
}

void GraphBuilder::anyLength() {
  graph->maxSequence = int64_t(1) << 30;
  graph->longestSequence = graph->maxSequence;
}

Tensor GraphBuilder::segmentMemory(Tensor local, Tensor queries, Tensor keys, Tensor values,
                                   const SegmentMemory &memory, const std::string &name) {
  if (!graph->ready(local, queries, keys, values) || !graph->readyWeight(memory.gates, 1))
    return {};
  int64_t width = keys.width() / std::max<int64_t>(memory.keyValueHeads, 1);
  KvCache cache =
      graph->kvCache(graph->addKvCache(graph->qualified(name), memory.keyValueHeads, width, KvCacheRole::memory));
  if (!cache)
    return {};
  return graph->make<MemoryOp>(
      graph->location(memory.gates), queries.width(), memory.delta ? MemoryUpdate::delta : MemoryUpdate::linear,
      graph->value(local), graph->value(queries), graph->value(keys), graph->value(values), graph->value(cache),
      graph->sequences(), graph->value(memory.gates), static_cast<uint64_t>(memory.heads), memory.localFirst);
}

Tensor GraphBuilder::causalConv(Tensor x, const CausalConv &conv, const std::string &name) {
  if (!graph->ready(x) || !graph->readyWeight(conv.weight, 2) || (conv.bias && !graph->readyWeight(conv.bias, 1)))
    return {};
  int64_t rows = graph->shape(conv.weight)[0] - 1;
  KvCache state = graph->kvCache(graph->addState(graph->qualified(name), 1, x.width(), rows));
  if (!state)
    return {};
  auto silu = ActivationKindAttr::get(graph->builder.getContext(), ActivationKind::silu);
  return graph->make<CausalConvOp>(graph->location(conv.weight), x.width(), graph->value(x), graph->value(conv.weight),
                                   graph->value(conv.bias), graph->value(state), graph->sequences(),
                                   conv.hasSilu ? silu : ActivationKindAttr());
}

Tensor GraphBuilder::recurrence(Tensor queries, Tensor keys, Tensor values, const Recurrence &kind,
                                const std::string &name) {
  if (!graph->ready(queries, keys, values, kind.decay, kind.factors) || !graph->readyWeight(kind.rates, 1) ||
      (kind.skip && !graph->readyWeight(kind.skip, 1)))
    return {};
  int64_t columns = values.width() / std::max<int64_t>(kind.heads, 1),
          rows = keys.width() / std::max<int64_t>(kind.keyHeads, 1);
  KvCache state = graph->kvCache(graph->addState(graph->qualified(name), kind.heads, columns, rows));
  if (!state)
    return {};
  return graph->make<RecurrenceOp>(
      graph->location(kind.rates), values.width(), kind.isDelta ? RecurrenceUpdate::delta : RecurrenceUpdate::additive,
      graph->value(queries), graph->value(keys), graph->value(values), graph->value(state), graph->sequences(),
      graph->value(kind.decay), graph->value(kind.rates), graph->value(kind.factors), graph->value(kind.skip));
}

// The root mean square of n features is the root of their sum divided by that of n.
Tensor GraphBuilder::l2Norm(Tensor x, double epsilon, int64_t groups, double factor) {
  int64_t width = x.width() / std::max<int64_t>(groups, 1);
  if (!graph->ready(x) || width <= 0)
    return {};
  return rmsNorm(x, filled({width}, factor / std::sqrt(static_cast<double>(width))),
                 epsilon / static_cast<double>(width), groups);
}

Tensor GraphBuilder::selectiveScan(Tensor x, const SelectiveScan &scan, const std::string &name) {
  if (!graph->ready(x, scan.steps, scan.input, scan.output) || !graph->readyWeight(scan.rates, 2) ||
      !graph->readyWeight(scan.skip, 1))
    return {};
  int64_t columns = x.width() / std::max<int64_t>(scan.groups, 1);
  KvCache state =
      graph->kvCache(graph->addState(graph->qualified(name), scan.groups, columns, graph->shape(scan.rates)[0]));
  if (!state)
    return {};
  return graph->make<SelectiveScanOp>(graph->location(scan.rates), x.width(), graph->value(x), graph->value(scan.steps),
                                      graph->value(scan.input), graph->value(scan.output), graph->value(state),
                                      graph->sequences(), graph->value(scan.rates), graph->value(scan.skip));
}

}  // namespace talc
