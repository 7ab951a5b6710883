// SPDX-License-Identifier: Apache-2.0
// Tables are made once a model is opened, since what they are made of is about a hundredth of their size.
#include "runtime/artifact/ModelWeights.h"

#include "runtime/artifact/RotaryTables.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstring>

namespace talc {

using namespace artifact;

Status ModelWeights::open(const Artifact &file, const char *layout, const ModelInfo &facts) {
  tableBytes = facts.tableBytes;
  storedBytes = facts.weightBytes - tableBytes;
  if (Status status = file.openWeights(layout, storedBytes, section); status.failed())
    return status;
  return tableBytes > 0 ? makeTables(file) : Status();
}

Status ModelWeights::makeTables(const Artifact &file) {
  rotary = Mapping::zeros(tableBytes);
  if (rotary.empty())
    return Status::failure(TALC_ERROR_MEMORY, "%s: no memory for rotary tables: %" PRIu64 " bytes: %s",
                           file.name().c_str(), tableBytes, strerror(errno));
  const Artifact::LocatedSection *numbers = file.find(SectionKind::RotaryTables);
  const char *wrong =
      numbers ? makeRotaryTables(numbers->bytes, numbers->header.size, rotary.data(), tableBytes) : "it is missing";
  if (wrong)
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'rotary tables': %s", file.name().c_str(), wrong);
  return {};
}

ModelWeights::Run ModelWeights::read(uint64_t offset, uint64_t limit) const {
  if (offset < storedBytes)
    return {section.bytes + offset, std::min(limit, storedBytes - offset)};
  return {rotary.data() + (offset - storedBytes), std::min(limit, size() - offset)};
}

}  // namespace talc
