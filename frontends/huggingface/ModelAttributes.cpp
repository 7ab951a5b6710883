// SPDX-License-Identifier: Apache-2.0
// Reads the files of a model directory that are neither its configuration nor its weights.
#include "frontends/huggingface/ModelAttributes.h"

#include "dialects/talc/TalcDialect.h"
#include "frontends/ModelConfig.h"
#include "frontends/ModelDirectory.h"
#include "frontends/families/Families.h"
#include "frontends/huggingface/GenerationConfig.h"
#include "frontends/huggingface/MaskToken.h"
#include "frontends/huggingface/SentencePooling.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace talc {

// The entry function with results.
static func::FuncOp findModel(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(entryAttr) && function.getNumResults() > 0)
      return function;
  return {};
}

// The place of the result of this kind; -1: none.
static int64_t findOutput(ModuleOp module, llvm::StringRef kind) {
  auto kinds = module->getAttrOfType<ArrayAttr>(outputsAttr).getAsValueRange<StringAttr>();
  auto found = llvm::find(kinds, kind);
  return found == kinds.end() ? -1 : std::distance(kinds.begin(), found);
}

// The number of token ids: one for every logit, or row of the embedding table.
static int64_t vocabularySize(ModuleOp module) {
  func::FuncOp model = findModel(module);
  if (int64_t logits = findOutput(module, logitsOutput); logits >= 0)
    return cast<RankedTensorType>(model.getResultTypes()[logits]).getDimSize(1);
  int64_t rows = 0;
  model.walk([&](EmbeddingOp op) { rows = cast<RankedTensorType>(op.getTable().getType()).getDimSize(0); });
  return rows;
}

// What the logits of classes were trained to be.
static std::string classScores(const nlohmann::json &object, Diagnostics &diagnostics) {
  const char *key = "problem_type";
  ModelConfig config(object, "config.json", diagnostics);
  std::string type = config.has(key) ? config.text(key, "") : "single_label_classification";
  if (type == "multi_label_classification")
    return "sigmoid";
  if (type == "regression")
    return "values";
  if (type != "single_label_classification")
    config.unsupported(key, "is " + quotedText(type) +
                                ", expected regression, single_label_classification or multi_label_classification");
  return "softmax";
}

static DictionaryAttr generationDefaults(Builder &b, const GenerationConfig &values, int64_t mask,
                                         const std::string &classScores) {
  return b.getDictionaryAttr({
      b.getNamedAttr("begin", b.getI64IntegerAttr(values.begin)),
      b.getNamedAttr("end", b.getDenseI64ArrayAttr(values.end)),
      b.getNamedAttr("start", b.getI64IntegerAttr(values.start)),
      b.getNamedAttr("forced_begin", b.getI64IntegerAttr(values.forcedBegin)),
      b.getNamedAttr("forced_end", b.getI64IntegerAttr(values.forcedEnd)),
      b.getNamedAttr("mask", b.getI64IntegerAttr(mask)),
      b.getNamedAttr("forbidden", b.getDenseI64ArrayAttr(values.forbidden)),
      b.getNamedAttr("suppress", b.getDenseI64ArrayAttr(values.suppress)),
      b.getNamedAttr("begin_suppress", b.getDenseI64ArrayAttr(values.beginSuppress)),
      b.getNamedAttr("sample", b.getBoolAttr(values.sample)),
      b.getNamedAttr("temperature", b.getF64FloatAttr(values.temperature)),
      b.getNamedAttr("top_k", b.getI64IntegerAttr(values.topK)),
      b.getNamedAttr("top_p", b.getF64FloatAttr(values.topP)),
      b.getNamedAttr("min_p", b.getF64FloatAttr(values.minP)),
      b.getNamedAttr("repetition_penalty", b.getF64FloatAttr(values.repetitionPenalty)),
      b.getNamedAttr("beams", b.getI64IntegerAttr(values.beams)),
      b.getNamedAttr("new_tokens", b.getI64IntegerAttr(values.newTokens)),
      b.getNamedAttr("max_length", b.getI64IntegerAttr(values.maxLength)),
      b.getNamedAttr("min_new_tokens", b.getI64IntegerAttr(values.minNewTokens)),
      b.getNamedAttr("min_length", b.getI64IntegerAttr(values.minLength)),
      b.getNamedAttr("no_repeat_ngram", b.getI64IntegerAttr(values.noRepeatNgram)),
      b.getNamedAttr("length_penalty", b.getF64FloatAttr(values.lengthPenalty)),
      b.getNamedAttr("class_scores", b.getStringAttr(classScores)),
      b.getNamedAttr("early_stopping", b.getStringAttr(values.earlyStopping)),
      b.getNamedAttr("renormalize", b.getBoolAttr(values.renormalize)),
  });
}

void setModelAttributes(ModuleOp module, const ModelDirectory &directory, const nlohmann::json &config,
                        const FamilyTokens &tokens, Diagnostics &diagnostics) {
  GenerationConfig defaults;
  defaults.begin = tokens.begin;
  defaults.start = tokens.start;
  defaults.forcedEnd = tokens.forcedEnd;
  if (tokens.end >= 0)
    defaults.end = {tokens.end};
  const int64_t vocabulary = vocabularySize(module);
  auto generation = readGenerationConfig(directory, config, defaults, vocabulary, diagnostics);
  // A model without state evaluates whole texts: its logits are guesses of masked tokens.
  bool guesses = module.getOps<StateOp>().empty() && findOutput(module, logitsOutput) >= 0;
  int64_t mask = guesses ? findMaskToken(directory) : -1;
  Builder b(module.getContext());
  module->setAttr(directoryAttr, b.getStringAttr(directory.path()));
  module->setAttr(nameAttr, b.getStringAttr(directory.name()));
  module->setAttr(generationAttr,
                  generationDefaults(b, generation, mask < vocabulary ? mask : -1, classScores(config, diagnostics)));
  if (findOutput(module, hiddenOutput) >= 0)
    module->setAttr(poolingAttr, b.getStringAttr(readPooling(directory, diagnostics)));
}

}  // namespace talc
