// SPDX-License-Identifier: Apache-2.0
// CONTRACT between compiler and runtime: the sections that only a model with a step of training has.
//
// The parameters of a model follow each other in an area of floats, each row-major; gradients and moments have areas of
// the same layout. Two kinds of tables tell how others follow from parameters, in tiles:
//
//   weights   what steps read: packed, transposed, merged              weight(row, column) = area[...]
//   tensors   what the files of the checkpoint have                    parameter(row, column) = tensor[...] + added
//
// The Training section:
//
//   TrainingHeader | parameters, a TrainingMatrix each | weights, a TrainingMatrix each | TrainingTensor ... |
//   TrainingTile ... | names
//
// The Files section has small files of the checkpoint, which are copied to checkpoints of trained parameters: for each
// a CheckpointFile, its name, and its bytes.
#pragma once

#include <cstdint>

namespace talc::artifact {

struct TrainingHeader {
  uint64_t areaFloats;  // of all parameters
  uint32_t parameterCount, weightCount, tensorCount, tileCount;
  uint32_t nameBytes;
  uint32_t labelCount;  // labels are less
};

// A parameter or a weight as a matrix; a vector has one column.
struct TrainingMatrix {
  uint64_t offset;  // of a parameter in its area, of a weight in the Weights section, in floats
  uint64_t rows, columns;
  uint32_t lanes;  // element (row, column) is at row / lanes * lanes * columns + column * lanes + row % lanes
  uint32_t rank;   // of the tensor; of a matrix 2
  uint32_t firstTile, tileCount;
};

constexpr uint32_t maxTensorRank = 4;

struct TrainingTensor {
  uint32_t nameOffset, nameLength;  // in the names, UTF-8
  uint32_t rank, reserved;
  uint64_t shape[maxTensorRank];  // further sizes are 1
};

// A rectangle of a matrix. Element (row + r, column + c) is element begin + r * rowStride + c * columnStride of what it
// follows from, plus `added`: of the area for a weight, of a tensor for a parameter.
struct TrainingTile {
  uint64_t row, column, rows, columns;
  uint64_t begin, rowStride, columnStride;
  float added;
  uint32_t tensor;  // 0 for a weight
};

struct CheckpointFile {
  uint32_t nameLength, reserved;
  uint64_t size;
};

}  // namespace talc::artifact
