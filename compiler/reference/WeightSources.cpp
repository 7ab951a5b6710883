// SPDX-License-Identifier: Apache-2.0
// Weights from files, from the pseudo-random generator, and from the program.
#include "compiler/reference/WeightSources.h"

#include "compiler/Error.h"
#include "compiler/artifact/weights/RandomUniform.h"
#include "compiler/reference/StoredValues.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace talc::reference {

using llvm::APFloat;

llvm::Expected<Weight> emptyWeight(const std::string &name, mlir::RankedTensorType type) {
  constexpr int64_t limit = int64_t(1) << 31;
  int64_t elements = 1;
  for (int64_t size : type.getShape()) {
    if (size < 0 || (elements > 0 && size > limit / elements))
      return makeError(ErrorCode::WeightRecipe, "weight '{}' has more elements than the interpreter holds ({})", name,
                       limit);
    elements *= size;
  }
  return Weight{type.getShape().vec(), std::vector<double>(elements)};
}

llvm::Expected<Weight> readFile(const std::string &name, llvm::StringRef directory, FileSourceAttr source,
                                mlir::RankedTensorType type) {
  llvm::SmallString<128> path(source.getPath());
  if (!llvm::sys::path::is_absolute(path)) {
    path = directory;
    llvm::sys::path::append(path, source.getPath());
  }
  std::string file = path.str().str();
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return makeError(ErrorCode::WeightFile, "{}: cannot be read: {}", file, error.message());
  if (!llvm::sys::fs::is_regular_file(status))
    return makeError(ErrorCode::WeightFile, "{}: is not a regular file", file);
  llvm::Expected<Weight> weight = emptyWeight(name, type);
  if (!weight)
    return weight.takeError();
  mlir::Type stored = source.getElementType();
  uint64_t offset = source.getOffset(), bytes = storedBytes(stored, weight->values.size());
  if (offset > status.getSize() || bytes > status.getSize() - offset)
    return makeError(ErrorCode::WeightFile, "{}: weight '{}' is {} bytes at {}, but the file has {} bytes", file, name,
                     bytes, offset, status.getSize());
  auto buffer = llvm::MemoryBuffer::getFileSlice(path, bytes, offset);
  if (!buffer)
    return makeError(ErrorCode::WeightFile, "{}: cannot be read: {}", file, buffer.getError().message());
  std::vector<float> values(weight->values.size());
  decodeValues((*buffer)->getBuffer(), stored, values);
  weight->values.assign(values.begin(), values.end());
  if (auto blocks = mlir::dyn_cast<StoredType>(stored))
    weight->blocks = blocks.getFormat()->name;
  roundValues(*weight, type.getElementType());
  return weight;
}

llvm::Expected<Weight> drawRandom(const std::string &name, RandomSourceAttr source, mlir::RankedTensorType type) {
  llvm::Expected<Weight> weight = emptyWeight(name, type);
  if (!weight)
    return weight.takeError();
  double mean = source.getMean().convertToDouble(), deviation = source.getDeviation().convertToDouble();
  for (size_t i = 0; i < weight->values.size(); ++i)
    weight->values[i] = static_cast<float>(mean + deviation * randomUniform(source.getSeed(), i));
  roundValues(*weight, type.getElementType());
  return weight;
}

llvm::Expected<Weight> listValues(const std::string &name, ValuesSourceAttr source, mlir::RankedTensorType type) {
  llvm::Expected<Weight> weight = emptyWeight(name, type);
  if (!weight)
    return weight.takeError();
  size_t i = 0;
  for (APFloat value : source.getValues().getValues<APFloat>()) {
    bool inexact;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &inexact);
    weight->values[i++] = value.convertToFloat();
  }
  roundValues(*weight, type.getElementType());
  return weight;
}

}  // namespace talc::reference
