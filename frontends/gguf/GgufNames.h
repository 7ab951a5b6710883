// SPDX-License-Identifier: Apache-2.0
// The names of weights in GGUF.
#pragma once

#include "frontends/gguf/GgufArchitectures.h"

#include <string>
#include <vector>

namespace talc {

struct GgufTensorName {
  std::string name;  // in GGUF; empty: it has no such tensor
  StoredOrder::Kind order = StoredOrder::Kind::AsIs;
  int64_t expert = -1;  // whose part of the tensor it is; -1: all of it
};

GgufTensorName ggufTensorName(const GgufArchitecture &architecture, const std::string &weight);
// The names in all architectures, without duplicates.
std::vector<GgufTensorName> ggufTensorNames(const std::string &weight);

}  // namespace talc
