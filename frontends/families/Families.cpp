// SPDX-License-Identifier: Apache-2.0
// The table of model families.
#include "frontends/families/Families.h"

namespace talc {

constexpr Family table[] = {
    {"gpt2", "transformer.", defineGpt2, 50256, 50256}, {"llama", "model.", defineLlama, 1, 2},
    {"mistral", "model.", defineMistral, 1, 2},         {"qwen2", "model.", defineQwen2, -1, -1},
    {"qwen3", "model.", defineQwen3, -1, -1},
};

llvm::ArrayRef<Family> families() {
  return table;
}

}  // namespace talc
