// SPDX-License-Identifier: Apache-2.0
// Reads the heads of code sections and asks the device for the features that they name.
#include "runtime/artifact/CodeChoice.h"

#include <cstring>

namespace talc {

using namespace artifact;

static bool isName(const char (&name)[nameBytes]) {
  return memchr(name, 0, nameBytes) != nullptr;
}

static bool isValid(const CodeHeader &header) {
  bool valid = isName(header.family) && isName(header.layout) && header.featureCount <= maxFeatures &&
               header.entryCount <= maxEntries;
  for (uint32_t i = 0; valid && i < header.featureCount; ++i)
    valid = isName(header.features[i]);
  for (uint32_t i = 0; valid && i < header.entryCount; ++i)
    valid = isName(header.entries[i].name) && isName(header.entries[i].symbol);
  return valid;
}

static bool runs(const CodeFamily &family, const CodeHeader &header) {
  for (uint32_t i = 0; i < header.featureCount; ++i)
    if (!family.has(header.features[i]))
      return false;
  return true;
}

// Returns a checked copy of the head.
static bool readHeader(const Artifact::LocatedSection &section, CodeHeader &header) {
  if (section.header.size < codeOffset)
    return false;
  memcpy(&header, section.bytes, sizeof(header));
  return isValid(header);
}

Status chooseCode(const Artifact &file, const CodeFamily &family, CodeChoice &choice) {
  const char *name = file.name().c_str(), *foreign = nullptr;
  std::string lack;
  for (const Artifact::LocatedSection &section : file.sections()) {
    if (section.header.kind != static_cast<uint32_t>(SectionKind::Code))
      continue;
    choice.target = section.header.name;
    if (!readHeader(section, choice.header))
      return Status::failure(TALC_ERROR_DAMAGED, "%s: the code for %s: has a damaged head", name, choice.target);
    if (strcmp(choice.header.family, family.name) != 0) {
      foreign = choice.target;
    } else if (runs(family, choice.header)) {
      choice.bytes = section.bytes + codeOffset;
      choice.size = section.header.size - codeOffset;
      choice.file = file.source.descriptor();
      choice.fileOffset = file.source.fileOffset() + section.header.offset + codeOffset;
      return {};
    } else {
      lack = family.explainUnsupported(choice.header, choice.target);  // ends with the code that needs least
    }
  }
  if (!lack.empty())
    return Status::failure(family.lacking, "%s: %s", name, lack.c_str());
  if (foreign)
    return Status::failure(family.lacking,
                           "%s: has code for %s, but this machine runs %s; compile it with another --target", name,
                           foreign, family.name);
  return Status::failure(TALC_ERROR_DAMAGED, "%s: the artifact has no code", name);
}

}  // namespace talc
