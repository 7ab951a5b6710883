// SPDX-License-Identifier: Apache-2.0
// Reads the Training section, whose every field is untrusted.
#include "runtime/training/TrainingTables.h"

#include <algorithm>
#include <cstring>

namespace talc {

using namespace artifact;

// So that products of sizes do not overflow.
constexpr uint64_t maxFloats = uint64_t(1) << 44, maxSize = uint64_t(1) << 31;

Status TrainingTables::damaged(const Artifact &file) const {
  return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'training' is damaged; compile the model again",
                         file.name().c_str());
}

// The size of a tensor; 0 if that is impossible.
static uint64_t countElements(const TrainingTensor &tensor) {
  uint64_t count = 1;
  for (uint64_t size : tensor.shape) {
    if (size == 0 || size > maxFloats / count)
      return 0;
    count *= size;
  }
  return count;
}

bool TrainingTables::readTables(const unsigned char *bytes, uint64_t size) {
  auto take = [&](void *target, uint64_t count) {
    if (count > size)
      return false;
    memcpy(target, bytes, count);
    bytes += count;
    size -= count;
    return true;
  };
  auto takeList = [&](auto &list, uint32_t count) {
    uint64_t listBytes = count * uint64_t(sizeof(list[0]));
    if (listBytes > size)
      return false;
    list.resize(count);
    return take(list.data(), listBytes);
  };
  if (!take(&head, sizeof(head)) || !takeList(parameterList, head.parameterCount) ||
      !takeList(weightList, head.weightCount) || !takeList(tensorList, head.tensorCount) ||
      !takeList(tiles, head.tileCount) || size != head.nameBytes)
    return false;
  names = std::string_view(reinterpret_cast<const char *>(bytes), size);
  return head.areaFloats > 0 && head.areaFloats <= maxFloats && head.labelCount > 0 && head.labelCount <= INT32_MAX &&
         !parameterList.empty() && !tensorList.empty();
}

bool TrainingTables::areTensorsSound() const {
  return std::all_of(tensorList.begin(), tensorList.end(), [&](const TrainingTensor &tensor) {
    bool isNamed = tensor.nameLength > 0 && tensor.nameOffset <= names.size() &&
                   tensor.nameLength <= names.size() - tensor.nameOffset;
    return isNamed && tensor.rank >= 1 && tensor.rank <= maxTensorRank && countElements(tensor) > 0;
  });
}

// `end`: of what the matrix lies in.
bool TrainingTables::isSound(const TrainingMatrix &matrix, uint64_t end, bool isParameter) const {
  uint64_t lanes = matrix.lanes;
  if (matrix.rows == 0 || matrix.rows > maxSize || matrix.columns == 0 || matrix.columns > maxSize || lanes == 0 ||
      lanes > 4096 || (isParameter && lanes != 1) || matrix.firstTile > tiles.size() ||
      matrix.tileCount > tiles.size() - matrix.firstTile)
    return false;
  uint64_t panels = (matrix.rows + lanes - 1) / lanes;
  if (panels > maxFloats / (lanes * matrix.columns) || matrix.offset > end ||
      panels * lanes * matrix.columns > end - matrix.offset)
    return false;
  return std::all_of(tiles.begin() + matrix.firstTile, tiles.begin() + matrix.firstTile + matrix.tileCount,
                     [&](const TrainingTile &tile) {
                       if (isParameter && tile.tensor >= tensorList.size())
                         return false;
                       uint64_t size = isParameter ? countElements(tensorList[tile.tensor]) : head.areaFloats;
                       if (tile.rows == 0 || tile.rows > matrix.rows || tile.row > matrix.rows - tile.rows ||
                           tile.columns == 0 || tile.columns > matrix.columns ||
                           tile.column > matrix.columns - tile.columns || tile.begin >= size)
                         return false;
                       uint64_t room = size - 1 - tile.begin;
                       if (tile.rows > 1 && tile.rowStride > room / (tile.rows - 1))
                         return false;
                       room -= (tile.rows - 1) * tile.rowStride;
                       return tile.columns == 1 || tile.columnStride <= room / (tile.columns - 1);
                     });
}

