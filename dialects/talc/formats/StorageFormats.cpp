// SPDX-License-Identifier: Apache-2.0
// The table of storage formats.
#include "dialects/talc/formats/StorageFormat.h"

#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc {

// One file each.
extern const StorageFormat f32Format, f16Format, bf16Format;

static constexpr const StorageFormat *table[] = {&f32Format, &f16Format, &bf16Format};

llvm::ArrayRef<const StorageFormat *> storageFormats() {
  return table;
}

const StorageFormat *formatNamed(std::string_view name) {
  auto found = llvm::find_if(table, [&](const StorageFormat *format) { return format->name == name; });
  return found == std::end(table) ? nullptr : *found;
}

const StorageFormat *formatOf(Type element) {
  auto found = llvm::find_if(
      table, [&](const StorageFormat *format) { return format->type(element.getContext(), *format) == element; });
  return found == std::end(table) ? nullptr : *found;
}

const StorageFormat &elementFormat(ShapedType type) {
  const StorageFormat *format = formatOf(type.getElementType());
  assert(format && "elements that cannot be stored");
  return *format;
}

int64_t storedBytes(ShapedType type) {
  int64_t values = 1;
  for (int64_t size : type.getShape())
    values *= ShapedType::isDynamic(size) ? 1 : size;
  return elementFormat(type).bytesOf(values);
}

int64_t lanesOf(ShapedType type) {
  return type.getRank() == 3 ? type.getDimSize(2) : 1;
}

bool hasWholeBlocks(ShapedType type) {
  int64_t block = elementFormat(type).blockValues;
  return block == 1 || (type.getRank() >= 2 && type.getDimSize(1) % block == 0);
}

Type storedType(MLIRContext *context, const StorageFormat &format) {
  return StoredType::get(context, &format);
}

std::vector<std::string> formatNames() {
  std::vector<std::string> names;
  for (const StorageFormat *format : table)
    names.emplace_back(format->name);
  return names;
}

std::string formatAlternatives(std::string_view last) {
  std::vector<std::string> names = formatNames();
  if (last.empty()) {
    last = table[std::size(table) - 1]->name;
    names.pop_back();
  }
  return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

}  // namespace talc
