// SPDX-License-Identifier: Apache-2.0
// Writes symbols, functions and calls of the module that a GraphBuilder makes.
#include "frontends/Graph.h"

#include "dialects/Invariant.h"
#include "dialects/talc/LogitParts.h"
#include "runtime/device/Step.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc {

// The maximum number of values in a weight or a KV cache, so that sizes in bytes never overflow.
constexpr int64_t maxElements = int64_t(1) << 56;

static bool elementsFit(llvm::ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size <= 0 || size > maxElements / product)
      return false;
    product *= size;
  }
  return true;
}

GraphBuilder::Graph::Graph(MLIRContext &context, WeightSource &weights, Diagnostics &diagnostics, int64_t maxSequence)
    : weights(weights), diagnostics(diagnostics), builder(&context), maxSequence(maxSequence),
      blockLocation(UnknownLoc::get(&context)) {
  context.loadDialect<TalcDialect, func::FuncDialect>();
  module = ModuleOp::create(blockLocation);
  builder.setInsertionPointToStart(module->getBody());
  startEntry(model, "model");
}

void GraphBuilder::Graph::startEntry(Function &started, llvm::StringRef name) {
  auto ids = RankedTensorType::get({ShapedType::kDynamic}, builder.getI32Type());
  auto type = builder.getFunctionType({ids, SequencesType::get(builder.getContext())}, {});
  started.op = func::FuncOp::create(builder, blockLocation, name, type);
  started.op->setAttr(entryAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(started.op.addEntryBlock());
  started.sequences = started.op.getArgument(1);
}

void GraphBuilder::Graph::error(const std::string &text) {
  std::string place = prefix.empty() ? "" : "in layer " + prefix.substr(0, prefix.size() - 1) + ": ";
  diagnostics.error(ImportError::ModelDefinition, "model definition: " + place + text);
}

// The verifiers of the dialect report what does not fit.
bool GraphBuilder::Graph::check(Operation *op) {
  std::string text;
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) { text = diagnostic.str(); });
  if (succeeded(verify(op)))
    return true;
  error(text);
  return false;
}

bool GraphBuilder::Graph::usable(const Tensor &tensor) {
  if (!tensor)
    error("an operation has an empty operand");
  else if (tensor.scope != function->scope && !(function->outer && tensor.scope == function->outer->scope))
    error("a tensor is used outside of the layer that made it");
  else
    return true;
  return false;
}

bool GraphBuilder::Graph::readyWeight(Weight weight, int64_t rank) {
  if (!ready(weight))
    return false;
  Shape sizes = shape(weight);
  if (static_cast<int64_t>(sizes.size()) == rank)
    return true;
  error(fmt::format("weight '{}' has the shape {}, expected {} dimension(s)", weightName(weight), shapeText(sizes),
                    rank));
  return false;
}

//===--- handles ------------------------------------------------------------------------------------------------===//

Tensor GraphBuilder::Graph::tensor(Value value) const {
  Tensor result;
  result.scope = function->scope;
  result.value = value.getAsOpaquePointer();
  result.features = cast<RankedTensorType>(value.getType()).getDimSize(1);
  return result;
}

Weight GraphBuilder::Graph::weight(int64_t index) {
  Weight result;
  result.index = index;
  return result;
}

KvCache GraphBuilder::Graph::kvCache(int64_t index) {
  KvCache result;
  result.index = index;
  return result;
}

GraphBuilder::Shape GraphBuilder::Graph::shape(Weight weight) const {
  return cast<RankedTensorType>(weightSymbols[weight.index].type).getShape().vec();
}

//===--- symbols ------------------------------------------------------------------------------------------------===//

GraphBuilder::Graph::Symbol GraphBuilder::Graph::makeSymbol(const std::string &name, Type type) {
  llvm::StringRef local = llvm::StringRef(name).drop_front(prefix.size());
  local.consume_back(".weight");
  auto location = NameLoc::get(builder.getStringAttr(local));
  return {FlatSymbolRefAttr::get(builder.getContext(), name), type, location};
}

// Weights come first in the module, then KV caches, then functions.
void GraphBuilder::Graph::insertAfter(Operation *symbol) {
  if (symbol)
    builder.setInsertionPointAfter(symbol);
  else
    builder.setInsertionPointToStart(module->getBody());
}

