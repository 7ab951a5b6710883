// SPDX-License-Identifier: Apache-2.0
// Where the model of a product lies on the machine that compiled it: a record in the user's cache, since products have
// no paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace talc::tools {

struct ModelOrigin {
  std::string model;                 // a path; in a manifest the name alone
  std::vector<std::string> options;  // for parseModelOptions
};

// Records the origin of a product that was just written, with absolute paths. A failure is silent: then the product
// does not say more than its manifest.
void recordOrigin(const std::string &cacheDirectory, const std::string &product, const ModelOrigin &origin);

// The origin of the product with this fingerprint (Artifact::fingerprint), if it was compiled here. Only a file of the
// user's own is read, which nobody else may write.
std::optional<ModelOrigin> findOrigin(const std::string &cacheDirectory, uint64_t fingerprint);

}  // namespace talc::tools
