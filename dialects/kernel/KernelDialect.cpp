// SPDX-License-Identifier: Apache-2.0
// Registers the kernel dialect; which rows a buffer has.
#include "dialects/kernel/KernelDialect.h"

#include "dialects/kernel/ByteOps.h"
#include "dialects/kernel/ops/ComputeOpChecks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/kernel/KernelDialect.cpp.inc"
#include "dialects/kernel/KernelEnums.cpp.inc"

// Of #kernel.kv_panels: the element of keys, and that of values if it is another one.
static mlir::ParseResult parseKvPanelElements(mlir::AsmParser &parser, mlir::Type &keys, mlir::Type &values) {
  if (parser.parseType(keys))
    return mlir::failure();
  values = keys;
  return mlir::succeeded(parser.parseOptionalComma()) ? parser.parseType(values) : mlir::success();
}

static void printKvPanelElements(mlir::AsmPrinter &printer, mlir::Type keys, mlir::Type values) {
  printer << keys;
  if (values != keys)
    printer << ", " << values;
}

#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/ByteOps.cpp.inc"

using namespace mlir;

namespace talc::kernel {

void KernelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/kernel/KernelTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/ByteOps.cpp.inc"
      >();
}

Value getBaseBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

std::optional<int64_t> getOutputIndex(Value buffer) {
  if (auto output = buffer.getDefiningOp<OutputOp>())
    return output.getOutput();
  Value rows;
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>(); alloc && !alloc.getDynamicSizes().empty())
    rows = alloc.getDynamicSizes()[0];
  if (auto arena = buffer.getDefiningOp<ArenaOp>())
    rows = arena.getRows();
  auto count = rows ? rows.getDefiningOp<OutputCountOp>() : OutputCountOp();
  return count ? std::optional<int64_t>(count.getOutput()) : std::nullopt;
}

std::optional<int64_t> getOutputIndex(ValueRange operands) {
  for (Value operand : operands)
    if (auto output = getOutputIndex(getBaseBuffer(operand)))
      return output;
  return std::nullopt;
}

LogicalResult BytesOp::verify() {
  auto from = cast<MemRefType>(getBuffer().getType()), to = cast<MemRefType>(getType());
  if (!getStorageFormat(from.getElementType()) || !from.getLayout().isIdentity())
    return emitOpError() << "is of " << from << ", expected contiguous values of a storage format";
  if (to == bytesType(from))
    return success();
  return emitOpError() << "yields " << to << ", expected " << bytesType(from);
}

MemRefType bytesType(MemRefType stored) {
  SmallVector<int64_t> shape = {storedBytes(stored)};
  if (!stored.hasStaticShape())
    shape.insert(shape.begin(), ShapedType::kDynamic);
  return MemRefType::get(shape, IntegerType::get(stored.getContext(), 8));
}

LogicalResult DotOp::verify() {
  int64_t lanes = cast<VectorType>(getSums().getType()).getDimSize(0);
  for (Value bytes : {getCodes(), getX()})
    if (cast<VectorType>(bytes.getType()).getDimSize(0) != 4 * lanes)
      return emitOpError() << "has " << bytes.getType() << " for " << lanes << " sums, expected four bytes for each";
  if (getMaxCode() < 1 || getMaxCode() > (getIsSigned() ? 127 : 255))
    return emitOpError() << "has levels up to " << getMaxCode() << ", expected 1 to " << (getIsSigned() ? 127 : 255);
  return success();
}

LogicalResult DotPairsOp::verify() {
  int64_t lanes = cast<VectorType>(getSums().getType()).getDimSize(0);
  if (cast<VectorType>(getX().getType()).getDimSize(0) == 2 * lanes)
    return success();
  return emitOpError() << "has " << getX().getType() << " for " << lanes << " sums, expected two numbers for each";
}

LogicalResult TableLookupOp::verify() {
  if (getTable().size() == 16)
    return success();
  return emitOpError() << "has a table of " << getTable().size() << " bytes, expected 16";
}

//===--- the layout of states -----------------------------------------------------------------------------------===//

static int64_t roundedUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

LogicalResult KvPanelsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t tokens, Type keys,
                                   Type values) {
  for (Type element : {keys, values})
    if (tokens < 1 || tokens > 4096 || !getStorageFormat(element))
      return emitError() << "panels of " << tokens << " tokens of " << element << ", expected 1 to 4096 tokens of "
                         << formatAlternatives();
  return success();
}

