// SPDX-License-Identifier: Apache-2.0
// Each name is followed by a NUL, as ArtifactFormat.h says.
#include "compiler/artifact/Sections.h"

#include "compiler/Error.h"
#include "dialects/talc/ModelName.h"

#include "llvm/Support/ConvertUTF.h"

using namespace mlir;

namespace talc {

// The width of the result that has a logit for every class; 0 if there is none.
static uint32_t countClasses(const artifact::ModelInfo &info) {
  for (const artifact::OutputInfo &output : info.outputs)
    if (output.kind == static_cast<uint32_t>(artifact::OutputKind::Classes) ||
        output.kind == static_cast<uint32_t>(artifact::OutputKind::TokenClasses))
      return output.width;
  return 0;
}

static bool isUtf8(llvm::StringRef text) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  return llvm::isLegalUTF8String(&begin, begin + text.size());
}

llvm::Expected<std::string> makeLabels(ModuleOp module, const artifact::ModelInfo &info) {
  Attribute attr = module->getAttr(labelsAttr);
  if (!attr)
    return std::string();
  auto names = dyn_cast<ArrayAttr>(attr);
  if (!names || names.size() != countClasses(info))
    return makeError(ErrorCode::ModelInfo, "{}: {} names {} classes, but the results have {}", modelName(module),
                     labelsAttr.str(), names ? names.size() : 0, countClasses(info));
  std::string section;
  for (auto [i, name] : llvm::enumerate(names)) {
    auto text = dyn_cast<StringAttr>(name);
    if (!text || text.getValue().contains('\0') || !isUtf8(text.getValue()))
      return makeError(ErrorCode::ModelInfo, "{}: the name of class {} in {} is not UTF-8 text without NUL",
                       modelName(module), i, labelsAttr.str());
    section += text.getValue();
    section += '\0';
  }
  return section;
}

}  // namespace talc
