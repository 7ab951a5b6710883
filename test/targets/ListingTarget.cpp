// SPDX-License-Identifier: Apache-2.0
// listing-target MODEL.mlir OUTPUT KIND [FURTHER]: compiles a program for a target whose code is the text of its
// functions at the end of stage bufferize. It has neither vectors nor caches nor LLVM, so that nothing in the compiler
// can take it for a processor.
//
// KIND: exe, object, llvm or ir. FURTHER: a target that the product is to have code for, too.
#include "compiler/Compiler.h"
#include "compiler/passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <map>
#include <unistd.h>

using namespace talc;

namespace {

class ListingTarget final : public targets::Target {
public:
  std::string name() const override { return "listing"; }
  targets::MachineRequirements requirements() const override { return {"reader", {"eyes"}}; }
  mlir::DictionaryAttr manifestEntries(mlir::MLIRContext &context) const override {
    mlir::Builder builder(&context);
    return builder.getDictionaryAttr(builder.getNamedAttr("language", builder.getStringAttr("mlir")));
  }
  std::string identity() const override { return "listing"; }

  std::string weightLayout() const override { return "narrow"; }
  void addWeightPacking(mlir::OpPassManager &passes) const override { passes.addPass(createPackWeights({16})); }
  void addKvLayout(mlir::OpPassManager &passes) const override { passes.addPass(createLayoutKvCache({16})); }
  void addOpSplitting(mlir::OpPassManager &) const override {}
  void addSchedule(mlir::OpPassManager &) const override {}
  void addCodegen(mlir::OpPassManager &) const override {}

  llvm::Expected<std::vector<targets::ObjectCode>> compile(mlir::ModuleOp module,
                                                           targets::BeginPart begin) const override {
    begin("list");
    std::vector<targets::ObjectCode> objects;
    for (auto function : module.getOps<mlir::FunctionOpInterface>())
      if (!function.isExternal()) {
        std::string text;
        llvm::raw_string_ostream stream(text);
        function->print(stream);
        objects.push_back({{text.begin(), text.end()}, {}});
      }
    return objects;
  }

  llvm::Expected<targets::LinkedCode> link(llvm::ArrayRef<targets::ObjectCode> objects) const override {
    return targets::LinkedCode{join(objects), {{"encode", "encode"}}};
  }
  llvm::Expected<std::vector<uint8_t>> linkRelocatable(llvm::ArrayRef<targets::ObjectCode> objects) const override {
    return join(objects);
  }
  llvm::ArrayRef<llvm::StringLiteral> listingKinds() const override { return {}; }
  llvm::Expected<std::string> listing(llvm::StringRef, mlir::ModuleOp, targets::BeginPart) const override {
    return llvm::createStringError("a listing is not LLVM IR");
  }

private:
  static std::vector<uint8_t> join(llvm::ArrayRef<targets::ObjectCode> objects) {
    std::vector<uint8_t> text;
    for (const targets::ObjectCode &object : objects)
      text.insert(text.end(), object.bytes.begin(), object.bytes.end());
    return text;
  }
};

}  // namespace

static std::string programDirectory() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  std::string program(path, length > 0 ? length : 0);
  return program.substr(0, program.find_last_of('/')) + "/../../bin";
}

static llvm::Error run(llvm::ArrayRef<std::string> arguments) {
  static const std::map<std::string, EmitKind> kinds = {
      {"exe", EmitKind::Program}, {"code", EmitKind::Code}, {"llvm", EmitKind::Listing}, {"ir", EmitKind::Ir}};
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = parseModule(arguments[0], context);
  if (!module)
    return module.takeError();
  CompileRequest request;
  request.targets = {std::make_shared<ListingTarget>()};
  if (arguments.size() > 3) {
    auto further = targets::parseTarget(arguments[3]);
    if (!further)
      return further.takeError();
    request.targets.push_back(*further);
  }
  request.output = arguments[1];
  request.emit = kinds.at(arguments[2]);
  request.programDirectory = programDirectory();
  request.cacheDirectory = defaultCacheDirectory();
  request.listener.stage = [](llvm::StringRef name) { printf("%s%s", name.str().c_str(), name.empty() ? "" : "\n"); };
  request.listener.part = [](llvm::StringRef name) { printf("  %s\n", name.str().c_str()); };
  return compile(**module, request);
}

int main(int count, char **arguments) {
  if (count < 4)
    return 2;
  llvm::Error error = run(std::vector<std::string>(arguments + 1, arguments + count));
  if (!error)
    return 0;
  fprintf(stderr, "%s\n", llvm::toString(std::move(error)).c_str());
  return 1;
}
