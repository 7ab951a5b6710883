// SPDX-License-Identifier: Apache-2.0
// The module that a GraphBuilder writes: its symbols, its functions, and the values that functions capture.
#pragma once

#include "dialects/talc/TalcDialect.h"
#include "frontends/Diagnostics.h"
#include "frontends/GraphBuilder.h"
#include "frontends/WeightSource.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <variant>

namespace talc {

class GraphBuilder::Graph {
public:
  Graph(mlir::MLIRContext &context, WeightSource &weights, Diagnostics &diagnostics, int64_t maxSequence);

  // A weight or a KV cache: a symbol of the module.
  struct Symbol {
    mlir::FlatSymbolRefAttr name;
    mlir::Type type;
    mlir::Location location;  // has the name of the symbol inside of its layer
  };

  // `stored`: its shape in files, which has the same values in the same order.
  int64_t addWeight(const std::string &name, const Shape &shape, const Shape &stored, const std::string &why);
  // Adds a weight that a recipe makes of other weights.
  int64_t addRecipe(const std::string &name, const Shape &shape, mlir::Attribute recipe,
                    const std::vector<Weight> &sources);
  // The source of a weight, if the weight is the result of this recipe.
  Weight recipeSource(Weight result, mlir::Attribute recipe);
  int64_t addKvCache(const std::string &name, int64_t heads, int64_t width, KvCacheRole role, int64_t window = 0);
  // Adds the state of a recurrence. (GraphRecurrence.cpp)
  int64_t addState(const std::string &name, int64_t heads, int64_t columns, int64_t rows);

  // The values of handles in the function that is being written. Null for an empty handle.
  mlir::Value value(Tensor tensor);
  mlir::Value value(Weight weight);
  mlir::Value value(KvCache cache);
  mlir::Value ids() { return local(entry().getArgument(0)); }
  mlir::Value sequences() { return function->sequences; }

  // Writes one layer of a repeated block: a function with `body`, unless an equal one exists, and a call of it. `x` and
  // the result are both present or both empty.
  Tensor layer(const std::string &prefix, int64_t number, Tensor x, const Body &body);
  // Requests for all sequences, which change attention over them: see useSinkTokens and usePrefixMasks.
  void stream(bool hardPositions);
  // Limits KV caches to one segment.
  void divide(int64_t segment);
  void checkPrefixes();
  Attention adapted(const Attention &attention);
  // The queries for the sink tokens, which keep their positions while those of other tokens move. Null after an error.
  mlir::Value sinkQueries(Tensor queries, int64_t window);
  Tensor attention(Tensor queries, Tensor keys, Tensor values, mlir::Value sinkQueries, const Attention &attention,
                   MaskKind mask);

  // Writes the encoder's entry function.
  void writeEncoder(const std::function<void()> &body);
  void addResult(Tensor rows, llvm::StringRef kind);
  // Ends the model's entry function.
  void finish();

  // Whether an operation is valid; if not, reports the user's error.
  bool check(mlir::Operation *op);
  // Creates an operation and checks it. Null if it is not valid, which is then reported as the user's error.
  template <typename OpTy, typename... Args> OpTy create(mlir::Location location, Args &&...args) {
    auto op = OpTy::create(builder, location, std::forward<Args>(args)...);
    return check(op) ? op : OpTy();
  }
  // Does the same for operations whose result is activations of `width` features.
  template <typename OpTy, typename... Args> Tensor make(mlir::Location location, int64_t width, Args &&...args) {
    auto op = create<OpTy>(location, activations(width), std::forward<Args>(args)...);
    return op ? tensor(op.getResult()) : Tensor();
  }

  // Whether an operation on these handles can be written; if not, reports why.
  template <typename... Handles> bool ready(const Handles &...handles) { return !failed() && (usable(handles) && ...); }
  // Does the same; the weight must have `rank` dimensions.
  bool readyWeight(Weight weight, int64_t rank);

  Tensor tensor(mlir::Value value) const;
  static Weight weight(int64_t index);
  static KvCache kvCache(int64_t index);
  std::string weightName(Weight weight) const { return weightSymbols[weight.index].name.getValue().str(); }
  mlir::RankedTensorType activations(int64_t width) {
    return mlir::RankedTensorType::get({mlir::ShapedType::kDynamic, width}, builder.getF32Type());
  }
  Shape shape(Weight weight) const;
  KvCacheType type(KvCache cache) const { return mlir::cast<KvCacheType>(kvCacheSymbols[cache.index].type); }
  mlir::Location location(Weight weight) const { return weightSymbols[weight.index].location; }
  // The location of operations without a weight: the repeated block.
  mlir::Location location() const { return blockLocation; }

  void error(const std::string &text);
  bool failed() const { return diagnostics.failed(); }
  std::string qualified(const std::string &name) const { return prefix + name; }

  WeightSource &weights;
  Diagnostics &diagnostics;
  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int64_t maxSequence;
  std::optional<int64_t> longestSequence;  // that the user may request
  int64_t sinks = 0, cacheTokens = 0;      // sink tokens, and all tokens that a query then sees
  bool prefixes = false, segmented = false, embeds = false;

private:
  enum class Origin { Weight, KvCache, Value };
  using Key = std::pair<Origin, uintptr_t>;

  // A function that is being written: an entry, or a block that `outer`, an entry, calls. A block takes values from
  // outside as arguments, in the order of `captures`.
  struct Function {
    mlir::func::FuncOp op;
    Function *outer = nullptr;
    int64_t scope = 0;
    mlir::Value sequences;
    std::map<Key, mlir::Value> values;
    std::vector<Key> captures;
  };

  template <typename Handle> bool usable(const Handle &handle) {
    if (!handle)
      error("an operation has an empty operand");
    return static_cast<bool>(handle);
  }
  bool usable(const Tensor &tensor);
  mlir::func::FuncOp entry() { return (function->outer ? function->outer : function)->op; }
  mlir::Value local(mlir::Value value);
  mlir::Value symbolValue(Key key, const Symbol &symbol);
  mlir::Value outerValue(Key key);
  Symbol makeSymbol(const std::string &name, mlir::Type type);
  int64_t insertKvCache(const std::string &name, KvCacheType type);
  void insertAfter(mlir::Operation *symbol);
  void insertWeight(const Symbol &symbol, mlir::Attribute source, mlir::ArrayAttr of);
  void insertStored(Symbol symbol, const WeightOrigin &origin);
  void startEntry(Function &started, llvm::StringRef name);
  Tensor startBlock(Function &started, Tensor x);
  void endBlock(const Function &block, Tensor result);
  mlir::func::FuncOp shared(mlir::func::FuncOp block, const std::string &name);
  Tensor call(mlir::func::FuncOp block, Tensor x, const std::vector<Key> &captures);

  mlir::Operation *lastWeight = nullptr, *lastKvCache = nullptr;
  std::vector<Symbol> weightSymbols, kvCacheSymbols;
  std::map<std::string, int64_t> weightsByName, kvCachesByName;
  std::vector<mlir::func::FuncOp> blocks;
  int64_t scopes = 0;  // layers written so far
  Function model, encoder;
  Function *function = &model;
  std::vector<Tensor> results;
  llvm::SmallVector<mlir::Attribute> resultKinds;
  std::string prefix;  // of names in the current layer
  mlir::Location blockLocation;
};

// One of #talc.file, #talc.random, #talc.fill, #talc.quantized and #talc.lookup.
mlir::Attribute sourceAttr(mlir::OpBuilder &builder, const WeightOrigin &origin);

}  // namespace talc
