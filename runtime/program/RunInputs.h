// SPDX-License-Identifier: Apache-2.0
// Runs the model on the inputs of the command line: generates text, or prints the output of an encoder.
#pragma once

#include "runtime/program/Options.h"

namespace talc::program {

Status evaluateInputs(const talc_model *model, const talc_model_info &info, const Options &options, double loadSeconds);

}  // namespace talc::program
