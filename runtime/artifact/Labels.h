// SPDX-License-Identifier: Apache-2.0
// Reads the section with the names of a model's classes.
#pragma once

#include <cstdint>
#include <vector>

namespace talc {

// Fills `labels` with `count` pointers into the section. Null on success, else what is wrong with the section.
const char *readLabels(const unsigned char *bytes, uint64_t size, uint64_t count, std::vector<const char *> &labels);

}  // namespace talc