void GraphBuilder::Graph::insertWeight(const Symbol &symbol, Attribute source, ArrayAttr of) {
  OpBuilder::InsertionGuard guard(builder);
  insertAfter(lastWeight);
  lastWeight = WeightOp::create(builder, symbol.location, symbol.name.getAttr(), TypeAttr::get(symbol.type), source, of,
                                StringAttr());
}

int64_t GraphBuilder::Graph::addWeight(const std::string &name, const Shape &shape, const Shape &stored,
                                       const std::string &why) {
  if (failed())
    return -1;
  if (!elementsFit(shape)) {
    error(fmt::format("weight '{}' has the impossible shape {}", name, shapeText(shape)));
    return -1;
  }
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  auto [known, isNew] = weightsByName.try_emplace(name, weightSymbols.size());
  if (!isNew) {
    if (weightSymbols[known->second].type == type)
      return known->second;
    error(fmt::format("weight '{}' is used with two shapes", name));
    return -1;
  }
  auto origin = weights.find(name, stored, why);
  if (!origin)
    return -1;
  weightSymbols.push_back(makeSymbol(name, type));
  insertStored(weightSymbols.back(), *origin);
  return known->second;
}

// The weight, or a weight in the order of the file and the recipe that reorders it.
void GraphBuilder::Graph::insertStored(Symbol symbol, const WeightOrigin &origin) {
  auto *stored = std::get_if<StoredWeight>(&origin);
  StoredOrder order = stored ? stored->order : StoredOrder();
  auto type = cast<RankedTensorType>(symbol.type);
  Attribute recipe;
  if (order.kind == StoredOrder::Kind::Transposed) {
    recipe = TransposeRecipeAttr::get(builder.getContext());
    type = type.clone({type.getDimSize(1), type.getDimSize(0)});
  } else if (order.kind == StoredOrder::Kind::Pairs) {
    recipe = HalfSplitRecipeAttr::get(builder.getContext(), order.group, order.group);
  } else if (order.kind == StoredOrder::Kind::PlusOne) {
    recipe = PlusRecipeAttr::get(builder.getContext(), llvm::APFloat(-1.0));
  }
  if (!recipe)
    return insertWeight(symbol, sourceAttr(builder, origin), ArrayAttr());
  auto name = FlatSymbolRefAttr::get(builder.getContext(), symbol.name.getValue().str() + ".stored");
  insertWeight({name, type, symbol.location}, sourceAttr(builder, origin), ArrayAttr());
  if (order.kind != StoredOrder::Kind::Pairs) {  // what recipes may undo
    weightsByName.emplace(name.getValue().str(), weightSymbols.size());
    weightSymbols.push_back({name, type, symbol.location});
  }
  insertWeight(symbol, recipe, builder.getArrayAttr({name}));
}

Weight GraphBuilder::Graph::recipeSource(Weight result, Attribute recipe) {
  auto stored = weightsByName.find(weightName(result) + ".stored");
  auto symbol = module->lookupSymbol<WeightOp>(weightName(result));
  bool isThis = stored != weightsByName.end() && symbol && symbol.getSource() == recipe;
  return isThis ? weight(stored->second) : Weight();
}

int64_t GraphBuilder::Graph::addRecipe(const std::string &name, const Shape &shape, Attribute recipe,
                                       const std::vector<Weight> &sources) {
  if (failed())
    return -1;
  if (!elementsFit(shape)) {
    error(fmt::format("weight '{}' has the impossible shape {}", name, shapeText(shape)));
    return -1;
  }
  auto [known, isNew] = weightsByName.try_emplace(name, weightSymbols.size());
  if (!isNew)
    return known->second;
  Symbol symbol = makeSymbol(name, RankedTensorType::get(shape, builder.getF32Type()));
  llvm::SmallVector<Attribute> of;
  for (Weight source : sources) {
    of.push_back(weightSymbols[source.index].name);
    symbol.location = location(source);
  }
  weightSymbols.push_back(symbol);
  insertWeight(symbol, recipe, of.empty() ? ArrayAttr() : builder.getArrayAttr(of));
  return known->second;
}

