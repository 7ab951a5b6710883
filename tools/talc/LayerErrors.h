// SPDX-License-Identifier: Apache-2.0
// Compares two programs of a model layer by layer.
#pragma once

#include "tools/talc/CompileOptions.h"
#include "tools/talc/perplexity/Perplexity.h"

#include <string>

namespace talc::tools {

// Whether a program rounds more than the model's files do.
bool roundsMore(const CompileOptions &options);
// Returns options for the same model, with everything as the files have it and computed in f32.
CompileOptions exactly(const CompileOptions &options);

// perplexity::measure of libraries that are compiled with both options, and show what their layers yield; `run` says
// all but their names. Returns the line of an error, or nothing.
std::string compareLayers(const CompileOptions &options, const CompileOptions &other, perplexity::Options run,
                          perplexity::Results &results);

// Compares the models from which the programs that `run` names were compiled.
std::string compareLayers(const std::string &programDirectory, const perplexity::Options &run,
                          perplexity::Results &results);

}  // namespace talc::tools
