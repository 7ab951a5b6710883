// SPDX-License-Identifier: Apache-2.0
// Keeps file descriptors.
#include "dialects/talc/WeightFiles.h"

#include <fcntl.h>
#include <unistd.h>

using namespace mlir;

namespace talc {

WeightFiles::~WeightFiles() {
  for (const auto &file : descriptors)
    close(file.second);
}

WeightFiles &WeightFiles::get(MLIRContext &context) {
  return *context.getOrLoadDialect<TalcDialect>()->getRegisteredInterface<WeightFiles>();
}

bool WeightFiles::keep(llvm::StringRef path, int descriptor) {
  int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0)
    return false;
  auto [place, isNew] = descriptors.try_emplace(path, copy);
  if (!isNew) {
    close(place->second);
    place->second = copy;
  }
  return true;
}

int WeightFiles::find(llvm::StringRef path) const {
  auto place = descriptors.find(path);
  return place == descriptors.end() ? -1 : place->second;
}

}  // namespace talc
