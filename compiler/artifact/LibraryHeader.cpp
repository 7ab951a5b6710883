// SPDX-License-Identifier: Apache-2.0
// A model's header: its constants and a function that opens it, after the text of runtime/talc.h.
#include "compiler/artifact/LibraryHeader.h"

#include "compiler/Error.h"
#include "compiler/artifact/ModelFacts.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

namespace talc {

static constexpr char runtimeHeader[] =
#include "compiler/artifact/RuntimeHeader.inc"
    ;

// A name that C accepts.
static std::string identifier(llvm::StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) ? llvm::toLower(c) : '_';
  return result.empty() || llvm::isDigit(result[0]) ? "model_" + result : result;
}

static constexpr const char *modelText = R"(
/* The model of lib{name}.so. */
#ifndef TALC_MODEL_{upper}_H
#define TALC_MODEL_{upper}_H

#define {upper}_VOCABULARY_SIZE {vocabulary} /* token ids are less */
#define {upper}_MAX_SEQUENCE {longest} /* tokens that one sequence can hold */
#define {upper}_BEGIN_TOKEN ({begin}) /* -1: none */

/* Opens the model that this library carries: talc_model_open(NULL, ...). */
static inline talc_status {lower}_open(const talc_open_options *options, talc_model **model, talc_error *error) {{
  return talc_model_open(NULL, options, model, error);
}}

#endif
)";

llvm::Expected<std::unique_ptr<OutputFile>> writeLibraryHeader(mlir::ModuleOp module, const std::string &libraryPath) {
  llvm::Expected<artifact::ModelInfo> facts = modelFacts(module);
  if (!facts)
    return facts.takeError();
  llvm::StringRef name = llvm::sys::path::stem(libraryPath);
  name.consume_front("lib");
  std::string lower = identifier(name), upper = llvm::StringRef(lower).upper();
  std::string text = runtimeHeader;
  text += fmt::format(fmt::runtime(modelText), fmt::arg("name", name.str()), fmt::arg("upper", upper),
                      fmt::arg("lower", lower), fmt::arg("vocabulary", facts->vocabularySize),
                      fmt::arg("longest", facts->maxSequence), fmt::arg("begin", facts->generation.beginToken));
  llvm::SmallString<128> path(llvm::sys::path::parent_path(libraryPath));
  llvm::sys::path::append(path, name + ".h");
  auto file = OutputFile::create(path.str().str(), false);
  if (!file)
    return file.takeError();
  if (llvm::Error error = (*file)->write({reinterpret_cast<const uint8_t *>(text.data()), text.size()}))
    return std::move(error);
  return std::move(*file);
}

}  // namespace talc
