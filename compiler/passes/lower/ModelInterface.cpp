// SPDX-License-Identifier: Apache-2.0
// Derives the interface of a model from its talc ops.
#include "compiler/passes/lower/TalcToKernel.h"

#include "dialects/talc/LogitParts.h"
#include "dialects/talc/ModuleKeys.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace talc {

namespace {

// The entry functions by name. A module whose entries were not split has one, without a name of its own.
struct Entries {
  llvm::StringMap<func::FuncOp> byName;

  explicit Entries(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(entryAttr)) {
        auto name = function->getAttrOfType<StringAttr>(entryNameAttr);
        byName[name ? name.getValue() : StringRef(prefillEntry)] = function;
      }
  }

  func::FuncOp find(StringRef name) { return byName.lookup(name); }
  // The entry with results.
  func::FuncOp model() {
    for (StringRef name :
         {StringRef(trainEntry), StringRef(prefillEntry), StringRef(decodeEntry), StringRef(encodeEntry)})
      if (func::FuncOp function = find(name))
        return function;
    return nullptr;
  }
  StringRef kind() {
    if (find(trainEntry))
      return "trainer";
    bool decodes = find(prefillEntry) || find(decodeEntry);
    return !find(encodeEntry) ? "decoder" : decodes ? "encoder_decoder" : "encoder";
  }
};

}  // namespace

static int64_t countRows(Value table) {
  auto type = cast<RankedTensorType>(table.getType());
  return type.getDimSize(0) * (type.getRank() == 3 ? type.getDimSize(2) : 1);
}

// The number of ids for which all embedding tables of an entry have a row, apart from partial tables.
static int64_t tableRows(ModuleOp module, Attribute name) {
  int64_t rows = int64_t(1) << 28;  // without a table
  for (auto function : module.getOps<func::FuncOp>())
    if (function->getAttr(entryNameAttr) == name)
      function.walk([&](EmbeddingOp op) {
        if (!op.getFirst())
          rows = std::min(rows, countRows(op.getTable()));
      });
  return rows;
}

// Checks that the kinds in talc.outputs suit the results.
static LogicalResult readOutputs(func::FuncOp model, SmallVectorImpl<Attribute> &outputs) {
  auto module = model->getParentOfType<ModuleOp>();
  auto kinds = module->getAttrOfType<ArrayAttr>(outputsAttr);
  if (kinds && kinds.size() != model.getNumResults())
    return module->emitError() << "the attribute " << outputsAttr << " names " << kinds.size() << " results, but @"
                               << model.getSymName() << " has " << model.getNumResults();
  Builder b(module.getContext());
  for (auto [i, type] : llvm::enumerate(model.getResultTypes())) {
    auto kind = kinds ? dyn_cast<StringAttr>(kinds[i]) : b.getStringAttr(logitsOutput);
    if (!kind || !llvm::is_contained({StringRef(logitsOutput), StringRef(hiddenOutput), StringRef(classesOutput),
                                      StringRef(tokenClassesOutput), StringRef(headOutput), StringRef(tailOutput),
                                      StringRef(lossOutput)},
                                     kind.getValue()))
      return module->emitError() << "the attribute " << outputsAttr << " has the unknown kind of result " << kinds[i]
                                 << ", expected logits, hidden, classes, token_classes, head, tail or loss";
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != 2 || tensor.isDynamicDim(1))
      return model.emitOpError() << "has a result of type " << type << ", expected rows of known width";
    auto width = b.getI64IntegerAttr(tensor.getDimSize(1));
    outputs.push_back(b.getDictionaryAttr({b.getNamedAttr("kind", kind), b.getNamedAttr("width", width)}));
  }
  return success();
}

static StringRef getKind(Attribute output) {
  return cast<DictionaryAttr>(output).getAs<StringAttr>("kind").getValue();
}

static int64_t outputWidth(Attribute output) {
  return cast<DictionaryAttr>(output).getAs<IntegerAttr>("width").getInt();
}

static bool isLogits(Attribute output) {
  return getKind(output) == logitsOutput;
}

