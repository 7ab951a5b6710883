// SPDX-License-Identifier: Apache-2.0
// A model's header: its constants and the function that opens it, after the text of runtime/talc.h.
#include "compiler/artifact/ArtifactWriter.h"

#include "compiler/Error.h"
#include "compiler/artifact/Sections.h"

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
/* The model of {file}. */
#ifndef TALC_MODEL_{upper}_H
#define TALC_MODEL_{upper}_H

#define {upper}_VOCABULARY_SIZE {vocabulary} /* token ids are less */
#define {upper}_MAX_SEQUENCE {longest} /* tokens that one sequence can hold */
#define {upper}_BEGIN_TOKEN ({begin}) /* -1: none */

#ifdef __cplusplus
extern "C" {{
#endif

/* Opens the model that {file} carries, whatever else a program is linked with: talc_model_open of that part
   of the program or library. */
TALC_API talc_status {lower}_open(const talc_open_options *options, talc_model **model, talc_error *error);

#ifdef __cplusplus
}}
#endif

#endif
)";

// DIR/libNAME.so and DIR/NAME.o: NAME.
static std::string modelName(const std::string &path) {
  llvm::StringRef name = llvm::sys::path::stem(path);
  if (llvm::sys::path::extension(path) != ".o")
    name.consume_front("lib");
  return name.str();
}

std::string openFunctionName(const std::string &path) {
  return identifier(modelName(path)) + "_open";
}

llvm::Expected<std::unique_ptr<OutputFile>> writeLibraryHeader(mlir::ModuleOp module, const std::string &path) {
  llvm::Expected<artifact::ModelInfo> facts = makeModelInfo(module);
  if (!facts)
    return facts.takeError();
  std::string name = modelName(path), lower = identifier(name), upper = llvm::StringRef(lower).upper();
  std::string text = runtimeHeader;
  text += fmt::format(fmt::runtime(modelText), fmt::arg("file", llvm::sys::path::filename(path).str()),
                      fmt::arg("upper", upper), fmt::arg("lower", lower), fmt::arg("vocabulary", facts->vocabularySize),
                      fmt::arg("longest", facts->maxSequence), fmt::arg("begin", facts->generation.beginToken));
  llvm::SmallString<128> header(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(header, name + ".h");
  auto file = OutputFile::create(header.str().str());
  if (!file)
    return file.takeError();
  if (llvm::Error error = (*file)->write({reinterpret_cast<const uint8_t *>(text.data()), text.size()}))
    return std::move(error);
  return std::move(*file);
}

}  // namespace talc
