// SPDX-License-Identifier: Apache-2.0
// Verifiers and folders of the talc dialect.
#include "dialects/talc/LookupSource.h"
#include "dialects/talc/OpChecks.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#define GET_OP_CLASSES
#include "dialects/talc/TalcOps.cpp.inc"

using namespace mlir;

namespace talc {

//===--- weights and KV caches ----------------------------------------------------------------------------------===//

static LogicalResult verifyBlocks(Operation *op, RankedTensorType type) {
  if (hasWholeBlocks(type))
    return success();
  const StorageFormat &format = elementFormat(type);
  return op->emitOpError() << "has the type " << type << ", expected rows in whole blocks of " << format.blockValues
                           << " values";
}

static LogicalResult verifyFile(WeightOp op, FileSourceAttr file) {
  if (file.getOffset() < 0)
    return op.emitOpError() << "begins at the negative offset " << file.getOffset();
  if (!getStorageFormat(file.getElementType()))
    return op.emitOpError() << "is stored as " << file.getElementType() << ", expected " << formatAlternatives();
  return verifyBlocks(op, cast<RankedTensorType>(cast<RankedTensorType>(op.getType()).clone(file.getElementType())));
}

static LogicalResult verifyQuantized(WeightOp op, QuantizedSourceAttr source) {
  auto type = cast<RankedTensorType>(op.getType());
  if (type.getRank() != 2 || source.getRows() <= 0 || source.getColumns() <= 0)
    return op.emitOpError() << "is " << type << " with a scale for " << source.getRows() << " rows and "
                            << source.getColumns() << " columns, expected a matrix and sizes > 0";
  constexpr int64_t maxCenter = 1 << 16;
  for (CodesAttr codes : {source.getCodes(), source.getZeros()})
    if (codes && codes.getBits() > 16)
      return op.emitOpError() << "has codes or zero points of " << codes.getBits() << " bits, expected at most 16";
  if (source.getCenter() < -maxCenter || source.getCenter() > maxCenter)
    return op.emitOpError() << "has the center " << source.getCenter() << ", expected a small number";
  const StorageFormat *rounded = getStorageFormat(source.getRounded()),
                      *format = getStorageFormat(source.getElementType());
  if (!rounded || rounded->blockValues > 1)
    return op.emitOpError() << "is rounded to " << source.getRounded() << ", expected f32, f16 or bf16";
  if (!format || (format->blockValues > 1 ? !format->assemble : format != rounded))
    return op.emitOpError() << "is stored as " << source.getElementType()
                            << ", expected the type that it is rounded to, or blocks of codes and scales";
  return verifyBlocks(op, cast<RankedTensorType>(type.clone(source.getElementType())));
}

static LogicalResult verifyValues(WeightOp op, ValuesSourceAttr source, RankedTensorType type) {
  if (source.getValues().getType().getShape() == type.getShape())
    return success();
  return op.emitOpError() << "has values of another shape: " << source.getValues().getType();
}

// Checks that `sources` weights suit a recipe.
static LogicalResult verifyRecipe(Operation *op, Attribute recipe, size_t sources, RankedTensorType result) {
  auto takes = [&](size_t count) { return expect(op, "number of weights of the recipe", sources, count); };
  return llvm::TypeSwitch<Attribute, LogicalResult>(recipe)
      .Case<TransposeRecipeAttr, PadRecipeAttr, ConvertRecipeAttr, PlusRecipeAttr>([&](Attribute) { return takes(1); })
      .Case([&](RowsRecipeAttr attr) {
        return result.getDimSize(0) % attr.getCount() == 0
                   ? takes(1)
                   : op->emitOpError() << "takes " << attr.getCount() << " rows at a time for " << result.getDimSize(0);
      })
      .Case([&](HalfSplitRecipeAttr attr) {
        return result.getDimSize(0) % attr.getWidth() == 0 ? takes(1)
                                                           : op->emitOpError()
                                                                 << "orders groups of " << attr.getWidth()
                                                                 << " rows, but has " << result.getDimSize(0);
      })
      .Case([&](PackRecipeAttr) {
        return result.getRank() == 3 ? takes(1) : op->emitOpError("is packed, expected a shape [panels, depth, lanes]");
      })
      .Case([&](InterleaveRecipeAttr attr) {
        return attr.getGroup() > 0 ? takes(2) : op->emitOpError("interleaves groups of 0 rows");
      })
      .Case([&](ConcatRecipeAttr) { return sources > 0 ? success() : op->emitOpError("concatenates 0 weights"); })
      .Case([&](RotaryTableRecipeAttr attr) {
        bool fits = attr.getDigits() == 0 || (result.getRank() == 2 && result.getDimSize(0) == 3 * attr.getDigits());
        return fits && result.getRank() == 2 && result.getDimSize(1) % 2 == 0
                   ? takes(0)
                   : op->emitOpError("is a rotary table, expected a shape [positions, even width]");
      })
      .Case([&](SinusoidTableRecipeAttr) {
        return result.getRank() == 2 ? takes(0)
                                     : op->emitOpError("is a table of sinusoids, expected a shape [positions, width]");
      })
      .Case([&](RelativeBiasRecipeAttr) {
        return result.getRank() == 2 && result.getDimSize(1) % 2 == 1
                   ? takes(1)
                   : op->emitOpError("is a relative bias, expected a shape [heads, odd number of distances]");
      })
      .Case([&](RelativeKeysRecipeAttr attr) {
        return result.getRank() <= 2 && result.getDimSize(0) % attr.getHeads() == 0
                   ? takes(result.getRank() == 2 ? 1 : 3)
                   : op->emitOpError() << "is made of relative keys, expected rows for " << attr.getHeads() << " heads";
      })
      .Case([&](AlibiRecipeAttr attr) {
        return result.getRank() == 2 && (attr.getRounded() || result.getDimSize(1) % 2 == 1)
                   ? takes(0)
                   : op->emitOpError("is an ALiBi table, expected a shape [heads, odd number of distances]");
      })
      .Case([&](FillSourceAttr) { return takes(0); })
      .Default([&](Attribute) { return op->emitOpError() << "has the unknown recipe " << recipe; });
}

LogicalResult WeightOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape() || type.getRank() == 0)
    return emitOpError() << "has the type " << type << ", expected a static shape of at least one dimension";
  int64_t elements = int64_t(1) << 44;  // more do not fit into an address space
  for (int64_t size : type.getShape())
    elements = size > 0 ? elements / size : elements;
  if (elements == 0)
    return emitOpError() << "has the type " << type << ", which is too large";
  if (failed(verifyBlocks(*this, type)))
    return failure();
  bool isRecipe =
      !isa<FileSourceAttr, QuantizedSourceAttr, LookupSourceAttr, ValuesSourceAttr, RandomSourceAttr, FillSourceAttr>(
          getSource());
  if (!isRecipe && getOf())
    return emitOpError("has source weights, but its source is not a recipe");
  if (auto file = dyn_cast<FileSourceAttr>(getSource()))
    return verifyFile(*this, file);
  if (auto quantized = dyn_cast<QuantizedSourceAttr>(getSource()))
    return verifyQuantized(*this, quantized);
  if (isa<LookupSourceAttr>(getSource()))
    return type.getRank() == 2 ? success() : emitOpError() << "is " << type << ", expected a matrix";
  if (auto values = dyn_cast<ValuesSourceAttr>(getSource()))
    return verifyValues(*this, values, type);
  if (isa<RandomSourceAttr, FillSourceAttr>(getSource()))
    return success();
  return verifyRecipe(*this, getSource(), getOf() ? getOf()->size() : 0, type);
}

