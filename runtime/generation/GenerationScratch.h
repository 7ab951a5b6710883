// SPDX-License-Identifier: Apache-2.0
// Memory that all texts of a scheduler share.
#pragma once

#include "runtime/sampling/SamplingScratch.h"
#include "runtime/tokenizer/DecodeScratch.h"

namespace talc {

struct GenerationScratch {
  SamplingScratch &sampling;  // the session's
  DecodeScratch text = {};
};

}  // namespace talc
