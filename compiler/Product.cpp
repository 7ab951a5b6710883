// SPDX-License-Identifier: Apache-2.0
// Stage package: object code from LLVM or from the cache, linked, and written with weights and runtime to one file.
#include "compiler/Compiler.h"
#include "compiler/DiagnosticLines.h"
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/artifact/Carrier.h"
#include "compiler/artifact/LibraryHeader.h"
#include "compiler/artifact/ModelFacts.h"
#include "compiler/artifact/TextOutput.h"
#include "compiler/targets/cpu/CodeCache.h"
#include "compiler/targets/cpu/CodeKey.h"
#include "compiler/targets/cpu/ObjectEmitter.h"
#include "compiler/targets/cpu/SharedObject.h"

#include "llvm/Support/FileSystem.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc {

namespace {

// The code of one module for one target.
struct CodeMaker {
  ModuleOp module;
  const targets::Target &target;
  const ProductOptions &options;

  void begin(llvm::StringRef part) const;
  llvm::Expected<std::unique_ptr<llvm::Module>> translate(cpu::ObjectEmitter &emitter,
                                                          llvm::LLVMContext &context) const;
  llvm::Expected<std::string> makeLlvm() const;
  llvm::Expected<cpu::ObjectCode> compile() const;
  llvm::Expected<cpu::ObjectCode> findOrCompile() const;
  llvm::Expected<cpu::ObjectCode> addTo(std::vector<CodeVariant> &code) const;
};

}  // namespace

// With code for several processors the parts of stage package say for which.
void CodeMaker::begin(llvm::StringRef part) const {
  options.listener.beginPart(options.variants.empty() ? part.str() : fmt::format("{} {}", part.str(), target.cpu));
}

llvm::Expected<std::unique_ptr<llvm::Module>> CodeMaker::translate(cpu::ObjectEmitter &emitter,
                                                                   llvm::LLVMContext &context) const {
  begin("translate-to-llvm-ir");
  auto code = emitter.translate(module, context);
  if (!code)
    return code.takeError();
  begin("optimize-llvm-ir");
  emitter.optimize(**code);
  return std::move(*code);
}

llvm::Expected<std::string> CodeMaker::makeLlvm() const {
  auto emitter = cpu::ObjectEmitter::create(target);
  if (!emitter)
    return emitter.takeError();
  llvm::LLVMContext context;
  auto code = translate(**emitter, context);
  if (!code)
    return code.takeError();
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*code)->print(stream, nullptr);
  return text;
}

llvm::Expected<cpu::ObjectCode> CodeMaker::compile() const {
  auto emitter = cpu::ObjectEmitter::create(target);
  if (!emitter)
    return emitter.takeError();
  llvm::LLVMContext context;
  auto code = translate(**emitter, context);
  if (!code)
    return code.takeError();
  begin("emit-object-code");
  return (*emitter)->emit(**code);
}

llvm::Expected<cpu::ObjectCode> CodeMaker::findOrCompile() const {
  if (options.cacheDirectory.empty())
    return compile();
  begin("hash-code");
  cpu::CodeCache cache(options.cacheDirectory);
  std::string key = cpu::codeKey(module, target, options.codeFlags);
  if (std::optional<cpu::ObjectCode> found = cache.find(key)) {
    begin("cache-hit");
    return std::move(*found);
  }
  begin("cache-miss");
  llvm::Expected<cpu::ObjectCode> code = compile();
  if (!code)
    return code.takeError();
  begin("keep-in-cache");
  cache.keep(key, *code);
  return code;
}

llvm::Expected<cpu::ObjectCode> CodeMaker::addTo(std::vector<CodeVariant> &code) const {
  auto object = findOrCompile();
  if (!object)
    return object.takeError();
  begin("link");
  auto linked = cpu::linkSharedObject(object->bytes);
  if (!linked)
    return linked.takeError();
  code.push_back({target.level, std::move(*linked)});
  return object;
}

static llvm::Error addVariants(const ProductOptions &options, std::vector<CodeVariant> &code) {
  for (const Variant &variant : options.variants)
    if (auto object = CodeMaker{*variant.module, variant.target, options}.addTo(code); !object)
      return object.takeError();
  return llvm::Error::success();
}

static llvm::Error writeModel(const CodeMaker &maker) {
  const ProductOptions &options = maker.options;
  bool library = options.product == Product::Library;
  auto carrier = findCarrier(library ? CarrierKind::Library : CarrierKind::Program, options.programDirectory);
  if (!carrier)
    return carrier.takeError();
  std::vector<CodeVariant> code;
  auto object = maker.addTo(code);
  if (!object)
    return object.takeError();
  if (llvm::Error error = addVariants(options, code))
    return error;
  options.listener.beginPart("weights");
  ArtifactParts parts{maker.module, options.target, std::move(code), options.tokenizer, *carrier, object->spills};
  if (!library)
    return writeArtifact(parts, options.path);
  llvm::Expected<std::string> header = writeLibraryHeader(maker.module, options.path);
  if (!header)
    return header.takeError();
  llvm::Error error = writeArtifact(parts, options.path);
  if (error)
    llvm::sys::fs::remove(*header);
  return error;
}

static llvm::Error write(ModuleOp module, const ProductOptions &options) {
  if (options.product == Product::Ir)
    return printModule(module, options.path);
  CodeMaker maker{module, options.target, options};
  if (options.product == Product::Llvm) {
    auto text = maker.makeLlvm();
    return text ? writeText(*text, options.path) : text.takeError();
  }
  if (options.product == Product::Object) {
    auto object = maker.findOrCompile();
    return object ? writeBytes(object->bytes, options.path) : object.takeError();
  }
  return writeModel(maker);
}

llvm::Error writeProduct(ModuleOp module, const ProductOptions &options) {
  DiagnosticLines lines(*module.getContext());
  options.listener.beginStage("package");
  llvm::Error error = write(module, options);
  options.listener.beginStage("");
  return error && !lines.empty() ? llvm::joinErrors(lines.takeError(modelName(module)), std::move(error))
                                 : std::move(error);
}

}  // namespace talc