LogicalResult DeriveOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (failed(verifyBlocks(*this, type)))
    return failure();
  return verifyRecipe(*this, getRecipe(), getSources().size(), type);
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (Attribute source : getOf() ? getOf()->getValue() : ArrayRef<Attribute>())
    if (!symbols.lookupNearestSymbolFrom<WeightOp>(*this, cast<FlatSymbolRefAttr>(source)))
      return emitOpError() << "is made of " << source << ", which is not a " << getOperationName();
  return success();
}

template <typename SymbolOp, typename UserOp>
static LogicalResult verifySymbol(UserOp op, SymbolTableCollection &symbols) {
  auto symbol = symbols.lookupNearestSymbolFrom<SymbolOp>(op, op.getNameAttr());
  if (!symbol)
    return op.emitOpError() << "names " << op.getNameAttr() << ", which is not a " << SymbolOp::getOperationName();
  if (symbol.getType() != op.getResult().getType())
    return op.emitOpError() << "has the type " << op.getResult().getType() << ", but " << op.getNameAttr() << " is "
                            << symbol.getType();
  return success();
}

LogicalResult GetWeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySymbol<WeightOp>(*this, symbols);
}

LogicalResult GetKvCacheOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifySymbol<KvCacheOp>(*this, symbols);
}

