// SPDX-License-Identifier: Apache-2.0
// Registers the types, attributes and operations of the talc dialect.
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/LookupSource.h"
#include "dialects/talc/RecurrenceOps.h"
#include "dialects/talc/WeightFiles.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace talc {

static FailureOr<FormatRef> parseFormatOfBlocks(AsmParser &parser) {
  SMLoc place = parser.getCurrentLocation();
  StringRef name;
  if (failed(parser.parseKeyword(&name)))
    return failure();
  const StorageFormat *format = findStorageFormat(name);
  if (format && format->blockValues > 1)
    return format;
  return parser.emitError(place) << "'" << name << "' is not a storage format of quant blocks";
}

}  // namespace talc

#include "dialects/talc/KvLayout.cpp.inc"
#include "dialects/talc/TalcDialect.cpp.inc"
#include "dialects/talc/TalcEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/talc/TalcTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/talc/TalcAttributes.cpp.inc"

namespace talc {

static LogicalResult requirePositive(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef what, double value) {
  return value > 0 ? success() : emitError() << "has the " << what << " " << value << ", expected a number > 0";
}

LogicalResult KvCacheType::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t heads, int64_t width,
                                  int64_t capacity, KvCacheRole role, int64_t window, int64_t sinkTokens,
                                  KvLayoutInterface) {
  // Kernels keep queries and keys of a head on the stack, 1 MiB for the widest; threads have at least 2 MiB on most
  // systems. Columns of a state are taken in blocks. Addresses have 64 bits.
  constexpr int64_t maxWidth = 1024, maxElements = int64_t(1) << 44, maxSinkTokens = 64;
  bool isState = role == KvCacheRole::recurrence;
  bool possible = heads > 0 && width > 0 && capacity > 0 && (isState || width <= maxWidth) &&
                  heads <= maxElements / width && capacity <= maxElements / (heads * width);
  if (!possible && isState)
    return emitError() << "a state of " << heads << " heads of " << capacity << " rows and " << width
                       << " columns is impossible";
  if (!possible)
    return emitError() << "a KV cache of " << heads << " heads of width " << width << " for " << capacity
                       << " tokens is impossible";
  if (window < 0 || window > capacity || sinkTokens < 0 || sinkTokens > maxSinkTokens ||
      (sinkTokens > 0 && window == 0))
    return emitError() << "a KV cache for " << capacity << " tokens with a window of " << window << " and "
                       << sinkTokens << " sink tokens is impossible";
  if (window > 0 && role != KvCacheRole::sequence)
    return emitError() << "only KV caches of sequences can have a window";
  return success();
}

LogicalResult LinearScalingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, llvm::APFloat factor) {
  return requirePositive(emitError, "factor", factor.convertToDouble());
}

LogicalResult Llama3ScalingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, llvm::APFloat factor,
                                        llvm::APFloat low, llvm::APFloat high, int64_t original) {
  if (failed(requirePositive(emitError, "factor", factor.convertToDouble())) ||
      failed(requirePositive(emitError, "low factor", low.convertToDouble())) ||
      failed(requirePositive(emitError, "original context", original)))
    return failure();
  return requirePositive(emitError, "high factor minus low factor", high.convertToDouble() - low.convertToDouble());
}

LogicalResult YarnScalingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, llvm::APFloat factor,
                                      llvm::APFloat fast, llvm::APFloat slow, int64_t original, bool,
                                      llvm::APFloat amplitude) {
  if (failed(requirePositive(emitError, "factor", factor.convertToDouble())) ||
      failed(requirePositive(emitError, "number of fast turns", fast.convertToDouble())) ||
      failed(requirePositive(emitError, "number of slow turns", slow.convertToDouble())) ||
      failed(requirePositive(emitError, "original context", original)))
    return failure();
  return requirePositive(emitError, "amplitude", amplitude.convertToDouble());
}

// With smaller factors, the base would not grow.
LogicalResult DynamicScalingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, llvm::APFloat factor,
                                         int64_t original) {
  if (failed(requirePositive(emitError, "original context", original)))
    return failure();
  return requirePositive(emitError, "factor", factor.convertToDouble());
}

LogicalResult ListedScalingAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, DenseF64ArrayAttr factors,
                                        llvm::APFloat amplitude) {
  for (double factor : factors.asArrayRef())
    if (failed(requirePositive(emitError, "factor", factor)))
      return failure();
  return requirePositive(emitError, "amplitude", amplitude.convertToDouble());
}