Status TrainingTables::open(const Artifact &file, uint64_t weightFloats) {
  const Artifact::LocatedSection *section = file.find(SectionKind::Training);
  if (!section || !readTables(section->bytes, section->header.size) || !areTensorsSound())
    return damaged(file);
  auto areSound = [&](const std::vector<TrainingMatrix> &matrices, uint64_t end, bool areParameters) {
    return std::all_of(matrices.begin(), matrices.end(),
                       [&](const TrainingMatrix &matrix) { return isSound(matrix, end, areParameters); });
  };
  bool isSound = areSound(parameterList, head.areaFloats, true) && areSound(weightList, weightFloats, false);
  return isSound ? Status() : damaged(file);
}

std::string_view TrainingTables::tensorName(size_t index) const {
  return names.substr(tensorList[index].nameOffset, tensorList[index].nameLength);
}

size_t TrainingTables::tensorSize(size_t index) const {
  return countElements(tensorList[index]);
}

void TrainingTables::storeWeight(const TrainingMatrix &weight, uint64_t begin, uint64_t end, const float *area,
                                 float *weights) const {
  const uint64_t lanes = weight.lanes;
  for (uint32_t i = 0; i < weight.tileCount; ++i) {
    const TrainingTile &tile = tiles[weight.firstTile + i];
    uint64_t last = std::min(end, tile.row + tile.rows);
    for (uint64_t row = std::max(begin, tile.row); row < last;) {
      // The rows of a panel, which are neighbors in each column.
      uint64_t rows = std::min(last, row / lanes * lanes + lanes) - row;
      float *target =
          weights + weight.offset + row / lanes * lanes * weight.columns + row % lanes + tile.column * lanes;
      const float *source = area + tile.begin + (row - tile.row) * tile.rowStride;
      for (uint64_t column = 0; column < tile.columns; ++column)
        for (uint64_t r = 0; r < rows; ++r)
          target[column * lanes + r] = source[column * tile.columnStride + r * tile.rowStride] + tile.added;
      row += rows;
    }
  }
}

void TrainingTables::loadWeight(const TrainingMatrix &weight, const float *weights, float *area) const {
  const uint64_t lanes = weight.lanes;
  for (uint32_t i = 0; i < weight.tileCount; ++i) {
    const TrainingTile &tile = tiles[weight.firstTile + i];
    for (uint64_t r = 0; r < tile.rows; ++r) {
      uint64_t row = tile.row + r;
      const float *source = weights + weight.offset + row / lanes * lanes * weight.columns + row % lanes;
      float *target = area + tile.begin + r * tile.rowStride;
      for (uint64_t c = 0; c < tile.columns; ++c)
        target[c * tile.columnStride] = source[(tile.column + c) * lanes] - tile.added;
    }
  }
}

// Calls copy(index in the area, index in the tensor, added) for every element.
template <typename Copy> void TrainingTables::eachElement(size_t tensor, Copy copy) const {
  for (const TrainingMatrix &parameter : parameterList)
    for (uint32_t i = 0; i < parameter.tileCount; ++i) {
      const TrainingTile &tile = tiles[parameter.firstTile + i];
      if (tile.tensor != tensor)
        continue;
      for (uint64_t r = 0; r < tile.rows; ++r)
        for (uint64_t c = 0; c < tile.columns; ++c)
          copy(parameter.offset + (tile.row + r) * parameter.columns + tile.column + c,
               tile.begin + r * tile.rowStride + c * tile.columnStride, tile.added);
    }
}

void TrainingTables::readTensor(size_t index, const float *area, bool isParameter, float *tensor) const {
  eachElement(index, [&](uint64_t from, uint64_t to, float added) {
    tensor[to] = isParameter ? area[from] - added : area[from];
  });
}

void TrainingTables::writeTensor(size_t index, const float *tensor, bool isParameter, float *area) const {
  eachElement(index, [&](uint64_t to, uint64_t from, float added) {
    area[to] = isParameter ? tensor[from] + added : tensor[from];
  });
}

}  // namespace talc
