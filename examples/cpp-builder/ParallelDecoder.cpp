// SPDX-License-Identifier: Apache-2.0
// Defines a model in C++ that belongs to no family of talc, and compiles it with its trained weights to a program.
//
//   parallel-decoder ../models/adder adder     writes the program adder, and its definition as adder.mlir
//   ./adder -p "76+32="                        76+32=108
//
// The decoder's attention and feed-forward layer work side by side on the same normalized input (as in GPT-J):
//
//   x + attention(norm(x)) + down(gelu(up(norm(x))))
//
// It has 100,000 parameters, and has learnt to add two numbers below 100; train.py beside this file taught it.
#include "compiler/Compiler.h"
#include "dialects/talc/TalcDialect.h"
#include "frontends/Diagnostics.h"
#include "frontends/GraphBuilder.h"
#include "frontends/ModelDirectory.h"
#include "frontends/huggingface/Checkpoint.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

#include <cmath>
#include <cstdio>

using namespace talc;

constexpr int64_t vocabulary = 13, endToken = 12;  // 0 to 9, +, =, end
constexpr int64_t width = 64, inner = 256, layers = 2, longest = 64;
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

static void define(GraphBuilder &g) {
  Weight table = g.weight("embedding", {vocabulary, width});
  Tensor x = g.embedding(table);
  x = g.repeat("layers", layers, x, [&](Tensor x, int64_t) {
    Tensor h = g.layerNorm(x, g.weight("norm", {width}), g.weight("norm.bias", {width}), 1e-5);
    return g.add(x, g.add(attention(g, h), feedForward(g, h)));
  });
  x = g.rmsNorm(g.select(x), g.weight("norm", {width}), 1e-5);
  g.output(g.linear(x, table));
}

// The model with the weights of a directory; null after an error.
static mlir::OwningOpRef<mlir::ModuleOp> import(const std::string &path, mlir::MLIRContext &context,
                                                Diagnostics &diagnostics) {
  auto directory = ModelDirectory::open(path, diagnostics);
  auto weights = directory ? Checkpoint::open(*directory, "", diagnostics) : std::nullopt;
  if (!weights)
    return nullptr;
  GraphBuilder g(context, *weights, diagnostics, longest);
  define(g);
  mlir::OwningOpRef<mlir::ModuleOp> module = g.finish();
  if (!module)
    return nullptr;
  mlir::Builder b(&context);
  (*module)->setAttr(directoryAttr, b.getStringAttr(path));
  (*module)->setAttr(generationAttr, b.getDictionaryAttr(b.getNamedAttr("end", b.getDenseI64ArrayAttr({endToken}))));
  return module;
}

static llvm::Error compileTo(const std::string &output, mlir::ModuleOp module, std::vector<uint8_t> tokenizer) {
  if (llvm::Error error = printModule(module, output + ".mlir"))
    return error;
  llvm::Expected<std::vector<targets::TargetPtr>> targets = targets::parseTargets("native");
  if (!targets)
    return targets.takeError();
  CompileRequest request;
  request.targets = *targets;
  request.output = output;
  request.tokenizer = std::move(tokenizer);
  request.programDirectory = TALC_RUNTIME_DIRECTORY;
  request.cacheDirectory = defaultCacheDirectory();
  return talc::compile(module, request);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: parallel-decoder MODEL OUTPUT\n");
    return 2;
  }
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  Diagnostics diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module = import(argv[1], context, diagnostics);
  for (const std::string &line : diagnostics.errors())
    fprintf(stderr, "%s\n", line.c_str());
  if (!module)
    return 1;
  std::string error;
  auto tokenizer = frontend::compileTokenizerDirectory(argv[1], error);
  if (!tokenizer) {
    fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  if (llvm::Error error = compileTo(argv[2], *module, std::move(*tokenizer))) {
    fprintf(stderr, "%s\n", llvm::toString(std::move(error)).c_str());
    return 1;
  }
  return 0;
}
