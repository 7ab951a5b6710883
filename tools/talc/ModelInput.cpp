// SPDX-License-Identifier: Apache-2.0
// Decides by what MODEL is which frontend reads it.
#include "tools/talc/ModelInput.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "dialects/talc/TalcDialect.h"
#include "frontends/huggingface/HuggingFace.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace talc::tools {

// Of a tokenizer.json or a model directory; an empty section if a directory has no tokenizer.
static llvm::Error readTokenizer(const std::string &path, std::vector<uint8_t> &section) {
  std::string error;
  bool directory = llvm::sys::fs::is_directory(path);
  std::optional<std::vector<uint8_t>> bytes =
      directory ? frontend::compileTokenizerDirectory(path, error) : frontend::compileTokenizerFile(path, error);
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
  auto module = parseProgram(options.model, context);
  if (!module)
    return module.takeError();
  if (!(**module)->hasAttr(directoryAttr)) {
    llvm::StringRef directory = llvm::sys::path::parent_path(options.model);
    (**module)->setAttr(directoryAttr, mlir::StringAttr::get(&context, directory.empty() ? "." : directory));
  }
  return ModelInput{std::move(*module), {}};
}

static llvm::Expected<ModelInput> loadDirectory(const CompileOptions &options, mlir::MLIRContext &context) {
  Diagnostics diagnostics;
  HuggingFaceOptions import{options.maxSequence.value_or(0), options.randomWeights};
  auto module = importHuggingFace(options.model, import, context, diagnostics);
  for (const std::string &warning : diagnostics.warnings())
    llvm::errs() << warning << "\n";
  if (module)
    return ModelInput{std::move(module), {}};
  return llvm::createStringError(llvm::join(diagnostics.errors(), "\n"));
}

// Whether the output would take the place of a file that the model consists of.
static bool overwritesModel(const std::string &output, const std::string &model, bool directory) {
  if (!directory)
    return llvm::sys::fs::equivalent(output, model);
  llvm::StringRef folder = llvm::sys::path::parent_path(output), kind = llvm::sys::path::extension(output);
  return llvm::sys::fs::equivalent(folder.empty() ? "." : folder, model) && llvm::sys::fs::exists(output) &&
         llvm::is_contained({".json", ".safetensors", ".txt", ".model", ".spm"}, kind);
}

llvm::Expected<ModelInput> loadModel(const CompileOptions &options, mlir::MLIRContext &context) {
  bool directory = llvm::sys::fs::is_directory(options.model);
  if (!directory && !llvm::sys::fs::exists(options.model))
    return makeError(ErrorCode::Model, "{}: does not exist; expected a model directory or an .mlir file",
                     options.model);
  bool program = !directory && llvm::sys::path::extension(options.model) == ".mlir";
  if (!directory && !program)
    return makeError(ErrorCode::Model, "{}: is neither a model directory nor an .mlir file", options.model);
  if (overwritesModel(options.output, options.model, directory) && options.stopAfter.empty())
    return makeError(ErrorCode::Output, "{}: is a file of the model; name another file to write with -o",
                     options.output);
  if (directory && !options.startFrom.empty() && options.startFrom != "import")
    return makeError(ErrorCode::Model, "{}: is a directory, but --start-from={} needs an .mlir file", options.model,
                     options.startFrom);
  llvm::Expected<ModelInput> input = program ? loadProgram(options, context) : loadDirectory(options, context);
  if (!input)
    return input.takeError();
  const std::string &tokenizer = options.tokenizer.empty() && directory ? options.model : options.tokenizer;
  if (!tokenizer.empty())
    if (llvm::Error error = readTokenizer(tokenizer, input->tokenizer))
      return std::move(error);
  return input;
}

}  // namespace talc::tools
