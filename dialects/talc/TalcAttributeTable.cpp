// SPDX-License-Identifier: Apache-2.0
// The discardable attributes of the talc dialect. Attributes of a weight or a KV cache are those of the op.
#include "dialects/talc/AttributeTable.h"
#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/FormatChoice.h"
#include "dialects/talc/formats/KvFormats.h"

using namespace mlir;

namespace talc {

static constexpr DiscardableAttribute onModule(StringRef name, bool (*hasType)(Attribute), llvm::StringLiteral type) {
  return {name, hasType, type, isOperation<ModuleOp>, "modules"};
}

static bool isPooling(Attribute value) {
  return isa<StringAttr, DictionaryAttr>(value);
}

static constexpr DiscardableAttribute table[] = {
    onModule(directoryAttr, isAttribute<StringAttr>, "a string"),
    onModule(nameAttr, isAttribute<StringAttr>, "a string"),
    onModule(maxSequenceAttr, isI64, "an i64"),
    onModule(longestSequenceAttr, isI64, "an i64"),
    onModule(generationAttr, isAttribute<DictionaryAttr>, "a dictionary"),
    onModule(outputsAttr, isTypedArray<StringAttr>, "an array of strings"),
    onModule(labelsAttr, isTypedArray<StringAttr>, "an array of strings"),
    onModule(poolingAttr, isPooling, "a string or a dictionary"),
    onModule(segmentedAttr, isAttribute<UnitAttr>, "unit"),
    onModule(interfaceAttr, isAttribute<DictionaryAttr>, "a dictionary"),
    onModule(planAttr, isAttribute<DictionaryAttr>, "a dictionary"),
    onModule(kernelsAttr, isTypedArray<DictionaryAttr>, "an array of dictionaries"),
    onModule(kvFormatsAttr, isAttribute<DictionaryAttr>, "a dictionary"),
    onModule(measuredAttr, isAttribute<DictionaryAttr>, "a dictionary"),
    onModule(originAttr, isAttribute<DictionaryAttr>, "a dictionary"),
    onModule(observedAttr, isTypedArray<DictionaryAttr>, "an array of dictionaries"),
    onModule(chosenFormatsAttr, isAttribute<StringAttr>, "a string"),
    {entryAttr, isAttribute<UnitAttr>, "unit", isOperation<FunctionOpInterface>, "functions"},
    {entryNameAttr, isAttribute<StringAttr>, "a string", isOperation<FunctionOpInterface>, "functions"},
    {activationAttr, isAttribute<StringAttr>, "a string", isAnyOperation, "operations"},
};

LogicalResult TalcDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyDiscardable(op, attribute, table);
}

LogicalResult TalcDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return op->emitOpError() << "has " << attribute.getName().getValue()
                           << " on an argument, which no argument may carry";
}

LogicalResult TalcDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return op->emitOpError() << "has " << attribute.getName().getValue() << " on a result, which no result may carry";
}

LogicalResult verifyDiscardable(Operation *op, NamedAttribute attribute, ArrayRef<DiscardableAttribute> table) {
  const auto *match = llvm::find_if(
      table, [&](const DiscardableAttribute &entry) { return entry.name == attribute.getName().getValue(); });
  if (match == table.end())
    return op->emitOpError() << "has the attribute " << attribute.getName().getValue()
                             << ", which is not an attribute of the dialect";
  if (!match->isCarrier(op))
    return op->emitOpError() << "has the attribute " << attribute.getName().getValue() << ", which only "
                             << match->carriers << " may carry";
  if (!match->hasType(attribute.getValue()))
    return op->emitOpError() << "has the attribute " << attribute.getName().getValue() << " = " << attribute.getValue()
                             << ", expected " << match->type;
  return success();
}

}  // namespace talc
