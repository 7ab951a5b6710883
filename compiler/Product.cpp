// SPDX-License-Identifier: Apache-2.0
// Stage package: code, weights and runtime go to one file; or one of the products before that.
#include "compiler/Compiler.h"
#include "compiler/DiagnosticLines.h"
#include "compiler/ModuleCode.h"
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/artifact/Carrier.h"
#include "compiler/artifact/LibraryHeader.h"
#include "compiler/artifact/ModelFacts.h"
#include "compiler/artifact/TextOutput.h"

#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace talc {

static llvm::Error writeModel(ModuleCode main, const ProductOptions &options) {
  bool library = options.product == Product::Library;
  auto carrier = findCarrier(library ? CarrierKind::Library : CarrierKind::Program, options.programDirectory);
  if (!carrier)
    return carrier.takeError();
  if (!options.variants.empty())
    main.processor = main.target.cpu;
  auto code = main.link();
  if (!code)
    return code.takeError();
  std::vector<CodeVariant> all = {std::move(code->variant)};
  for (const Variant &variant : options.variants) {
    ModuleCode further{*variant.module, variant.target, variant.cached, options.listener, variant.target.cpu};
    auto linked = further.link();
    if (!linked)
      return linked.takeError();
    all.push_back(std::move(linked->variant));
  }
  options.listener.beginPart("weights");
  ArtifactParts parts{main.module, options.target, std::move(all), options.tokenizer, *carrier, code->spills};
  if (!library)
    return writeArtifact(parts, options.path);
  llvm::Expected<std::string> header = writeLibraryHeader(main.module, options.path);
  if (!header)
    return header.takeError();
  llvm::Error error = writeArtifact(parts, options.path);
  if (error)
    llvm::sys::fs::remove(*header);
  return error;
}

static llvm::Error write(ModuleOp module, const ProductOptions &options) {
  ModuleCode code{module, options.target, options.cached, options.listener};
  switch (options.product) {
  case Product::Ir:
    return printModule(module, options.path);
  case Product::Llvm: {
    auto text = code.llvmIr();
    return text ? writeText(*text, options.path) : text.takeError();
  }
  case Product::Object: {
    auto object = code.linkRelocatable();
    return object ? writeBytes(*object, options.path) : object.takeError();
  }
  case Product::Program:
  case Product::Library:
    return writeModel(code, options);
  }
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
