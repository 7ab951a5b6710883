// SPDX-License-Identifier: Apache-2.0
// Shows what happens inside, then runs the compiler.
#include "tools/talc/ObservedModel.h"

#include "compiler/Compiler.h"
#include "dialects/talc/TalcDialect.h"
#include "tools/talc/ModelOptions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace talc::tools {

bool observe(ModuleOp module, std::unique_ptr<Pass> pass) {
  ScopedDiagnosticHandler silent(module.getContext(), [](Diagnostic &) { return success(); });
  PassManager passes(module.getContext());
  passes.addPass(std::move(pass));
  return succeeded(passes.run(module));
}

static int64_t widthOf(Value rows) {
  return cast<RankedTensorType>(rows.getType()).getDimSize(1);
}

// Of a model's results only the first one stays beside the rows of layers.
static void yieldRows(func::FuncOp entry, ArrayRef<Value> layers) {
  Operation *end = entry.front().getTerminator();
  OpBuilder b(end);
  Value all = layers.front();
  for (Value layer : layers.drop_front()) {
    auto type = RankedTensorType::get({ShapedType::kDynamic, widthOf(all) + widthOf(layer)}, b.getF32Type());
    all = JoinOp::create(b, end->getLoc(), type, all, layer, 1);
  }
  all = SelectOp::create(b, end->getLoc(), all.getType(), all, entry.getArguments().back(), /*output=*/1);
  end->setOperands({end->getOperand(0), all});
  entry.setFunctionType(b.getFunctionType(entry.getArgumentTypes(), end->getOperandTypes()));
}

std::vector<int64_t> observeLayers(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  llvm::copy_if(module.getOps<func::FuncOp>(), std::back_inserter(entries),
                [](func::FuncOp function) { return function->hasAttr(entryAttr); });
  SmallVector<Value> layers;
  if (entries.size() == 1)
    for (auto call : entries.front().getOps<func::CallOp>())
      llvm::append_range(layers, call.getResults());
  if (layers.empty())
    return {};
  yieldRows(entries.front(), layers);
  Builder b(module.getContext());
  auto kinds = module->getAttrOfType<ArrayAttr>(outputsAttr);
  Attribute first = kinds ? kinds[0] : b.getStringAttr(logitsOutput);
  module->setAttr(outputsAttr, b.getArrayAttr({first, b.getStringAttr(hiddenOutput)}));
  std::vector<int64_t> widths;
  llvm::transform(layers, std::back_inserter(widths), widthOf);
  return widths;
}

llvm::Error compileObserved(ModuleOp module, const std::vector<uint8_t> &tokenizer, const CompileOptions &options,
                            const std::string &path) {
  auto targets = targets::parseTargets(options.target);
  if (!targets)
    return targets.takeError();
  CompileRequest request;
  request.targets = std::move(*targets);
  request.weights = options.weights;
  request.compute = parseCompute(options.compute);
  request.emit = EmitKind::Library;
  request.output = path;
  request.tokenizer = tokenizer;
  request.programDirectory = options.programDirectory;
  request.cacheDirectory = defaultCacheDirectory(options.cache);
  return talc::compile(module, request);
}

}  // namespace talc::tools
