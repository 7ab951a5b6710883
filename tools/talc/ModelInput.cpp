// SPDX-License-Identifier: Apache-2.0
// Chooses the frontend by the kind of file or directory that MODEL is.
#include "tools/talc/ModelInput.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "dialects/talc/TalcDialect.h"
#include "dialects/talc/formats/KvFormats.h"
#include "frontends/Frontends.h"
#include "frontends/OtherFormats.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace talc::tools {

// Reads a tokenizer.json or the tokenizer of a model. The section is empty if a model has no tokenizer.
static llvm::Error readTokenizer(const std::string &path, std::vector<uint8_t> &section) {
  std::string error;
  std::vector<std::string> warnings;
  const Frontend *reader = findFrontend(path);
  std::optional<std::vector<uint8_t>> bytes =
      reader ? reader->compileTokenizer(path, error, &warnings) : frontend::compileTokenizerFile(path, error);
  for (const std::string &warning : warnings)
    llvm::errs() << warning << "\n";
  if (!bytes)
    return llvm::createStringError(error);
  section = std::move(*bytes);
  return llvm::Error::success();
}

// A program in the talc dialect, or one that an earlier run printed.
static llvm::Expected<ModelInput> loadProgram(const CompileOptions &options, mlir::MLIRContext &context) {
  if (options.randomWeights || options.maxSequence)
    return makeError(ErrorCode::Model,
                     "{}: a program says itself where weights come from and how long sequences are; --random-weights "
                     "and --max-seq are for model directories",
                     options.model);
  auto module = parseModule(options.model, context);
  if (!module)
    return module.takeError();
  if (!(**module)->hasAttr(directoryAttr)) {
    llvm::StringRef directory = llvm::sys::path::parent_path(options.model);
    (**module)->setAttr(directoryAttr, mlir::StringAttr::get(&context, directory.empty() ? "." : directory));
  }
  return ModelInput{std::move(*module), {}};
}

static llvm::Expected<ModelInput> importModel(const Frontend &frontend, const CompileOptions &options,
                                              mlir::MLIRContext &context) {
  Diagnostics diagnostics;
  ImportOptions import{options.maxSequence.value_or(0), options.randomWeights, options.sinks.value_or(0),
                       options.unused == "allow"};
  mlir::ScopedDiagnosticHandler remarks(&context, [](mlir::Diagnostic &said) {
    if (said.getSeverity() != mlir::DiagnosticSeverity::Remark)
      return mlir::failure();
    llvm::errs() << "remark: " << said << "\n";
    return mlir::success();
  });
  auto module = frontend.import(options.model, import, context, diagnostics);
  for (const std::string &warning : diagnostics.warnings())
    llvm::errs() << warning << "\n";
  if (module)
    return ModelInput{std::move(module), {}};
  return llvm::createStringError(llvm::join(diagnostics.errors(), "\n"));
}

// Whether the output would replace a file of the model.
static bool overwritesModel(const Frontend *frontend, const CompileOptions &options) {
  return frontend ? frontend->owns(options.model, options.output)
                  : llvm::sys::fs::equivalent(options.output, options.model);
}

// Returns how to download a model of huggingface.co whose name was given, or an empty text.
static std::string downloadHint(llvm::StringRef model) {
  auto [owner, name] = model.split('/');
  auto isName = [](llvm::StringRef part) {
    return !part.empty() && part.front() != '.' &&
           llvm::all_of(part, [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; });
  };
  bool isId = isName(owner) && (name.empty() ? !model.ends_with("/") : isName(name));
  if (!isId || llvm::sys::path::extension(model) == ".mlir")
    return "";
  llvm::StringRef folder = name.empty() ? owner : name;
  // Repositories have the same weights in several formats.
  std::string patterns;
  for (const char *pattern : {"*.json", "*.safetensors", "*.txt", "*.model", "*.spm"})
    patterns += fmt::format(" --include '{}'", pattern);
  return fmt::format(". A model of huggingface.co is fetched with `hf download {} --local-dir {}{}`", model.str(),
                     folder.str(), patterns);
}

static llvm::Error checkInput(const Frontend *frontend, const CompileOptions &options) {
  const std::string &model = options.model;
  if (!frontend && !llvm::sys::fs::exists(model))
    return makeError(ErrorCode::Model, "{}: does not exist; expected {} or an .mlir file{}", model, readableModels(),
                     downloadHint(model));
  if (!frontend && llvm::sys::path::extension(model) != ".mlir") {
    std::string other = describeOtherFile(model);
    return makeError(ErrorCode::Model, "{}: {}", model,
                     other.empty() ? fmt::format("is neither {} nor an .mlir file", readableModels()) : other);
  }
  if (!frontend && !llvm::sys::fs::is_regular_file(model))
    return makeError(ErrorCode::Model, "{}: is not a regular file", model);
  if (overwritesModel(frontend, options) && options.stopAfter.empty())
    return makeError(ErrorCode::Output, "{}: is a file of the model; name another file to write with -o",
                     options.output);
  if (frontend && !options.startFrom.empty() && options.startFrom != "import")
    return makeError(ErrorCode::Model, "{}: is {}, but --start-from={} needs an .mlir file", model,
                     llvm::sys::fs::is_directory(model) ? "a directory" : frontend->reads, options.startFrom);
  return llvm::Error::success();
}

static void setKvFormats(const CompileOptions &options, mlir::OwningOpRef<mlir::ModuleOp> &module) {
  mlir::Builder b((*module)->getContext());
  mlir::NamedAttrList formats((*module)->getAttrOfType<mlir::DictionaryAttr>(kvFormatsAttr));
  auto set = [&](const char *key, const std::string &name) {
    if (const std::string &chosen = name.empty() ? options.state : name; !chosen.empty())
      formats.set(key, b.getStringAttr(chosen));
  };
  set(keysKey, options.keyFormat);
  set(valuesKey, options.valueFormat);
  if (!formats.empty())
    (*module)->setAttr(kvFormatsAttr, formats.getDictionary((*module)->getContext()));
}

llvm::Expected<ModelInput> loadModel(const CompileOptions &options, mlir::MLIRContext &context) {
  const Frontend *frontend = findFrontend(options.model);
  if (llvm::Error error = checkInput(frontend, options))
    return std::move(error);
  llvm::Expected<ModelInput> input =
      frontend ? importModel(*frontend, options, context) : loadProgram(options, context);
  if (!input)
    return input.takeError();
  setKvFormats(options, input->module);
  const std::string &tokenizer = options.tokenizer.empty() && frontend ? options.model : options.tokenizer;
  if (!tokenizer.empty())
    if (llvm::Error error = readTokenizer(tokenizer, input->tokenizer))
      return std::move(error);
  return input;
}

}  // namespace talc::tools
