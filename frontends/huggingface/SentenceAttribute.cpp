// SPDX-License-Identifier: Apache-2.0
// Writes talc.pooling, which the compiler turns into a section of the artifact.
#include "frontends/huggingface/SentenceModel.h"

#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace talc {

static Attribute sourceAttribute(const WeightOrigin &origin, MLIRContext &context) {
  if (auto *stored = std::get_if<StoredWeight>(&origin))
    return FileSourceAttr::get(&context, stored->file, stored->offset, stored->format.type(&context, stored->format));
  if (auto *random = std::get_if<RandomWeight>(&origin))
    return RandomSourceAttr::get(&context, random->seed, llvm::APFloat(random->mean), llvm::APFloat(random->deviation));
  auto *filled = std::get_if<FilledWeight>(&origin);
  return FillSourceAttr::get(&context, llvm::APFloat(filled ? filled->value : 0.0));
}

static Attribute layerAttribute(const SentenceLayer &layer, Builder &b) {
  NamedAttrList entries;
  entries.append("kind", b.getStringAttr(layer.kind));
  entries.append("inputs", b.getI64IntegerAttr(layer.inputs));
  entries.append("outputs", b.getI64IntegerAttr(layer.outputs));
  if (layer.activation != "none")
    entries.append("activation", b.getStringAttr(layer.activation));
  if (layer.residual != "none")
    entries.append("residual", b.getStringAttr(layer.residual));
  const std::pair<const char *, const std::optional<WeightOrigin> &> weights[] = {
      {"weight", layer.weight}, {"bias", layer.bias}, {"projection", layer.projection}};
  for (auto [name, origin] : weights)
    if (origin)
      entries.append(name, sourceAttribute(*origin, *b.getContext()));
  return entries.getDictionary(b.getContext());
}

Attribute poolingAttribute(const SentenceModel &model, bool hasHidden, MLIRContext &context) {
  Builder b(&context);
  NamedAttrList entries;
  llvm::SmallVector<Attribute> layers, prompts;
  for (const SentenceLayer &layer : model.layers)
    layers.push_back(layerAttribute(layer, b));
  for (const auto &[name, text] : model.prompts)
    prompts.push_back(b.getStrArrayAttr({name, text}));
  if (!layers.empty())
    entries.append("layers", b.getArrayAttr(layers));
  if (!prompts.empty())
    entries.append("prompts", b.getArrayAttr(prompts));
  if (model.defaultPrompt >= 0)
    entries.append("default_prompt", b.getI64IntegerAttr(model.defaultPrompt));
  if (model.maxTokens > 0)
    entries.append("max_tokens", b.getI64IntegerAttr(model.maxTokens));
  if (model.excludesPrompt)
    entries.append("excludes_prompt", b.getUnitAttr());
  if (model.cutsBegin)
    entries.append("cuts_begin", b.getUnitAttr());
  llvm::SmallVector<llvm::StringRef> modes(model.poolings.begin(), model.poolings.end());
  if (!hasHidden)
    modes = {"none"};
  if (entries.empty() && modes.size() == 1)
    return hasHidden ? b.getStringAttr(modes.front()) : StringAttr();
  entries.append("modes", b.getStrArrayAttr(modes));
  return entries.getDictionary(&context);
}

}  // namespace talc