// The results may be followed by a head and tails, which together have every word of the logits once.
static LogicalResult checkParts(func::FuncOp model, ArrayRef<Attribute> outputs) {
  auto results = outputs.take_front(countResults(model)), parts = outputs.drop_front(results.size());
  if (llvm::any_of(results, [](Attribute output) { return isLogitPart(cast<DictionaryAttr>(output).get("kind")); }))
    return model.emitOpError() << "has parts of logits before another result; they must follow all results";
  if (parts.empty())
    return success();
  auto tails = parts.drop_front();
  auto logits = llvm::find_if(results, isLogits);
  if (logits == results.end() || getKind(parts[0]) != headOutput || tails.empty() ||
      llvm::any_of(tails, [](Attribute tail) { return getKind(tail) != tailOutput; }))
    return model.emitOpError() << "has parts of logits, expected logits, and after the results one head and its tails";
  int64_t words = outputWidth(parts[0]) - static_cast<int64_t>(tails.size());
  if (words < 1)
    return model.emitOpError() << "has a head of " << outputWidth(parts[0]) << " for " << tails.size()
                               << " clusters, expected at least one more word";
  for (Attribute tail : tails)
    words += outputWidth(tail);
  if (words != outputWidth(*logits))
    return model.emitOpError() << "has parts of logits with " << words << " words, expected " << outputWidth(*logits);
  return success();
}

// Every id that a caller may pass needs a row in the tables: those below the number of logits, if there are logits.
static FailureOr<int64_t> findVocabulary(func::FuncOp model, ArrayRef<Attribute> outputs) {
  int64_t rows = tableRows(model->getParentOfType<ModuleOp>(), model->getAttr(entryNameAttr));
  for (Attribute output : outputs) {
    int64_t width = outputWidth(output);
    if (!isLogits(output))
      continue;
    if (rows < width)
      return model.emitOpError() << "has an embedding table of " << rows << " rows for a vocabulary of " << width;
    return width;
  }
  return rows;
}

// Limits of steps that rings impose; 0 without rings.
struct RingFacts {
  int64_t window = 0, sinkTokens = 0, stepTokens = 0;

  explicit RingFacts(ModuleOp module) {
    for (auto cache : module.getOps<KvCacheOp>()) {
      auto type = cast<KvCacheType>(cache.getType());
      if (!type.isRing())
        continue;
      window = std::max(window, type.getWindow());
      sinkTokens = std::max(sinkTokens, type.getSinkTokens());
      stepTokens = stepTokens == 0 ? type.getStepTokens() : std::min(stepTokens, type.getStepTokens());
    }
  }
};

LogicalResult describeInterface(ModuleOp module) {
  Entries entries(module);
  func::FuncOp model = entries.model();
  if (!model)
    return success();  // a library of blocks
  SmallVector<Attribute> outputs;
  if (failed(readOutputs(model, outputs)) || failed(checkParts(model, outputs)))
    return failure();
  bool decodes = entries.kind() == "decoder" || entries.kind() == "encoder_decoder";
  if (decodes && !isLogits(outputs[0]))
    return model.emitOpError() << "reads a KV cache, so that its first result must be logits; " << outputsAttr
                               << " has " << cast<DictionaryAttr>(outputs[0]).get("kind");
  FailureOr<int64_t> vocabulary = findVocabulary(model, outputs);
  if (failed(vocabulary))
    return failure();
  int64_t sourceVocabulary = 0, tokenTypes = 0;
  if (func::FuncOp encoder = entries.find(encodeEntry); encoder && encoder != model)
    sourceVocabulary = tableRows(module, encoder->getAttr(entryNameAttr));
  module.walk([&](TokenTypeOp op) {
    int64_t rows = countRows(op.getTable());
    tokenTypes = tokenTypes == 0 ? rows : std::min(tokenTypes, rows);
  });
  bool usesPrefix = false;
  module.walk([&](AttentionOp op) { usesPrefix |= op.getMask() == MaskKind::prefix; });
  Builder b(module.getContext());
  RingFacts rings(module);
  SmallVector<NamedAttribute> interface = {
      b.getNamedAttr("kind", b.getStringAttr(entries.kind())),
      b.getNamedAttr("outputs", b.getArrayAttr(outputs)),
      b.getNamedAttr("vocabulary", b.getI64IntegerAttr(*vocabulary)),
      b.getNamedAttr("source_vocabulary", b.getI64IntegerAttr(sourceVocabulary)),
      b.getNamedAttr("token_types", b.getI64IntegerAttr(tokenTypes)),
      b.getNamedAttr("uses_prefix", b.getBoolAttr(usesPrefix)),
  };
  if (rings.window > 0) {
    interface.push_back(b.getNamedAttr("window", b.getI64IntegerAttr(rings.window)));
    interface.push_back(b.getNamedAttr("kept", b.getI64IntegerAttr(rings.sinkTokens)));
    interface.push_back(b.getNamedAttr("step_tokens", b.getI64IntegerAttr(rings.stepTokens)));
  }
  module.walk([&](CrossEntropyOp op) {
    int64_t labels = cast<RankedTensorType>(op.getLogits().getType()).getDimSize(1);
    interface.push_back(b.getNamedAttr("labels", b.getI64IntegerAttr(labels)));
  });
  module->setAttr(interfaceAttr, b.getDictionaryAttr(interface));
  return success();
}

}  // namespace talc
