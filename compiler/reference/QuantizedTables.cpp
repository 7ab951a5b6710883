// SPDX-License-Identifier: Apache-2.0
// Takes numbers out of files bit by bit; LLVM's APFloat knows what they mean.
#include "compiler/reference/WeightSources.h"

#include "compiler/Error.h"
#include "compiler/reference/StoredValues.h"
#include "dialects/Invariant.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <map>
#include <memory>

namespace talc::reference {

namespace {

using llvm::APFloat;
using llvm::APInt;

// Numbers that the file does not have are none; `isComplete` says that there were such.
class Table {
public:
  static llvm::Expected<Table> open(llvm::StringRef directory, CodesAttr codes) {
    llvm::SmallString<128> path(codes.getPath());
    if (!llvm::sys::path::is_absolute(path)) {
      path = directory;
      llvm::sys::path::append(path, codes.getPath());
    }
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer)
      return makeError(ErrorCode::WeightFile, "{}: cannot be read: {}", path.str().str(), buffer.getError().message());
    return Table(std::move(*buffer), codes);
  }

  bool isComplete = true;

  double number(uint64_t row, uint64_t column) {
    if (codes.getTransposed())
      std::swap(row, column);
    APInt bits(codes.getBits(), 0);
    for (unsigned i = 0; i < bits.getBitWidth(); ++i)
      if (bit(row, column, i))
        bits.setBit(i);
    return meaning(bits);
  }

private:
  Table(std::unique_ptr<llvm::MemoryBuffer> buffer, CodesAttr codes) : buffer(std::move(buffer)), codes(codes) {}

  // Bit i of a number of the table as it is stored.
  bool bit(uint64_t row, uint64_t column, uint64_t i) {
    uint64_t width = codes.getBits(), stride = codes.getStride(), at = 0;
    switch (codes.getOrder()) {
    case CodeOrder::along:
      at = row * stride + column * width + i;
      break;
    case CodeOrder::down:
      at = (row * width + i) / 32 * stride + column * 32 + (row * width + i) % 32;
      break;
    case CodeOrder::swapped: {
      static constexpr uint64_t columns[] = {0, 2, 4, 6, 1, 3, 5, 7};
      uint64_t place = std::find(columns, columns + 8, column % 8) - columns;
      at = row * stride + column / 8 * 32 + place * width + i;
    }
    }
    uint64_t byte = codes.getOffset() + at / 8;
    if (byte >= buffer->getBufferSize()) {
      isComplete = false;
      return false;
    }
    return static_cast<uint8_t>(buffer->getBufferStart()[byte]) >> (at % 8) & 1;
  }

  double meaning(const APInt &bits) const {
    auto as = [&](const llvm::fltSemantics &semantics) {
      APFloat value(semantics, bits);
      bool inexact;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
      return value.convertToDouble();
    };
    switch (codes.getKind()) {
    case CodeKind::natural:
      return static_cast<double>(bits.getZExtValue());
    case CodeKind::integer:
      return static_cast<double>(bits.getSExtValue());
    case CodeKind::e2m1:
      return as(APFloat::Float4E2M1FN());
    case CodeKind::e4m3:
      return as(APFloat::Float8E4M3FN());
    case CodeKind::e8m0:
      return as(APFloat::Float8E8M0FNU());
    case CodeKind::f16:
      return as(APFloat::IEEEhalf());
    case CodeKind::bf16:
      return as(APFloat::BFloat());
    case CodeKind::f32:
      return as(APFloat::IEEEsingle());
    }
    endByDefect("the kind is known");
  }

  std::unique_ptr<llvm::MemoryBuffer> buffer;
  CodesAttr codes;
};

}  // namespace

// Opens the tables that are there; places of others are null.
static llvm::Error openTables(llvm::StringRef directory, std::initializer_list<std::pair<CodesAttr, Table **>> places,
                              std::vector<std::unique_ptr<Table>> &tables) {
  for (auto [codes, place] : places) {
    *place = nullptr;
    if (!codes)
      continue;
    auto table = Table::open(directory, codes);
    if (!table)
      return table.takeError();
    tables.push_back(std::make_unique<Table>(std::move(*table)));
    *place = tables.back().get();
  }
  return llvm::Error::success();
}

