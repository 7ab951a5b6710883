// SPDX-License-Identifier: Apache-2.0
// What GGUF calls the weights of families.
#pragma once

#include "frontends/gguf/GgufArchitectures.h"

#include <string>
#include <vector>

namespace talc {

struct GgufPlace {
  std::string name;  // in GGUF; empty: it has no such tensor
  StoredOrder::Kind order = StoredOrder::Kind::AsIs;
  int64_t expert = -1;  // whose part of the tensor it is; -1: all of it
};

GgufPlace ggufPlace(const GgufArchitecture &architecture, const std::string &weight);
// In files of all architectures, each once.
std::vector<GgufPlace> ggufPlaces(const std::string &weight);

}  // namespace talc
