// SPDX-License-Identifier: Apache-2.0
// The widths of parts tell which words they have.
#include "runtime/artifact/LogitParts.h"

namespace talc {

using artifact::OutputKind;

bool LogitParts::areWhole() const {
  bool logits = false;
  for (int32_t i = 0; i < head; ++i)
    logits |= is(i, OutputKind::Logits);
  for (int32_t i = exist() ? head + 1 + tails : head; i < artifact::maxOutputs; ++i)
    if (!is(i, OutputKind::None))
      return false;
  if (!exist())
    return true;
  if (!logits || tails == 0 || info.outputs[head].width <= static_cast<uint32_t>(tails))
    return false;
  uint64_t words = unclustered();
  for (int32_t tail = 0; tail < tails; ++tail)
    words += info.outputs[head + 1 + tail].width;
  return words == info.vocabularySize;
}

LogitParts::Sum LogitParts::find(uint32_t word) const {
  uint32_t first = unclustered();
  if (word < first)
    return {{head, word}, {-1, 0}};
  int32_t tail = 0;
  for (; word - first >= info.outputs[head + 1 + tail].width; ++tail)
    first += info.outputs[head + 1 + tail].width;
  return {{head, unclustered() + static_cast<uint32_t>(tail)}, {head + 1 + tail, word - first}};
}

}  // namespace talc
