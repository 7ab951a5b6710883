// SPDX-License-Identifier: Apache-2.0
// Stores object code of functions in a directory, so that the same function is compiled once.
#pragma once

#include "compiler/targets/ObjectCode.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace talc::targets {

// Any number of processes may use a directory at the same time: an entry appears complete, and one that is damaged
// counts as absent. A directory that cannot be read or written is an empty cache. So is a folder in it that is not the
// user's, or that others may write: entries are code.
class CodeCache {
public:
  static constexpr uint64_t maxBytes = uint64_t(1) << 30, folders = 256;

  explicit CodeCache(std::string directory) : directory(std::move(directory)) {}

  // `key`: see CodeKeys.
  std::optional<ObjectCode> find(llvm::StringRef key) const;

  // Then removes the least recently used entries from the entry's folder, until it keeps to its share of `maxBytes`.
  void store(llvm::StringRef key, const ObjectCode &code) const;

private:
  std::string entryFolder(llvm::StringRef key) const;
  void trim(const std::string &folder) const;

  std::string directory;
};

}  // namespace talc::targets
