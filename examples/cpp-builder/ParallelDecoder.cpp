// SPDX-License-Identifier: Apache-2.0
// Defines a model in C++ that belongs to no family of talc, and compiles it to a program.
//
//   parallel-decoder decoder         writes the program decoder, and its definition as decoder.mlir
//   ./decoder --ids 5,7,9 -n 20
//
// The decoder's attention and feed-forward layer work side by side on the same normalized input (as in GPT-J):
//
//   x + attention(norm(x)) + down(gelu(up(norm(x))))
//
// Weights are random here. A model of your own reads them by name through a WeightSource; Checkpoint is the one for
// safetensors files.
#include "compiler/Compiler.h"
#include "frontends/Diagnostics.h"
#include "frontends/GraphBuilder.h"
#include "frontends/RandomWeights.h"

#include "mlir/IR/MLIRContext.h"

#include <cmath>
#include <cstdio>

using namespace talc;

constexpr int64_t vocabulary = 256, width = 64, inner = 256, layers = 3, longest = 128;
constexpr int64_t heads = 4, headWidth = width / heads;

static Tensor attention(GraphBuilder &g, Tensor x) {
  const Rope rope = {headWidth, 10000, {}};
  Tensor queries = g.rope(g.linear(x, g.weight("queries", {width, width})), heads, rope);
  Tensor keys = g.rope(g.linear(x, g.weight("keys", {width, width})), heads, rope);
  Tensor values = g.linear(x, g.weight("values", {width, width}));
  Tensor mixed = g.cachedAttention(queries, keys, values, {heads, heads, 1 / std::sqrt(double(headWidth))});
  return g.linear(mixed, g.weight("mix", {width, width}));
}

static Tensor feedForward(GraphBuilder &g, Tensor x) {
  Tensor up = g.linear(x, g.weight("up", {inner, width}), g.weight("up.bias", {inner}));
  return g.linear(g.activation(up, Activation::Gelu), g.weight("down", {width, inner}));
}

static mlir::OwningOpRef<mlir::ModuleOp> define(mlir::MLIRContext &context, Diagnostics &diagnostics) {
  RandomWeights weights(42);
  GraphBuilder g(context, weights, diagnostics, longest);
  Weight table = g.weight("embedding", {vocabulary, width});
  Tensor x = g.embedding(table);
  x = g.repeat("layers", layers, x, [&](Tensor x, int64_t) {
    Tensor h = g.layerNorm(x, g.weight("norm", {width}), g.weight("norm.bias", {width}), 1e-5);
    return g.add(x, g.add(attention(g, h), feedForward(g, h)));
  });
  x = g.rmsNorm(g.select(x), g.weight("norm", {width}), 1e-5);
  g.output(g.linear(x, table));
  return g.finish();
}

static llvm::Error compileTo(const std::string &output, mlir::ModuleOp module) {
  if (llvm::Error error = printModule(module, output + ".mlir"))
    return error;
  llvm::Expected<std::vector<targets::Target>> targets = targets::parseTargets("native");
  if (!targets)
    return targets.takeError();
  CompileRequest request;
  request.targets = *targets;
  request.output = output;
  request.programDirectory = TALC_RUNTIME_DIRECTORY;
  request.cacheDirectory = usualCacheDirectory();
  return talc::compile(module, request);
}

int main(int argc, char **argv) {
  if (argc != 2 || argv[1][0] == '-') {
    fprintf(stderr, "usage: parallel-decoder OUTPUT\n");
    return 2;
  }
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module = define(context, diagnostics);
  for (const std::string &line : diagnostics.errors())
    fprintf(stderr, "%s\n", line.c_str());
  if (!module)
    return 1;
  if (llvm::Error error = compileTo(argv[1], *module)) {
    fprintf(stderr, "%s\n", llvm::toString(std::move(error)).c_str());
    return 1;
  }
  return 0;
}