llvm::Expected<Weight> readLookup(const std::string &name, llvm::StringRef directory, LookupSourceAttr source,
                                  mlir::RankedTensorType type) {
  llvm::Expected<Weight> weight = emptyWeight(name, type);
  if (!weight)
    return weight.takeError();
  std::vector<std::unique_ptr<Table>> tables;
  Table *codes, *scales, *scaleTable, *scaleFactors;
  if (llvm::Error error = openTables(directory,
                                     {{source.getCodes(), &codes},
                                      {source.getScales(), &scales},
                                      {source.getScaleTable(), &scaleTable},
                                      {source.getScaleFactors(), &scaleFactors}},
                                     tables))
    return error;
  auto constant = [](mlir::FloatAttr attr, float fallback) {
    return attr ? static_cast<float>(attr.getValueAsDouble()) : fallback;
  };
  const float offset = constant(source.getScaleOffset(), 0), factor = constant(source.getFactor(), 1);
  auto numberAt = [&](uint64_t i) {
    if (!source.getTable())
      return static_cast<float>(codes->number(0, i));
    bool isHalf = source.getCodes().getBits() == 4;
    return source.getTable().getValues<float>()[static_cast<size_t>(codes->number(0, isHalf ? i ^ 1 : i))];
  };
  std::map<uint64_t, float> scaleByRun;
  auto scaleAt = [&](uint64_t run) {
    auto [entry, isNew] = scaleByRun.try_emplace(run);
    if (isNew && scaleTable) {
      auto code = static_cast<float>(scaleTable->number(0, static_cast<uint64_t>(scales->number(0, run))));
      float product = code * static_cast<float>(scaleFactors->number(0, run / source.getScaleRun()));
      entry->second = product + offset;
    } else if (isNew) {
      Weight rounded{{1}, {static_cast<float>(scales->number(0, run))}};
      if (source.getScaleType())
        roundValues(rounded, source.getScaleType());
      entry->second = rounded.values.front();
    }
    return entry->second;
  };
  for (size_t i = 0; i < weight->values.size(); ++i) {
    float product = numberAt(i) * scaleAt(i / source.getRun());
    weight->values[i] = source.getFactor() ? product * factor : product;
  }
  if (!llvm::all_of(tables, [](const auto &table) { return table->isComplete; }))
    return makeError(ErrorCode::WeightFile, "weight '{}' does not fit in its files", name);
  roundValues(*weight, source.getElementType());
  roundValues(*weight, type.getElementType());
  return weight;
}

llvm::Expected<Weight> readQuantized(const std::string &name, llvm::StringRef directory, QuantizedSourceAttr source,
                                     mlir::RankedTensorType type) {
  llvm::Expected<Weight> weight = emptyWeight(name, type);
  if (!weight)
    return weight.takeError();
  std::vector<Table> tables;
  int levels = -1, scales = -1, zeros = -1, groups = -1, factor = -1;
  for (auto [codes, at] : {std::pair(source.getCodes(), &levels),
                           {source.getScales(), &scales},
                           {source.getZeros(), &zeros},
                           {source.getGroups(), &groups},
                           {source.getFactor(), &factor}}) {
    if (!codes)
      continue;
    auto table = Table::open(directory, codes);
    if (!table)
      return table.takeError();
    *at = static_cast<int>(tables.size());
    tables.push_back(std::move(*table));
  }
  int64_t columns = type.getDimSize(1);
  float all = factor < 0 ? 1 : static_cast<float>(tables[factor].number(0, 0));
  for (size_t i = 0; i < weight->values.size(); ++i) {
    uint64_t n = i / columns, k = i % columns, r = n / source.getRows();
    uint64_t g = groups < 0 ? k / source.getColumns() : static_cast<uint64_t>(tables[groups].number(0, k));
    double zero = (zeros < 0 ? 0 : tables[zeros].number(r, g)) + static_cast<double>(source.getCenter());
    auto scale = static_cast<float>(tables[scales].number(r, g));
    if (factor >= 0)
      scale = source.getDivides() ? scale / all : scale * all;
    weight->values[i] = static_cast<float>((tables[levels].number(n, k) - zero) * static_cast<double>(scale));
  }
  if (!llvm::all_of(tables, [](const Table &table) { return table.isComplete; }))
    return makeError(ErrorCode::WeightFile, "weight '{}' does not fit in its files", name);
  roundValues(*weight, source.getRounded());
  roundValues(*weight, type.getElementType());
  return weight;
}

}  // namespace talc::reference