// Whether a KV cache holds keys and values of single tokens.
static LogicalResult verifyRows(Operation *op, KvCacheType cache) {
  return cache.getRole() != KvCacheRole::memory
             ? success()
             : op->emitOpError("is of a compressive memory, which does not hold keys and values of tokens");
}

LogicalResult KvAppendOp::verify() {
  auto cache = cast<KvCacheType>(getCache().getType());
  int64_t width = cache.getHeads() * cache.getWidth();
  if (failed(verifyRows(*this, cache)))
    return failure();
  if (failed(expect(*this, "width of the keys", features(getKeys()), width)))
    return failure();
  return expect(*this, "width of the values", features(getValues()), width);
}

LogicalResult KvReadOp::verify() {
  auto cache = cast<KvCacheType>(getCache().getType());
  int64_t width = cache.getHeads() * cache.getWidth();
  if (failed(verifyRows(*this, cache)))
    return failure();
  if (failed(expect(*this, "width of the keys", features(getKeys()), width)))
    return failure();
  return expect(*this, "width of the values", features(getValues()), width);
}

//===--- lookups and selections
//-------------------------------------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  if (depth(getTable()) < 0)
    return emitOpError() << "has the table " << getTable().getType() << ", expected a matrix or panels";
  if (failed(expect(*this, "width of the result", features(getResult()), depth(getTable()))))
    return failure();
  if (static_cast<int64_t>(getFirst().value_or(0)) < 0)
    return emitOpError() << "has a table of ids from " << static_cast<int64_t>(*getFirst()) << " on";
  return expect(*this, "row count of the result", rows(getResult()), length(getIds()));
}

LogicalResult PositionOp::verify() {
  if (static_cast<int64_t>(getOffset()) < 0)
    return emitOpError() << "has the negative offset " << static_cast<int64_t>(getOffset());
  if (bool(getIds()) != bool(getPadding()))
    return emitOpError("has token ids or the id of padding, expected both or neither");
  if (getIds() && (getOffset() == 0 || length(getIds()) != rows(getResult())))
    return emitOpError("has padding, expected an offset of at least 1 and as many token ids as rows");
  return expect(*this, "width of the result", features(getResult()), features(getTable()));
}

LogicalResult TokenTypeOp::verify() {
  return expect(*this, "width of the result", features(getResult()), features(getTable()));
}

LogicalResult SelectOp::verify() {
  if (static_cast<int64_t>(getOutput()) < 0)
    return emitOpError() << "is for the negative output " << static_cast<int64_t>(getOutput());
  return expect(*this, "width of the result", features(getResult()), features(getX()));
}

LogicalResult SliceOp::verify() {
  int64_t offset = getOffset(), width = features(getResult());
  if (offset < 0 || offset > features(getX()) || width > features(getX()) - offset)
    return emitOpError() << "takes " << width << " features from " << offset << " on, of " << features(getX());
  return expect(*this, "row count of the result", rows(getResult()), rows(getX()));
}

// slice(x at 0) of the whole width = x
OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getX().getType() == getResult().getType() ? getX() : OpFoldResult();
}

