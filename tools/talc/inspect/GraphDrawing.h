// SPDX-License-Identifier: Apache-2.0
// A function of the model as a drawing.
#pragma once

#include "tools/talc/inspect/ModelGraph.h"

#include <functional>
#include <string>

namespace talc::tools {

// SVG, coloured by the page's style: boxes from top to bottom in the order of the data, each a link to `target`.
std::string drawGraph(const GraphFunction &graph, const std::function<std::string(const GraphNode &)> &target);

}  // namespace talc::tools
