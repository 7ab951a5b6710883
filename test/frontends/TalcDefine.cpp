// SPDX-License-Identifier: Apache-2.0
// talc-define NAME: builds the model definition NAME with GraphBuilder and prints its module or what is wrong with it.
#include "frontends/Diagnostics.h"
#include "frontends/GraphBuilder.h"
#include "frontends/RandomWeights.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace talc;

namespace {

// A layer that uses a tensor, a weight and a state from outside.
void sharing(GraphBuilder &g) {
  Weight table = g.weight("table.weight", {6, 4}), shared = g.weight("shared.weight", {4, 4});
  Tensor x = g.embedding(table), first = x;
  KvCache memory = g.kvCache("memory", 2, 2);
  x = g.repeat("layers", 2, x, [&](Tensor x, int64_t) {
    Tensor y = g.linear(g.mul(x, first), shared);
    g.kvAppend(memory, y, y);
    auto [keys, values] = g.kvRead(memory);
    return g.add(x, g.linear(g.attention(y, keys, values, {2, 2, 0.5}), g.weight("own.weight", {4, 4})));
  });
  g.output(g.linear(x, table));
}

void wrongWidth(GraphBuilder &g) {
  Tensor x = g.embedding(g.weight("table.weight", {6, 4}));
  g.output(g.repeat("layers", 2, x, [&](Tensor x, int64_t layer) {
    return g.linear(x, g.weight("proj.weight", {4, 4 - layer}));
  }));
}

void wrongRank(GraphBuilder &g) {
  g.output(g.embedding(g.weight("table.weight", {6})));
}

void twoShapes(GraphBuilder &g) {
  Tensor x = g.embedding(g.weight("table.weight", {6, 4}));
  g.output(g.linear(x, g.weight("table.weight", {8, 4})));
}

void emptyHandle(GraphBuilder &g) {
  g.output(g.activation(Tensor(), Activation::Relu));
}

void gates(GraphBuilder &g) {
  Tensor x = g.embedding(g.weight("table.weight", {6, 4}));
  g.output(g.mul(x, g.softmax(x)));
}

void noOutput(GraphBuilder &g) {
  g.embedding(g.weight("table.weight", {6, 4}));
}

void nested(GraphBuilder &g) {
  Tensor x = g.embedding(g.weight("table.weight", {6, 4}));
  auto inner = [&](Tensor x, int64_t) { return x; };
  g.output(g.repeat("outer", 1, x, [&](Tensor x, int64_t) { return g.repeat("inner", 1, x, inner); }));
}

void escaped(GraphBuilder &g) {
  Tensor x = g.embedding(g.weight("table.weight", {6, 4})), kept;
  g.repeat("layers", 1, x, [&](Tensor x, int64_t) { return kept = g.scale(x, 2); });
  g.output(kept);
}

void emptySlice(GraphBuilder &g) {
  g.output(g.slice(g.embedding(g.weight("table.weight", {6, 4})), 0, -1));
}

void hugeWeight(GraphBuilder &g) {
  g.weight("table.weight", {int64_t(1) << 40, int64_t(1) << 40});
}

// An encoder whose block keeps a source for the decoder.
void source(GraphBuilder &g) {
  Weight table = g.weight("table.weight", {6, 4}), buckets = g.weight("buckets.weight", {8, 2});
  g.encoder([&] {
    Tensor x = g.add(g.embedding(table), g.position(g.sinusoids(4, Sinusoids::Interleaved)));
    x = g.attention(x, x, x, {2, 2, 0.5, Mask::Full, 3, g.relativeBias(buckets, /*bidirectional=*/true, 5)});
    g.each("layers", 2, [&](int64_t) {
      g.kvAppend(g.sourceKvCache("source", 2, 2), g.linear(x, g.weight("keys.weight", {4, 4})), x);
    });
  });
  Tensor x = g.add(g.embedding(table), g.tokenType(g.weight("types.weight", {2, 4})));
  x = g.attention(x, x, x, {2, 2, 0.5, Mask::Prefix});
  x = g.repeat("layers", 2, x, [&](Tensor x, int64_t) {
    return g.crossAttention(x, g.sourceKvCache("source", 2, 2), {2, 2, 0.5});
  });
  g.output(g.select(x), Output::Hidden);
  g.output(g.linear(g.select(x, 1), table), Output::TokenClasses);
  g.labels({"a", "b"});
}

void twoEncoders(GraphBuilder &g) {
  g.encoder([] {});
  g.encoder([] {});
}

void threeOutputs(GraphBuilder &g) {
  Tensor x = g.embedding(g.weight("table.weight", {6, 4}));
  for (int i = 0; i < 3; ++i)
    g.output(x);
}

void crossing(GraphBuilder &g) {
  Tensor kept;
  g.encoder([&] { kept = g.embedding(g.weight("table.weight", {6, 4})); });
  g.output(kept);
}

void noDistance(GraphBuilder &g) {
  g.relativeBias(g.weight("buckets.weight", {8, 2}), /*bidirectional=*/true, 0);
}

struct Definition {
  llvm::StringRef name;
  void (*define)(GraphBuilder &);
};

constexpr Definition definitions[] = {
    {"sharing", sharing},
    {"wrong-width", wrongWidth},
    {"wrong-rank", wrongRank},
    {"two-shapes", twoShapes},
    {"gates", gates},
    {"empty-handle", emptyHandle},
    {"no-output", noOutput},
    {"nested", nested},
    {"escaped", escaped},
    {"huge-weight", hugeWeight},
    {"empty-slice", emptySlice},
    {"source", source},
    {"two-encoders", twoEncoders},
    {"three-outputs", threeOutputs},
    {"crossing", crossing},
    {"no-distance", noDistance},
};

}  // namespace

int main(int argc, char **argv) {
  mlir::MLIRContext context;
  RandomWeights weights(1);
  Diagnostics diagnostics;
  GraphBuilder graph(context, weights, diagnostics, 8);
  for (const Definition &definition : definitions)
    if (argc == 2 && definition.name == argv[1])
      definition.define(graph);
  mlir::OwningOpRef<mlir::ModuleOp> module = graph.finish();
  for (const std::string &error : diagnostics.errors())
    llvm::errs() << error << "\n";
  if (module)
    module->print(llvm::outs());
  return module ? 0 : 1;
}
