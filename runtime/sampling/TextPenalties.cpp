// SPDX-License-Identifier: Apache-2.0
// Marks all tokens of a text, and counts those behind its beginning.
#include "runtime/sampling/TextPenalties.h"

namespace talc {

void TextPenalties::reserve(size_t vocabulary, SamplingScratch &scratch) const {
  if (areOn())
    scratch.marks.reserve(vocabulary);
  if (countsNew())
    scratch.counts.resize(vocabulary);
}

void TextPenalties::read(const UnfinishedText &text, SamplingScratch &scratch) const {
  if (!areOn())
    return;
  scratch.marks.clear();
  for (size_t i = 0; i < text.length; ++i)
    scratch.marks.add(text.ids[i]);
  if (!countsNew())
    return;
  for (size_t i = 0; i < text.length; ++i)
    scratch.counts[text.ids[i]] = 0;
  for (size_t i = text.beginning; i < text.length; ++i)
    ++scratch.counts[text.ids[i]];
}

}  // namespace talc
