// SPDX-License-Identifier: Apache-2.0
// Attaches the attributes of a module that holds a model.
#include "frontends/ModelAttributes.h"

#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/WeightFiles.h"
#include "frontends/ModelDirectory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc {

// The entry function with results.
static func::FuncOp findModel(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(entryAttr) && function.getNumResults() > 0)
      return function;
  return {};
}

// The index of the result of this kind; -1: none.
static int64_t findOutput(ModuleOp module, llvm::StringRef kind) {
  auto kinds = module->getAttrOfType<ArrayAttr>(outputsAttr).getAsValueRange<StringAttr>();
  auto it = llvm::find(kinds, kind);
  return it == kinds.end() ? -1 : std::distance(kinds.begin(), it);
}

int64_t vocabularySize(ModuleOp module) {
  func::FuncOp model = findModel(module);
  if (int64_t logits = findOutput(module, logitsOutput); logits >= 0)
    return cast<RankedTensorType>(model.getResultTypes()[logits]).getDimSize(1);
  int64_t rows = 0;
  model.walk([&](EmbeddingOp op) { rows = cast<RankedTensorType>(op.getTable().getType()).getDimSize(0); });
  return rows;
}

bool hasOutput(ModuleOp module, llvm::StringRef kind) {
  return findOutput(module, kind) >= 0;
}

int64_t outputWidth(ModuleOp module, llvm::StringRef kind) {
  int64_t output = findOutput(module, kind);
  return output < 0 ? 0 : cast<RankedTensorType>(findModel(module).getResultTypes()[output]).getDimSize(1);
}

bool predictsMaskedTokens(ModuleOp module) {
  return module.getOps<KvCacheOp>().empty() && hasOutput(module, logitsOutput);
}

bool hasCausalAttention(ModuleOp module) {
  auto find = [](AttentionOp op) {
    return op.getMask() == MaskKind::full ? WalkResult::advance() : WalkResult::interrupt();
  };
  return module.walk(find).wasInterrupted();
}

void setModelAttributes(ModuleOp module, const ModelAttributes &attributes) {
  Builder b(module.getContext());
  module->setAttr(directoryAttr, b.getStringAttr(attributes.directory));
  module->setAttr(nameAttr, b.getStringAttr(attributes.name));
  module->setAttr(originAttr,
                  b.getDictionaryAttr(b.getNamedAttr(originKeys::family, b.getStringAttr(attributes.family))));
  NamedAttrList generation(generationDictionary(attributes.generation, *module.getContext()));
  if (auto ofFamily = module->getAttrOfType<DictionaryAttr>(generationAttr))
    for (NamedAttribute entry : ofFamily)
      generation.set(entry.getName(), entry.getValue());
  module->setAttr(generationAttr, generation.getDictionary(module.getContext()));
  if (attributes.pooling)
    module->setAttr(poolingAttr, attributes.pooling);
}

void keepWeightFiles(const ModelDirectory &directory, MLIRContext &context, Diagnostics &diagnostics) {
  WeightFiles &files = WeightFiles::get(context);
  for (const auto &[name, file] : directory.openFiles())
    if (!files.keep(directory.path() + "/" + name, file.descriptorNumber()))
      diagnostics.error(ImportError::ModelDirectory,
                        fmt::format("{}: the system allows no more open files; raise its limit (ulimit -n)", name));
}

}  // namespace talc
