// SPDX-License-Identifier: Apache-2.0
// Fills struct CodeHeader; the code follows on the next page, so that its pages are mapped as they are.
#include "compiler/artifact/Sections.h"

#include "compiler/Error.h"
#include "runtime/artifact/ArtifactFormat.h"

namespace talc {

llvm::Error writeName(llvm::StringRef name, llvm::MutableArrayRef<char> array) {
  if (name.size() >= array.size())
    return internalError("the name '{}' is longer than {} bytes", name.str(), array.size() - 1);
  llvm::copy(name, array.begin());
  return llvm::Error::success();
}

static llvm::Error fill(const CodeSection &section, artifact::CodeHeader &header) {
  targets::MachineRequirements needs = section.target.requirements();
  const std::vector<targets::LinkedCode::Entry> &entries = section.linked.entries;
  if (needs.features.size() > artifact::maxFeatures || entries.size() > artifact::maxEntries)
    return internalError("code for {} needs {} features and has {} entries", section.target.name(),
                         needs.features.size(), entries.size());
  header.featureCount = static_cast<uint32_t>(needs.features.size());
  header.entryCount = static_cast<uint32_t>(entries.size());
  llvm::Error error =
      llvm::joinErrors(writeName(needs.family, header.family), writeName(section.target.weightLayout(), header.layout));
  for (auto [name, array] : llvm::zip(needs.features, header.features))
    error = llvm::joinErrors(std::move(error), writeName(name, array));
  for (auto [entry, target] : llvm::zip(entries, header.entries))
    error = llvm::joinErrors(
        std::move(error), llvm::joinErrors(writeName(entry.name, target.name), writeName(entry.symbol, target.symbol)));
  return error;
}

llvm::Expected<std::vector<uint8_t>> CodeSection::bytes() const {
  artifact::CodeHeader header = {};
  if (llvm::Error error = fill(*this, header))
    return std::move(error);
  std::vector<uint8_t> result(artifact::codeOffset);
  memcpy(result.data(), &header, sizeof(header));
  result.insert(result.end(), linked.image.begin(), linked.image.end());
  return result;
}

}  // namespace talc
