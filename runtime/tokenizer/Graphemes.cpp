// SPDX-License-Identifier: Apache-2.0
// The grapheme cluster rules GB3 to GB13 over the classes of a section.
#include "runtime/tokenizer/TextOps.h"
#include "runtime/tokenizer/Utf8.h"

namespace talc::tokenizer {
namespace {

using Class = GraphemeClass;

Class findClass(const Section &section, uint32_t codePoint) {
  const ValueRange *range = findRange(section.graphemes, codePoint);
  return range ? static_cast<Class>(range->value) : Class::Other;
}

bool isControl(Class c) {
  return c == Class::Cr || c == Class::Lf || c == Class::Control;
}

// Whether a Hangul syllable goes on (GB6 to GB8).
bool joinsHangul(Class left, Class right) {
  if (left == Class::L)
    return right == Class::L || right == Class::V || right == Class::Lv || right == Class::Lvt;
  if (left == Class::Lv || left == Class::V)
    return right == Class::V || right == Class::T;
  return (left == Class::Lvt || left == Class::T) && right == Class::T;
}

}  // namespace

size_t clusterEnd(const Section &section, std::string_view text, size_t begin) {
  size_t position = begin;
  Class left = findClass(section, decodeAt(text, position));
  bool pictographic = left == Class::Pictographic;  // the cluster so far is Pictographic Extend* Zwj?
  bool oddIndicators = left == Class::RegionalIndicator;
  while (position < text.size()) {
    size_t next = position;
    Class right = findClass(section, decodeAt(text, next));
    bool joins = joinsHangul(left, right) || right == Class::Extend || right == Class::Zwj ||
                 right == Class::SpacingMark || left == Class::Prepend ||
                 (pictographic && left == Class::Zwj && right == Class::Pictographic) ||
                 (oddIndicators && left == Class::RegionalIndicator && right == Class::RegionalIndicator);
    if (isControl(left) || isControl(right))
      joins = left == Class::Cr && right == Class::Lf;
    if (!joins)
      break;
    pictographic = right == Class::Pictographic ||
                   (pictographic && left != Class::Zwj && (right == Class::Extend || right == Class::Zwj));
    oddIndicators = right == Class::RegionalIndicator && !oddIndicators;
    left = right;
    position = next;
  }
  return position;
}

}  // namespace talc::tokenizer
