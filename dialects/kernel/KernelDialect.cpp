// SPDX-License-Identifier: Apache-2.0
// Registers the kernel dialect; views and rows of buffers; verifiers of step ops; layouts of KV caches; plans.
#include "dialects/kernel/KernelDialect.h"

#include "dialects/kernel/ByteOps.h"
#include "dialects/kernel/RecurrenceOps.h"
#include "dialects/kernel/gradients/GradientOps.h"
#include "dialects/kernel/ops/ComputeOpChecks.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/kernel/KernelDialect.cpp.inc"
#include "dialects/kernel/KernelEnums.cpp.inc"

// The element types of #kernel.kv_panels: that of keys, then that of values if it differs.
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
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/RecurrenceOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/gradients/GradientOps.cpp.inc"
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
    return emitOpError() << "has codes up to " << getMaxCode() << ", expected 1 to " << (getIsSigned() ? 127 : 255);
  return success();
}

LogicalResult DotPairsOp::verify() {
  int64_t lanes = cast<VectorType>(getSums().getType()).getDimSize(0);
  if (cast<VectorType>(getX().getType()).getDimSize(0) == 2 * lanes)
    return success();
  return emitOpError() << "has " << getX().getType() << " for " << lanes << " sums, expected two bf16 for each";
}

LogicalResult TableLookupOp::verify() {
  if (getTable().size() == 16)
    return success();
  return emitOpError() << "has a table of " << getTable().size() << " bytes, expected 16";
}

//===--- layouts of KV caches -----------------------------------------------------------------------------------===//

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

// The width of values is padded to a multiple of the lanes of a panel.
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
  auto cache = cast<KvCacheType>(getCache().getType());
  auto view = cast<MemRefType>(getType());
  if (!isa_and_present<MatricesAttr>(cache.getLayout()))
    return emitOpError() << "is of " << cache << ", expected a cache that is laid out in #kernel.matrices";
  if (view.getElementType().isF32() && view.getLayout().isIdentity() &&
      view.getShape() == ArrayRef<int64_t>(memoryShape(cache)))
    return success();
  return emitOpError() << "yields " << view << " for " << cache;
}

llvm::SmallVector<int64_t> memoryShape(KvCacheType cache) {
  return {cache.getHeads(), 2, cache.getWidth() + 1, cache.getWidth()};
}

LogicalResult ColumnsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t columns) {
  constexpr int64_t maxColumns = 1024;
  return columns > 0 && columns <= maxColumns ? success() : emitError() << "has blocks of " << columns << " columns";
}

int64_t ColumnsAttr::getTokenBytes(int64_t, int64_t) const {
  return 0;
}

int64_t ColumnsAttr::getSlotBytes(int64_t heads, int64_t width, int64_t capacity) const {
  return heads * roundedUp(width, getColumns()) * capacity * static_cast<int64_t>(sizeof(float));
}

int64_t ColumnsAttr::getTokenGroup() const {
  return 1;
}

llvm::SmallVector<int64_t> columnsShape(KvCacheType state) {
  int64_t columns = cast<ColumnsAttr>(state.getLayout()).getColumns();
  return {state.getHeads(), roundedUp(state.getWidth(), columns) / columns, state.getCapacity(), columns};
}

LogicalResult ColumnsOp::verify() {
  auto state = cast<KvCacheType>(getCache().getType());
  auto view = cast<MemRefType>(getType());
  if (!isa_and_present<ColumnsAttr>(state.getLayout()))
    return emitOpError() << "is of " << state << ", expected a state that is laid out in #kernel.columns";
  if (view.getElementType().isF32() && view.getLayout().isIdentity() &&
      view.getShape() == ArrayRef<int64_t>(columnsShape(state)))
    return success();
  return emitOpError() << "yields " << view << " for " << state;
}

static LogicalResult verifyKvView(Operation *op, Type cache) {
  if (isa_and_present<KvPanelsAttr>(cast<KvCacheType>(cache).getLayout()))
    return success();
  return op->emitOpError() << "is of " << cache << ", expected a cache that is laid out in #kernel.kv_panels";
}

LogicalResult KeysOp::verify() {
  return verifyKvView(*this, getCache().getType());
}
LogicalResult ValuesOp::verify() {
  return verifyKvView(*this, getCache().getType());
}

KvLayout::KvLayout(KvCacheType cache) : heads(cache.getHeads()), width(cache.getWidth()) {
  auto layout = cast<KvPanelsAttr>(cache.getLayout());
  keys = layout.getKeys();
  values = layout.getValues();
  tokens = layout.getTokens();
  panels = roundedUp(cache.getCapacity(), tokens) / tokens;
  sinkTokens = cache.getSinkTokens();
  sinkPanels = roundedUp(sinkTokens, tokens) / tokens;
  ringPanels = cache.isRing() ? panels : 0;
  panels += sinkPanels;
  paddedWidth = roundedUp(width, tokens);
}

int64_t KvLayout::keyBytes() const {
  return storedBytes(keysType());
}

//===--- plans --------------------------------------------------------------------------------------------------===//

std::optional<int64_t> PlanAttr::parameter(StringRef name) const {
  auto value = getParameters().getAs<IntegerAttr>(name);
  return value ? std::optional<int64_t>(value.getInt()) : std::nullopt;
}

Attribute PlanAttr::parse(AsmParser &parser, Type) {
  Builder &b = parser.getBuilder();
  SmallVector<NamedAttribute> parameters;
  auto parseParameter = [&]() -> ParseResult {
    std::string name;
    int64_t value = 0;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseInteger(value))
      return failure();
    parameters.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseParameter))
    return {};
  if (auto twice = DictionaryAttr::findDuplicate(parameters, /*isSorted=*/false)) {
    parser.emitError(parser.getNameLoc()) << "a plan has the parameter '" << twice->getName().getValue() << "' twice";
    return {};
  }
  return get(b.getContext(), b.getDictionaryAttr(parameters));
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