// A token's keys and values; those of a value are filled up to whole lines.
int64_t KvPanelsAttr::getTokenBytes(int64_t heads, int64_t width) const {
  return getStorageFormat(getKeys())->byteSize(heads * width) +
         getStorageFormat(getValues())->byteSize(heads * roundedUp(width, getTokens()));
}

int64_t KvPanelsAttr::getSlotBytes(int64_t heads, int64_t width, int64_t capacity) const {
  return roundedUp(capacity, getTokens()) * getTokenBytes(heads, width);
}

int64_t KvPanelsAttr::getTokenGroup() const {
  return getTokens();
}

int64_t MatricesAttr::getTokenBytes(int64_t, int64_t) const {
  return 0;
}

int64_t MatricesAttr::getSlotBytes(int64_t heads, int64_t width, int64_t capacity) const {
  return capacity > 0 ? 2 * heads * (width + 1) * width * static_cast<int64_t>(sizeof(float)) : 0;
}

int64_t MatricesAttr::getTokenGroup() const {
  return 1;
}

LogicalResult MatricesOp::verify() {
  auto state = cast<KvCacheType>(getCache().getType());
  auto part = cast<MemRefType>(getType());
  if (!isa_and_present<MatricesAttr>(state.getLayout()))
    return emitOpError() << "is of " << state << ", expected a state that is laid out in #kernel.matrices";
  if (part.getElementType().isF32() && part.getLayout().isIdentity() &&
      part.getShape() == ArrayRef<int64_t>(memoryShape(state)))
    return success();
  return emitOpError() << "yields " << part << " of " << state;
}

llvm::SmallVector<int64_t> memoryShape(KvCacheType state) {
  return {state.getHeads(), 2, state.getWidth() + 1, state.getWidth()};
}

static LogicalResult verifyPart(Operation *op, Type state) {
  if (isa_and_present<KvPanelsAttr>(cast<KvCacheType>(state).getLayout()))
    return success();
  return op->emitOpError() << "is of " << state << ", expected a state that is laid out in #kernel.kv_panels";
}

LogicalResult KeysOp::verify() {
  return verifyPart(*this, getCache().getType());
}
LogicalResult ValuesOp::verify() {
  return verifyPart(*this, getCache().getType());
}

KvLayout::KvLayout(KvCacheType state) : heads(state.getHeads()), width(state.getWidth()) {
  auto layout = cast<KvPanelsAttr>(state.getLayout());
  keys = layout.getKeys();
  values = layout.getValues();
  tokens = layout.getTokens();
  panels = roundedUp(state.getCapacity(), tokens) / tokens;
  sinkTokens = state.getSinkTokens();
  sinkPanels = roundedUp(sinkTokens, tokens) / tokens;
  ringPanels = state.isRing() ? panels : 0;
  panels += sinkPanels;
  paddedWidth = roundedUp(width, tokens);
}

int64_t KvLayout::keyBytes() const {
  return storedBytes(keysType());
}

//===--- plans --------------------------------------------------------------------------------------------------===//

std::optional<int64_t> PlanAttr::parameter(StringRef name) const {
  auto found = getParameters().getAs<IntegerAttr>(name);
  return found ? std::optional<int64_t>(found.getInt()) : std::nullopt;
}

Attribute PlanAttr::parse(AsmParser &parser, Type) {
  Builder &b = parser.getBuilder();
  SmallVector<NamedAttribute> numbers;
  auto parseNumber = [&]() -> ParseResult {
    std::string name;
    int64_t value = 0;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseInteger(value))
      return failure();
    numbers.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseNumber))
    return {};
  if (auto twice = DictionaryAttr::findDuplicate(numbers, /*isSorted=*/false)) {
    parser.emitError(parser.getNameLoc()) << "a plan has the number '" << twice->getName().getValue() << "' twice";
    return {};
  }
  return get(b.getContext(), b.getDictionaryAttr(numbers));
}

void PlanAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getParameters(), printer, [&](NamedAttribute entry) {
    printer.printKeywordOrString(entry.getName().getValue());
    printer << " = " << cast<IntegerAttr>(entry.getValue()).getInt();
  });
  printer << ">";
}

}  // namespace talc::kernel
