// SPDX-License-Identifier: Apache-2.0
// The storage formats of KV caches.
#include "dialects/talc/formats/KvFormats.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc {

std::vector<std::string> kvFormatNames() {
  return {"f32", "f16", "bf16", "q8_0"};
}

static FormatRef readFormat(DictionaryAttr formats, const char *key, std::string &error) {
  Attribute attribute = formats ? formats.get(key) : Attribute();
  if (!attribute)
    return findStorageFormat("f32");
  auto name = dyn_cast<StringAttr>(attribute);
  if (name && llvm::is_contained(kvFormatNames(), name.getValue().str()))
    return findStorageFormat(name.getValue().str());
  error = fmt::format("{}.{} is {}, expected one of {}", kvFormatsAttr, key,
                      name ? name.getValue().str() : "not a string", fmt::join(kvFormatNames(), ", "));
  return nullptr;
}

std::optional<KvFormats> getKvFormats(ModuleOp module, std::string &error) {
  auto attribute = module->getAttrOfType<DictionaryAttr>(kvFormatsAttr);
  KvFormats formats = {readFormat(attribute, keysKey, error), readFormat(attribute, valuesKey, error)};
  return formats.keys && formats.values ? std::optional(formats) : std::nullopt;
}

}  // namespace talc
