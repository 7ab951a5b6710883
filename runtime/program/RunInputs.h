// SPDX-License-Identifier: Apache-2.0
// Does with the model what the command line asks: generates text, or answers with an encoder.
#pragma once

#include "runtime/program/Options.h"

namespace talc::program {

Status evaluateInputs(const talc_model *model, const talc_model_info &info, const Options &options, double loadSeconds);

}  // namespace talc::program