// scale(x by 1) = x
OpFoldResult ScaleOp::fold(FoldAdaptor) {
  return getFactor().convertToDouble() == 1.0 ? getX() : OpFoldResult();
}

LogicalResult JoinOp::verify() {
  int64_t heads = getHeads();
  if (heads < 1 || features(getX()) % heads != 0 || features(getY()) % heads != 0)
    return emitOpError() << "divides " << features(getX()) << " and " << features(getY()) << " features into " << heads
                         << " heads";
  if (failed(expect(*this, "row count of y", rows(getY()), rows(getX()))) ||
      failed(expect(*this, "row count of the result", rows(getResult()), rows(getX()))))
    return failure();
  return expect(*this, "width of the result", features(getResult()), features(getX()) + features(getY()));
}

//===--- layers -----------------------------------------------------------------------------------------------===//

// The number of outputs must be N, or fit the panels that [N, K] was packed into, group by group.
static LogicalResult verifyOutputs(LinearOp op) {
  auto weight = cast<RankedTensorType>(op.getWeight().getType());
  int64_t outputs = features(op.getResult()), groups = op.getGroups();
  if (groups < 1 || outputs % groups != 0)
    return op.emitOpError() << "divides " << outputs << " outputs into " << groups << " groups";
  if (weight.getRank() == 2)
    return expect(op, "width of the result", outputs, weight.getDimSize(0));
  int64_t lanes = weight.getDimSize(2);
  if (lanes <= 0)
    return op.emitOpError() << "has a weight with panels of " << lanes << " lanes";
  return expect(op, "number of panels of the weight", weight.getDimSize(0),
                groups * ((outputs / groups + lanes - 1) / lanes));
}

// The bias of a packed weight may be padded to whole panels.
static LogicalResult verifyBias(LinearOp op) {
  auto weight = cast<RankedTensorType>(op.getWeight().getType());
  if (!op.getBias())
    return success();
  if (weight.getRank() == 3 && op.getGroups() == 1 &&
      length(op.getBias()) == weight.getDimSize(0) * weight.getDimSize(2))
    return success();
  return expect(op, "length of the bias", length(op.getBias()), features(op.getResult()));
}

// Groups may have more features than are summed.
static LogicalResult verifyFeatures(LinearOp op) {
  int64_t groups = op.getGroups(), width = features(op.getX()), summed = depth(op.getWeight());
  if (groups > 1 && width % groups == 0 && width / groups >= summed)
    return success();
  return expect(op, "width of x", width, summed * groups);
}

LogicalResult QuantizeOp::verify() {
  if (failed(expect(*this, "row count of the result", rows(getResult()), rows(getX()))) ||
      failed(expect(*this, "width of the result", features(getResult()), features(getX()))))
    return failure();
  if (hasWholeBlocks(cast<ShapedType>(getResult().getType())))
    return success();
  return emitOpError() << "quantizes " << features(getX()) << " features, expected a multiple of "
                       << elementFormat(cast<ShapedType>(getResult().getType())).jointValues();
}

LogicalResult LinearOp::verify() {
  if (depth(getWeight()) == 0)
    return emitOpError("sums 0 features");
  if (failed(verifyOutputs(*this)) || failed(verifyFeatures(*this)) ||
      failed(expect(*this, "row count of the result", rows(getResult()), rows(getX()))))
    return failure();
  return verifyBias(*this);
}

// Without packing: two matrices [F, K]. Packed: panels that hold lanes/2 features of each.
LogicalResult GatedLinearOp::verify() {
  if (failed(expect(*this, "width of x", features(getX()), depth(getWeight()))) ||
      failed(expect(*this, "row count of the result", rows(getResult()), rows(getX()))))
    return failure();
  auto weight = cast<RankedTensorType>(getWeight().getType());
  int64_t outputs = features(getResult());
  if (getUp()) {
    if (getUp().getType() != weight)
      return emitOpError() << "has a gate of type " << weight << " and an up projection of type " << getUp().getType();
    return expect(*this, "width of the result", outputs, weight.getDimSize(0));
  }
  if (weight.getRank() != 3 || weight.getDimSize(2) <= 0 || weight.getDimSize(2) % 2 != 0)
    return emitOpError() << "has the weight " << weight << ", expected [panels, depth, even number of lanes]";
  int64_t group = weight.getDimSize(2) / 2;
  return expect(*this, "number of panels of the weight", weight.getDimSize(0), (outputs + group - 1) / group);
}

