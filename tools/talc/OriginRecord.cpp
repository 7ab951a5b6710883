// SPDX-License-Identifier: Apache-2.0
// A record is the file origins/FINGERPRINT in the cache: {"model": "/path", "options": ["--weights=bf16"]}.
#include "tools/talc/OriginRecord.h"

#include "compiler/artifact/OutputFile.h"
#include "dialects/talc/ModuleKeys.h"
#include "frontends/Json.h"
#include "frontends/NamedFile.h"
#include "runtime/artifact/Artifact.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace talc::tools {

using Json = nlohmann::json;
namespace fs = llvm::sys::fs;

static std::string absolutePath(llvm::StringRef path) {
  llvm::SmallString<256> result(path);
  if (fs::make_absolute(result))
    return path.str();
  llvm::sys::path::remove_dots(result);
  return result.str().str();
}

static std::string recordPath(const std::string &cacheDirectory, uint64_t fingerprint) {
  llvm::SmallString<256> path(cacheDirectory);
  llvm::sys::path::append(path, "origins", llvm::utohexstr(fingerprint, /*LowerCase=*/true, /*Width=*/16));
  return path.str().str();
}

static std::optional<uint64_t> readFingerprint(const std::string &product) {
  Artifact artifact;
  if (artifact.source.openPath(product).failed() || artifact.open({/*checkWeights=*/false}).failed())
    return std::nullopt;
  return artifact.fingerprint();
}

void recordOrigin(const std::string &cacheDirectory, const std::string &product, const ModelOrigin &origin) {
  auto fingerprint = cacheDirectory.empty() ? std::nullopt : readFingerprint(product);
  if (!fingerprint)
    return;
  Json record = {{originKeys::model, absolutePath(origin.model)}, {originKeys::options, Json::array()}};
  for (llvm::StringRef word : origin.options)
    record[originKeys::options].push_back(
        word.consume_front(originKeys::fileOption) ? originKeys::fileOption + absolutePath(word) : word.str());
  std::string path = recordPath(cacheDirectory, *fingerprint);
  if (fs::create_directories(llvm::sys::path::parent_path(path), true, fs::owner_all))
    return;
  std::string text = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  llvm::consumeError(writeBytes(llvm::arrayRefFromStringRef(text), path, OutputFile::ownerMayWrite));
}

std::optional<ModelOrigin> findOrigin(const std::string &cacheDirectory, uint64_t fingerprint) {
  constexpr uint64_t maxBytes = 1 << 20;
  std::string problem, path = recordPath(cacheDirectory, fingerprint);
  auto text = cacheDirectory.empty() ? std::nullopt : readNamedFile(path, {maxBytes, NamedBy::Talc}, problem);
  Json record = text && jsonProblem(*text).empty() ? Json::parse(*text, nullptr, false) : Json();
  auto model = record.find(originKeys::model), options = record.find(originKeys::options);
  if (!record.is_object() || model == record.end() || !model->is_string() || options == record.end() ||
      !options->is_array())
    return std::nullopt;
  ModelOrigin origin = {model->get<std::string>(), {}};
  for (const Json &word : *options)
    origin.options.push_back(word.is_string() ? word.get<std::string>() : "");
  return origin;
}

}  // namespace talc::tools
