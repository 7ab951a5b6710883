// SPDX-License-Identifier: Apache-2.0
// A program that comes from a file may have anything as its code.
#include "compiler/generators/GeneratedCode.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace talc {

static constexpr llvm::StringLiteral objectKey = "object", loopsKey = "loops", assemblyKey = "assembly",
                                     spillsKey = "spills";

static NamedAttribute resource(Builder &b, StringRef key, StringRef name, StringRef bytes) {
  auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())}, b.getI8Type());
  return b.getNamedAttr(key, DenseResourceElementsAttr::get(
                                 type, (name + "." + key).str(),
                                 HeapAsmResourceBlob::allocateAndCopyInferAlign(ArrayRef(bytes.data(), bytes.size()))));
}

static std::optional<ArrayRef<char>> readBytes(DictionaryAttr code, StringRef key) {
  auto elements = code.getAs<DenseResourceElementsAttr>(key);
  AsmResourceBlob *blob = elements ? elements.getRawHandle().getBlob() : nullptr;
  return blob ? std::optional(blob->getData()) : std::nullopt;
}

void setGeneratedCode(Operation *function, StringRef name, const GeneratedCode &code) {
  Builder b(function->getContext());
  StringRef object(reinterpret_cast<const char *>(code.object.data()), code.object.size());
  function->setAttr(generatedCodeAttr,
                    b.getDictionaryAttr({resource(b, objectKey, name, object), resource(b, loopsKey, name, code.loops),
                                         resource(b, assemblyKey, name, code.assembly),
                                         b.getNamedAttr(spillsKey, b.getI64IntegerAttr(code.spills))}));
}

std::optional<GeneratedCode> generatedCode(Operation *function) {
  auto code = function->getAttrOfType<DictionaryAttr>(generatedCodeAttr);
  if (!code)
    return std::nullopt;
  auto object = readBytes(code, objectKey), loops = readBytes(code, loopsKey), assembly = readBytes(code, assemblyKey);
  auto spills = code.getAs<IntegerAttr>(spillsKey);
  if (!object || !loops || !assembly || !spills || !spills.getType().isInteger(64))
    return std::nullopt;
  return GeneratedCode{{object->begin(), object->end()},
                       {loops->begin(), loops->end()},
                       {assembly->begin(), assembly->end()},
                       spills.getInt()};
}

}  // namespace talc