int64_t GraphBuilder::Graph::addKvCache(const std::string &name, int64_t heads, int64_t width, KvCacheRole role,
                                        int64_t window) {
  constexpr int64_t stepTokens = 512;  // tokens of a sequence in a step for which a ring has room
  if (failed())
    return -1;
  int64_t ring = window > 0 && !segmented ? window + stepTokens - 1 : maxSequence,
          capacity = std::min(ring, maxSequence);
  if (!elementsFit({heads, width, capacity})) {
    error(fmt::format("KV cache '{}' cannot hold {} tokens of {} heads of width {}", name, capacity, heads, width));
    return -1;
  }
  auto type = capacity < maxSequence ? KvCacheType::get(builder.getContext(), heads, width, capacity, window, sinks)
                                     : KvCacheType::get(builder.getContext(), heads, width, capacity, role);
  return insertKvCache(name, type);
}

int64_t GraphBuilder::Graph::insertKvCache(const std::string &name, KvCacheType type) {
  auto [known, isNew] = kvCachesByName.try_emplace(name, kvCacheSymbols.size());
  if (!isNew) {
    if (kvCacheSymbols[known->second].type == type)
      return known->second;
    error(fmt::format("KV cache '{}' is used with two shapes", name));
    return -1;
  }
  kvCacheSymbols.push_back(makeSymbol(name, type));
  OpBuilder::InsertionGuard guard(builder);
  insertAfter(lastKvCache ? lastKvCache : lastWeight);
  const Symbol &symbol = kvCacheSymbols.back();
  lastKvCache = KvCacheOp::create(builder, symbol.location, symbol.name.getAttr(), TypeAttr::get(type), StringAttr());
  return known->second;
}

//===--- values -------------------------------------------------------------------------------------------------===//

// The value of a symbol: fetched in the entry function, an argument of a block.
Value GraphBuilder::Graph::symbolValue(Key key, const Symbol &symbol) {
  Value &value = function->values[key];
  if (value)
    return value;
  if (function->outer) {
    function->captures.push_back(key);
    return value = function->op.getBody().addArgument(symbol.type, symbol.location);
  }
  if (key.first == Origin::Weight)
    return value = GetWeightOp::create(builder, symbol.location, symbol.type, symbol.name);
  return value = GetKvCacheOp::create(builder, symbol.location, symbol.type, symbol.name);
}

Value GraphBuilder::Graph::value(Weight weight) {
  return weight ? symbolValue({Origin::Weight, weight.index}, weightSymbols[weight.index]) : Value();
}

Value GraphBuilder::Graph::value(KvCache cache) {
  return cache ? symbolValue({Origin::KvCache, cache.index}, kvCacheSymbols[cache.index]) : Value();
}

Value GraphBuilder::Graph::value(Tensor tensor) {
  Value value = Value::getFromOpaquePointer(tensor.value);
  return !tensor || tensor.scope == function->scope ? value : local(value);
}

// A value of the entry function that is used in a block becomes an argument.
Value GraphBuilder::Graph::local(Value value) {
  if (!function->outer)
    return value;
  Key key{Origin::Value, reinterpret_cast<uintptr_t>(value.getAsOpaquePointer())};
  Value &local = function->values[key];
  if (!local) {
    function->captures.push_back(key);
    local = function->op.getBody().addArgument(value.getType(), value.getLoc());
  }
  return local;
}

Value GraphBuilder::Graph::outerValue(Key key) {
  switch (key.first) {
  case Origin::Weight:
    return value(weight(key.second));
  case Origin::KvCache:
    return value(kvCache(key.second));
  case Origin::Value:
    return Value::getFromOpaquePointer(reinterpret_cast<const void *>(key.second));
  }
  endByDefect("the origin is known");
}

//===--- repeated blocks ----------------------------------------------------------------------------------------===//

// The value of `x` inside of the block.
Tensor GraphBuilder::Graph::startBlock(Function &started, Tensor x) {
  llvm::SmallVector<Type> arguments;
  if (x)
    arguments.push_back(activations(x.width()));
  arguments.push_back(SequencesType::get(builder.getContext()));
  builder.setInsertionPoint(function->op);
  started.op = func::FuncOp::create(builder, blockLocation, "", builder.getFunctionType(arguments, {}));
  started.op.setPrivate();
  builder.setInsertionPointToStart(started.op.addEntryBlock());
  started.sequences = started.op.getArgument(arguments.size() - 1);
  started.outer = function;
  started.scope = ++scopes;
  function = &started;
  return x ? tensor(started.op.getArgument(0)) : Tensor();
}