// Sizes are limited such that they fit into 64 bits when they are counted in bits.
LogicalResult CodesAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef, int64_t offset,
                                CodeKind kind, int64_t bits, CodeOrder order, int64_t stride, bool) {
  constexpr int64_t maxSize = int64_t(1) << 48;
  static constexpr int64_t widths[] = {0, 0, 4, 8, 8, 16, 16, 32};  // natural and integer: any
  int64_t width = widths[static_cast<int>(kind)];
  if (bits < 1 || bits > 32 || (width && bits != width))
    return emitError() << "has numbers of " << bits << " bits, which " << stringifyCodeKind(kind) << " cannot have";
  if (order == CodeOrder::swapped && bits != 4)
    return emitError() << "swaps numbers of " << bits << " bits, expected 4";
  if (offset < 0 || offset > maxSize || stride < 0 || stride > maxSize)
    return emitError() << "begins at byte " << offset << " with a stride of " << stride << " bits, which is impossible";
  return success();
}

static bool isRow(CodesAttr codes, std::initializer_list<int64_t> widths) {
  return codes.getOrder() == CodeOrder::along && !codes.getTransposed() && llvm::is_contained(widths, codes.getBits());
}

LogicalResult LookupSourceAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Type elementType,
                                       CodesAttr codes, int64_t run, CodesAttr scales, DenseElementsAttr table,
                                       Type scaleType, CodesAttr scaleTable, CodesAttr scaleFactors, int64_t scaleRun,
                                       FloatAttr, FloatAttr) {
  auto isFloat = [](Type type) {
    const StorageFormat *format = getStorageFormat(type);
    return format && format->blockValues == 1;
  };
  if (!isFloat(elementType) || (scaleType && !isFloat(scaleType)))
    return emitError() << "is rounded to " << elementType << ", expected f32, f16 or bf16";
  if (!isRow(codes, {4, 8}) || !isRow(scales, {8, 16, 32}) || run <= 0)
    return emitError() << "has codes or scales that are not a row, expected codes of 4 or 8 bits";
  bool fits = table ? isa<Float32Type>(table.getElementType()) && table.size() == int64_t(1) << codes.getBits()
                    : codes.getBits() == 8;
  if (!fits)
    return emitError() << "has codes of " << codes.getBits() << " bits, expected a table with an entry for each";
  if (!scaleTable != !scaleFactors || (scaleTable && (scaleRun <= 0 || !isRow(scales, {8}))))
    return emitError() << "has scales that are codes, expected 8 bits of each, a table, factors and their run";
  return success();
}

LogicalResult RowsRecipeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t first, int64_t count,
                                     int64_t period) {
  if (first >= 0 && count > 0 && first <= period && count <= period - first)
    return success();
  return emitError() << "takes " << count << " rows from " << first << " on, of every " << period;
}

LogicalResult RelativeKeysRecipeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t heads,
                                             llvm::APFloat) {
  return heads > 0 ? success() : emitError() << "has " << heads << " heads";
}

LogicalResult HalfSplitRecipeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, int64_t width,
                                          int64_t rotary) {
  if (rotary > 0 && rotary % 2 == 0 && rotary <= width)
    return success();
  return emitError() << "rotates " << rotary << " of " << width << " rows, expected an even number up to that width";
}

LogicalResult RotaryTableRecipeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, llvm::APFloat base,
                                            Attribute scaling, int64_t digits) {
  if (digits < 0 || (digits > 0 && isa_and_nonnull<DynamicScalingAttr>(scaling)))
    return emitError() << "cannot be composed of " << digits << " digits";
  if (scaling &&
      !isa<LinearScalingAttr, Llama3ScalingAttr, YarnScalingAttr, DynamicScalingAttr, ListedScalingAttr>(scaling))
    return emitError() << "has the unknown scaling " << scaling;
  return requirePositive(emitError, "base", base.convertToDouble());
}

LogicalResult RelativeBiasRecipeAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, bool,
                                             int64_t maxDistance) {
  return requirePositive(emitError, "max_distance", static_cast<double>(maxDistance));
}

}  // namespace talc

void talc::TalcDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/talc/TalcTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/talc/TalcAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/talc/TalcOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/talc/RecurrenceOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/talc/gradients/GradientOps.cpp.inc"
      >();
  addInterfaces<WeightFiles>();
  attachGradients(*getContext());
}
