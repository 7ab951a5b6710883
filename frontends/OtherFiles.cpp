// SPDX-License-Identifier: Apache-2.0
// Says what a file is that was named as a model and is none.
#include "frontends/OtherFormats.h"

#include "frontends/NamedFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

#include <algorithm>

namespace talc {

// Whether a directory holds a model that talc reads. A file that is part of one may be its weights by another name.
static bool isModel(const std::string &path, FormatUse use) {
  Diagnostics ignored;
  auto directory = ModelDirectory::open(path, ignored);
  return directory && directory->contains("config.json") &&
         (use == FormatUse::PartOfModel || directory->hasSafetensors());
}

// The directory of the file, the one above it (of model/onnx/model.onnx), or the one with its name (of model.tar.gz)
// if that has a model that talc reads; else empty.
static std::string findModel(const std::string &file, FormatUse use) {
  if (use == FormatUse::Nothing)
    return {};
  llvm::StringRef folder = llvm::sys::path::parent_path(file);
  const std::string parent = folder.empty() ? "." : folder.str();
  llvm::SmallString<128> named(folder), above(parent);
  llvm::sys::path::append(named, llvm::sys::path::filename(file).split('.').first);
  llvm::sys::path::append(above, "..");
  llvm::sys::path::remove_dots(above, /*remove_dot_dot=*/!folder.empty());
  if (isModel(parent, use))
    return parent;
  for (const std::string &candidate : {named.str().str(), above.empty() ? "." : above.str().str()})
    if (isModel(candidate, FormatUse::OtherModel))
      return candidate;
  return {};
}

static FoundFormat readFormat(const std::string &path) {
  std::string problem;
  OpenFile file = openNamedFile(path, problem);
  std::string head(std::min<uint64_t>(file.size(), formatHeadBytes), '\0');
  if (!file || !file.read(0, head.data(), head.size()))
    return {};
  return findOtherFormat(llvm::sys::path::filename(path).str(), head);
}

std::string describeOtherFile(const std::string &path) {
  FoundFormat found = readFormat(path);
  if (!found.format)
    return {};
  // Weights of OpenVINO are bare numbers; the .xml file with the same name says what they are.
  llvm::SmallString<128> description(path);
  llvm::sys::path::replace_extension(description, "xml");
  if (!found.isContent)
    if (FoundFormat described = readFormat(description.str().str()); described.isContent)
      found = described;
  std::string directory = findModel(path, found.format->use);
  std::string remedy = directory.empty()
                           ? found.format->remedy
                           : fmt::format("name the directory of the model that talc reads: talc compile {}", directory);
  return fmt::format("{} {}; {}", found.isContent || found.format->magics.empty() ? "is" : "has the name of",
                     found.format->name, remedy);
}

}  // namespace talc
