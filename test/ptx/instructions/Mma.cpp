// SPDX-License-Identifier: Apache-2.0
// mma.sync and ldmatrix, with the fragments that the PTX manual draws: lane l holds, of a tile of 8 rows, two
// neighbouring values of row l / 4, from column l % 4 * 2 on; of B columns take the part of rows.
#include "test/ptx/Access.h"
#include "test/ptx/Decoder.h"
#include "test/ptx/Launch.h"
#include "test/ptx/instructions/HalfFloats.h"

#include <algorithm>

namespace talc::ptx {

namespace {

constexpr int rows = 16, columns = 8, tile = 8;

template <typename Format> void unpackPair(uint32_t bits, float *values) {
  values[0] = Format::value(static_cast<uint16_t>(bits));
  values[1] = Format::value(static_cast<uint16_t>(bits >> 16));
}

// Operands: d[4], a[2 * tiles of k], b[tiles of k], c[4].
template <typename Format, int depth> void multiply(Warp &warp, const Instruction &instruction, uint32_t) {
  constexpr int tiles = depth / tile;
  float a[rows][depth], b[columns][depth], sums[4][warpLanes];
  const uint32_t *places = instruction.operands;
  for (int lane = 0; lane < warpLanes; ++lane) {
    const int row = lane / 4, column = lane % 4 * 2;
    for (int i = 0; i < 2 * tiles; ++i)
      unpackPair<Format>(warp.lanes<uint32_t>(places[4 + i])[lane], &a[row + i % 2 * tile][column + i / 2 * tile]);
    for (int i = 0; i < tiles; ++i)
      unpackPair<Format>(warp.lanes<uint32_t>(places[4 + 2 * tiles + i])[lane], &b[row][column + i * tile]);
  }
  for (int i = 0; i < 4; ++i)
    for (int lane = 0; lane < warpLanes; ++lane) {
      const float *rowA = a[lane / 4 + i / 2 * tile], *columnB = b[lane % 4 * 2 + i % 2];
      float sum = warp.lanes<float>(places[4 + 3 * tiles + i])[lane];
      for (int k = 0; k < depth; ++k)
        sum += rowA[k] * columnB[k];
      sums[i][lane] = sum;
    }
  for (int i = 0; i < 4; ++i)
    warp.store(places[i], sums[i], UINT32_MAX);
}

// Operands: d[count], base. Matrix i has its rows at the addresses of lanes 8 i to 8 i + 7.
void loadMatrix(Warp &warp, const Instruction &instruction, uint32_t) {
  constexpr uint32_t rowBytes = 16;
  uint64_t addresses[warpLanes];
  findAddresses(warp, instruction, instruction.operands[instruction.count], addresses);
  uint16_t values[warpLanes][tile];  // by the lane that gave the row
  for (int lane = 0; lane < tile * instruction.count; ++lane) {
    if (addresses[lane] % rowBytes)
      warp.fail(instruction, lane, "the row of a matrix does not begin at a multiple of 16");
    memcpy(values[lane], resolveShared(warp, instruction, addresses[lane], rowBytes, Purpose::Load, lane), rowBytes);
  }
  for (int matrix = 0; matrix < instruction.count; ++matrix) {
    uint32_t results[warpLanes];
    for (int lane = 0; lane < warpLanes; ++lane) {
      const int outer = lane / 4, inner = lane % 4 * 2;
      const auto *matrixRows = &values[matrix * tile];
      uint32_t low = instruction.variant ? matrixRows[inner][outer] : matrixRows[outer][inner];
      uint32_t high = instruction.variant ? matrixRows[inner + 1][outer] : matrixRows[outer][inner + 1];
      results[lane] = high << 16 | low;
    }
    warp.store(instruction.operands[matrix], results, UINT32_MAX);
  }
  if (KernelCounts *counts = warp.workgroup.launch.counts) {
    ++counts->sharedRequests;
    ++counts->sharedLoads;
    for (int matrix = 0; matrix < instruction.count; ++matrix)
      counts->bankConflicts += countBankConflicts(addresses, 0xffu << matrix * tile, rowBytes);
  }
}

void decodeElements(Decoder &decoder, const Statement &statement, const Operand &list, size_t expected,
                    Instruction &instruction, size_t &at) {
  std::vector<Operand> elements = list.kind == Operand::Kind::List ? list.elements : std::vector{list};
  if (elements.size() != expected)
    Decoder::fail(statement, "a fragment has another number of registers than expected");
  for (const Operand &element : elements)
    instruction.operands[at++] = decoder.place(statement, element, 4);
}

bool decodeMultiply(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  struct Shape {
    const char *mnemonic;
    Execute execute;
    size_t tiles;
  };
  static const Shape shapes[] = {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", multiply<F16, 16>, 2},
                                 {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", multiply<Bf16, 16>, 2},
                                 {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", multiply<F16, 8>, 1},
                                 {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", multiply<Bf16, 8>, 1}};
  for (const Shape &shape : shapes) {
    if (statement.mnemonic() != shape.mnemonic || statement.operands.size() != 4)
      continue;
    instruction.execute = shape.execute;
    instruction.kind = InstructionClass::Matrix;
    size_t at = 0, registers[] = {4, 2 * shape.tiles, shape.tiles, 4};
    for (size_t i = 0; i < 4; ++i)
      decodeElements(decoder, statement, statement.operands[i], registers[i], instruction, at);
    return true;
  }
  return false;
}

bool decodeLoadMatrix(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  if (!statement.has("m8n8") || !statement.has("b16") || statement.operands.size() != 2)
    return false;
  instruction.execute = loadMatrix;
  instruction.kind = InstructionClass::Fragment;
  instruction.count = statement.has("x4") ? 4 : statement.has("x2") ? 2 : 1;
  instruction.variant = statement.has("trans");
  size_t at = 0;
  decodeElements(decoder, statement, statement.operands[0], instruction.count, instruction, at);
  decoder.address(statement, statement.operands[1], instruction.operands[at], instruction);
  return true;
}

}  // namespace

bool decodeMatrix(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  instruction.flow = Flow::Together;
  return statement.opcode == "mma"        ? decodeMultiply(decoder, statement, instruction)
         : statement.opcode == "ldmatrix" ? decodeLoadMatrix(decoder, statement, instruction)
                                          : false;
}

}  // namespace talc::ptx