void GraphBuilder::Graph::endBlock(const Function &block, Tensor result) {
  llvm::SmallVector<Value> values;
  if (result)
    values.push_back(value(result));
  func::ReturnOp::create(builder, blockLocation, values);
  func::FuncOp op = block.op;
  op.setType(builder.getFunctionType(op.getBody().getArgumentTypes(), ValueRange(values).getTypes()));
}

// The function to call for `block`: an equal one if there is one, else `block` itself under its own name.
func::FuncOp GraphBuilder::Graph::shared(func::FuncOp block, const std::string &name) {
  for (func::FuncOp known : blocks) {
    if (known.getFunctionType() != block.getFunctionType() ||
        !OperationEquivalence::isRegionEquivalentTo(&known.getBody(), &block.getBody(),
                                                    OperationEquivalence::IgnoreLocations))
      continue;
    block.erase();
    return known;
  }
  std::string unique = name;
  for (int64_t variant = 2; module->lookupSymbol(unique); ++variant)
    unique = fmt::format("{}_{}", name, variant);
  block.setName(unique);
  blocks.push_back(block);
  return block;
}

Tensor GraphBuilder::Graph::call(func::FuncOp block, Tensor x, const std::vector<Key> &captures) {
  llvm::SmallVector<Value> arguments;
  if (x)
    arguments.push_back(value(x));
  arguments.push_back(sequences());
  for (Key key : captures)
    arguments.push_back(outerValue(key));
  auto call = func::CallOp::create(builder, blockLocation, block, arguments);
  return call.getNumResults() == 1 ? tensor(call.getResult(0)) : Tensor();
}

Tensor GraphBuilder::Graph::layer(const std::string &name, int64_t number, Tensor x, const Body &body) {
  if (function->outer) {
    error(fmt::format("the repeated block '{}' stands inside another", name));
    return {};
  }
  Function *outer = function;
  Location outerLocation = std::exchange(blockLocation, NameLoc::get(builder.getStringAttr(name)));
  Function block;
  Tensor inner = startBlock(block, x);
  prefix = fmt::format("{}.{}.", name, number);
  Tensor result = body(inner, number);
  bool complete = x ? ready(result) : !failed();
  if (complete)
    endBlock(block, result);
  function = outer;
  prefix.clear();
  builder.setInsertionPointToEnd(&outer->op.getBody().front());
  if (complete)
    result = call(shared(block.op, name), x, block.captures);
  else
    block.op.erase();
  blockLocation = outerLocation;
  return complete ? result : Tensor();
}

//===--- entries ------------------------------------------------------------------------------------------------===//

void GraphBuilder::Graph::writeEncoder(const std::function<void()> &body) {
  if (function != &model || encoder.op)
    return error("a model has one encoder, which stands outside of other parts");
  builder.setInsertionPoint(model.op);
  startEntry(encoder, "encoder");
  encoder.scope = ++scopes;
  function = &encoder;
  body();
  func::ReturnOp::create(builder, blockLocation);
  function = &model;
  builder.setInsertionPointToEnd(&model.op.getBody().front());
}

void GraphBuilder::Graph::addResult(Tensor rows, llvm::StringRef kind) {
  static_assert(GraphBuilder::maxLogitParts + 1 == artifact::maxOutputs);
  if (!ready(rows))
    return;
  size_t maxResults = isLogitPart(builder.getStringAttr(kind)) ? artifact::maxOutputs : artifact::maxResults;
  if (results.size() >= maxResults)
    return error(fmt::format("it has more than {} outputs", maxResults));
  results.push_back(rows);
  resultKinds.push_back(builder.getStringAttr(kind));
}

void GraphBuilder::Graph::finish() {
  if (failed())
    return;
  if (results.empty())
    return error("it has no output");
  checkPrefixes();
  llvm::SmallVector<Value> values;
  for (Tensor result : results)
    values.push_back(value(result));
  func::ReturnOp::create(builder, blockLocation, values);
  model.op.setType(builder.getFunctionType(model.op.getArgumentTypes(), ValueRange(values).getTypes()));
  (*module)->setAttr(maxSequenceAttr, builder.getI64IntegerAttr(maxSequence));
  if (longestSequence)
    (*module)->setAttr(longestSequenceAttr, builder.getI64IntegerAttr(*longestSequence));
  (*module)->setAttr(outputsAttr, builder.getArrayAttr(resultKinds));
  check(*module);
}

}  // namespace talc
