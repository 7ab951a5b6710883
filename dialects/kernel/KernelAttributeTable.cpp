// SPDX-License-Identifier: Apache-2.0
// The discardable attributes of the kernel dialect. Names that are spelled out are those of the headers named beside.
#include "dialects/kernel/KernelAttributeNames.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/talc/AttributeTable.h"

using namespace mlir;

namespace talc::kernel {

// A function, or a module of its own once it is one.
static bool isKernel(Operation *op) {
  return isa<FunctionOpInterface>(op) || op->hasTrait<OpTrait::SymbolTable>();
}

static constexpr DiscardableAttribute onFunction(StringRef name, bool (*hasType)(Attribute), llvm::StringLiteral type) {
  return {name, hasType, type, isOperation<FunctionOpInterface>, "functions"};
}
static constexpr DiscardableAttribute onKernel(StringRef name, bool (*hasType)(Attribute), llvm::StringLiteral type) {
  return {name, hasType, type, isKernel, "kernels"};
}

static bool isFloat16(Attribute value) {
  auto type = dyn_cast<TypeAttr>(value);
  const StorageFormat *format = type ? getStorageFormat(type.getValue()) : nullptr;
  return format && format->blockValues == 1 && format->blockBytes == 2;
}

// Sizes of an instruction set, and units for its traits.
static bool isIsa(Attribute value) {
  auto entries = dyn_cast<DictionaryAttr>(value);
  return entries && entries.getAs<IntegerAttr>("lanes") && entries.getAs<IntegerAttr>("registers") &&
         llvm::all_of(entries, [](NamedAttribute entry) { return isa<IntegerAttr, UnitAttr>(entry.getValue()); });
}

static constexpr DiscardableAttribute table[] = {
    onFunction(kernelOpAttr, isAttribute<StringAttr>, "a string"),
    {dynamicScheduleAttr, isAttribute<UnitAttr>, "unit", isOperation<ModuleOp, FunctionOpInterface>,
     "modules and functions"},
    onFunction(keepsSourceOrderAttr, isAttribute<UnitAttr>, "unit"),
    {perWorkerAttr, isAttribute<UnitAttr>, "unit", isOperation<memref::AllocOp>, "allocations"},
    {narrowedAttr, isFloat16, "f16 or bf16", isOperation<ArenaOp>, "kernel.arena"},
    // compiler/generators/GeneratedCode.h
    onFunction("kernel.generator", isAttribute<DictionaryAttr>, "a dictionary"),
    onFunction("kernel.generated_code", isAttribute<DictionaryAttr>, "a dictionary"),
    // compiler/passes/schedule/cpu/Isa.h
    {"kernel.isa", isIsa, "lanes, registers and traits", isOperation<ModuleOp>, "modules"},
    onFunction(launchesAttr, isLaunchList, "an array of launches"),
    onKernel(LaunchAttr::attrName, isAttribute<LaunchAttr>, "#kernel.launch"),
};

LogicalResult KernelDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyDiscardable(op, attribute, table);
}

// A buffer of f32 whose values are to be stored in a narrower type.
static bool isNarrowed(Type buffer, Attribute value) {
  auto memref = dyn_cast<MemRefType>(buffer);
  return memref && memref.getElementType().isF32() && isFloat16(value);
}

LogicalResult KernelDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                      NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (function && attribute.getName() == narrowedAttr &&
      isNarrowed(function.getArgumentTypes()[index], attribute.getValue()))
    return success();
  return op->emitOpError() << "has " << attribute.getName().getValue() << " = " << attribute.getValue()
                           << " on argument " << index << ", which may not carry it";
}

LogicalResult KernelDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return op->emitOpError() << "has " << attribute.getName().getValue() << " on a result, which no result may carry";
}

}  // namespace talc::kernel
