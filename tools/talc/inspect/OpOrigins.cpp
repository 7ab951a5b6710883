// SPDX-License-Identifier: Apache-2.0
// A name is the metadata of a fused location around the operation's own.
#include "tools/talc/inspect/ModelGraph.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc::tools {

static llvm::StringRef nameIn(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  auto name = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : StringAttr();
  return name ? name.getValue() : "";
}

void nameOrigins(ModuleOp module) {
  MLIRContext *context = module.getContext();
  for (auto function : module.getOps<FunctionOpInterface>()) {
    int64_t number = 0;
    function.walk([&](Operation *op) {
      if (op == function)
        return;
      auto name = StringAttr::get(context, fmt::format("{}:{}", function.getName().str(), number++));
      op->setLoc(FusedLoc::get(context, {op->getLoc()}, name));
    });
  }
}

std::string getOrigin(Operation *op) {
  return nameIn(op->getLoc()).str();
}

std::set<std::string> getOrigins(Operation *op) {
  std::set<std::string> names;
  op->getLoc()->walk([&](Location location) {
    if (llvm::StringRef name = nameIn(location); !name.empty())
      names.insert(name.str());
    return WalkResult::advance();
  });
  return names;
}

}  // namespace talc::tools