LogicalResult NormOp::verify() {
  int64_t groups = getGroups(), width = features(getX());
  if (groups <= 0 || width % groups != 0)
    return emitOpError() << "divides " << width << " features into " << groups << " groups";
  double epsilon = getEpsilon().convertToDouble();
  if (!(epsilon >= 0))
    return emitOpError() << "has the epsilon " << epsilon << ", expected a number >= 0";
  auto fits = [&](StringRef what, Value vector) {
    return length(vector) == width ? success() : expect(*this, what, length(vector), width / groups);
  };
  if (failed(fits("length of the scale", getScale())))
    return failure();
  return getBias() ? fits("length of the bias", getBias()) : success();
}

LogicalResult LogSoftmaxOp::verify() {
  int64_t words = features(getResult()), last = 0, clusters = getTails().size();
  if (failed(expect(*this, "row count of the result", rows(getResult()), rows(getX()))) ||
      failed(expect(*this, "width of x", features(getX()), words + clusters)))
    return failure();
  for (int64_t tail : getTails())
    if (tail <= std::exchange(last, tail) || tail >= words)
      return emitOpError() << "has a cluster from " << tail << " on, expected ascending numbers between 0 and "
                           << words;
  return words > 0 ? success() : emitOpError("has 0 words");
}

template <typename Op> static LogicalResult verifyScaling(Op op, Attribute scaling) {
  int64_t rotary = op.getRotary();
  if (isa_and_present<DynamicScalingAttr>(scaling) && rotary <= 2)
    return op.emitOpError() << "rotates " << rotary << " features with a growing base, expected more than 2";
  if (isa_and_present<YarnScalingAttr>(scaling) && !(op.getBase().convertToDouble() > 1))
    return op.emitOpError() << "has the base " << op.getBase().convertToDouble() << ", expected more than 1";
  if (auto listed = dyn_cast_if_present<ListedScalingAttr>(scaling))
    return expect(op, "number of factors", listed.getFactors().size(), rotary / 2);
  return success();
}

// `op` is talc.rope, or the rotation back.
template <typename Op> static LogicalResult verifyRotation(Op op, Value x) {
  int64_t heads = op.getHeads(), width = features(x), rotary = op.getRotary();
  if (heads <= 0 || width % heads != 0)
    return op.emitOpError() << "divides " << width << " features into " << heads << " heads";
  if (rotary <= 0 || rotary % 2 != 0 || rotary > width / heads)
    return op.emitOpError() << "rotates " << rotary << " features of heads of width " << width / heads
                            << ", expected an even number up to that width";
  if (!(op.getBase().convertToDouble() > 0))
    return op.emitOpError() << "has the base " << op.getBase().convertToDouble() << ", expected a number > 0";
  if (failed(verifyScaling(op, op.getScaling().value_or(Attribute()))))
    return failure();
  int64_t last = op.getLast(), digits = op.getDigits();
  if (last < 0 || digits < 0 || (digits > 0 && !op.getTable()))
    return op.emitOpError() << "has the last position " << last << " and digits in base " << digits
                            << ", expected numbers >= 0, and digits only with a table";
  if (digits > 0 && failed(expect(op, "row count of the table", rows(op.getTable()), 3 * digits)))
    return failure();
  return op.getTable() ? expect(op, "width of the table", features(op.getTable()), rotary) : success();
}

LogicalResult RopeOp::verify() {
  return verifyRotation(*this, getX());
}

LogicalResult RopeDgradOp::verify() {
  return verifyRotation(*this, getGradient());
}

LogicalResult ClampOp::verify() {
  double bound = getBound().convertToDouble();
  return bound > 0 ? success() : emitOpError() << "has the bound " << bound << ", expected a number > 0";
}

}  // namespace talc
