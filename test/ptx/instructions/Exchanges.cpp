// SPDX-License-Identifier: Apache-2.0
// Instructions that exchange values among the lanes of a warp: shfl, vote, redux, activemask.
#include "test/ptx/Decoder.h"
#include "test/ptx/Warp.h"

#include <algorithm>

namespace talc::ptx {

namespace {

enum Shuffle : uint8_t { Up, Down, Butterfly, Index };

// Finds the lane to read, and returns whether it is in the segment. `clamp` has the lowest or highest lane of a
// segment, and the mask of segments.
bool findSource(Shuffle how, int lane, uint32_t b, uint32_t clamp, int &source) {
  const int limit = static_cast<int>(clamp & 31), segment = static_cast<int>(clamp >> 8 & 31), by = b & 31;
  const int maxLane = (lane & segment) | (limit & ~segment), minLane = lane & segment;
  source = how == Up ? lane - by : how == Down ? lane + by : how == Butterfly ? lane ^ by : minLane | (by & ~segment);
  bool inside = how == Up ? source >= maxLane : source <= maxLane;
  source = inside ? source : lane;
  return inside;
}

// Operands: result, predicate or noPlace, a, b, c.
void shuffle(Warp &warp, const Instruction &instruction, uint32_t mask) {
  const uint32_t *o = instruction.operands;
  const uint32_t *values = warp.lanes<uint32_t>(o[2]), *by = warp.lanes<uint32_t>(o[3]),
                 *clamp = warp.lanes<uint32_t>(o[4]);
  uint32_t results[warpLanes] = {}, inside = 0;
  for (int lane = 0; lane < warpLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    int source = lane;
    inside |= static_cast<uint32_t>(
                  findSource(static_cast<Shuffle>(instruction.variant), lane, by[lane], clamp[lane], source))
              << lane;
    if (!(mask >> source & 1))
      warp.fail(instruction, lane, "reads lane " + std::to_string(source) + ", which is not there");
    results[lane] = values[source];
  }
  warp.store(o[0], results, mask);
  if (o[1] != noPlace)
    warp.storePredicate(o[1], inside, mask);
}

enum Vote : uint8_t { All, Any, Uniform, Ballot };

void vote(Warp &warp, const Instruction &instruction, uint32_t mask) {
  const uint32_t *o = instruction.operands;
  const uint32_t yes = warp.predicate(o[1]) & mask;
  if (instruction.variant == Ballot) {
    uint32_t results[warpLanes];
    std::fill(std::begin(results), std::end(results), yes);
    return warp.store(o[0], results, mask);
  }
  bool result = instruction.variant == All   ? yes == mask
                : instruction.variant == Any ? yes != 0
                                             : yes == 0 || yes == mask;
  warp.storePredicate(o[0], result ? UINT32_MAX : 0, mask);
}

struct Sum {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
template <typename T> struct Minimum {
  uint32_t operator()(uint32_t a, uint32_t b) const { return static_cast<T>(a) < static_cast<T>(b) ? a : b; }
};
template <typename T> struct Maximum {
  uint32_t operator()(uint32_t a, uint32_t b) const { return static_cast<T>(a) > static_cast<T>(b) ? a : b; }
};
struct And {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a & b; }
};
struct Or {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};
struct Xor {
  uint32_t operator()(uint32_t a, uint32_t b) const { return a ^ b; }
};

template <typename Function> void reduce(Warp &warp, const Instruction &instruction, uint32_t mask) {
  const uint32_t *values = warp.lanes<uint32_t>(instruction.operands[1]);
  int first = __builtin_ctz(mask);
  uint32_t total = values[first], results[warpLanes];
  for (int lane = first + 1; lane < warpLanes; ++lane)
    total = mask >> lane & 1 ? Function()(total, values[lane]) : total;
  std::fill(std::begin(results), std::end(results), total);
  warp.store(instruction.operands[0], results, mask);
}

void activeMask(Warp &warp, const Instruction &instruction, uint32_t mask) {
  uint32_t results[warpLanes];
  std::fill(std::begin(results), std::end(results), mask);
  warp.store(instruction.operands[0], results, mask);
}

void decodeShuffle(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  if (!statement.has("sync") || !statement.has("b32") || statement.operands.size() != 5)
    Decoder::fail(statement, "not known to the emulator");
  const Operand &target = statement.operands[0];
  const bool pair = target.kind == Operand::Kind::List;
  instruction.execute = shuffle;
  instruction.variant = statement.has("up")     ? Up
                        : statement.has("down") ? Down
                        : statement.has("bfly") ? Butterfly
                                                : Index;
  instruction.operands[0] = decoder.place(statement, pair ? target.elements[0] : target, 4);
  instruction.operands[1] = pair ? decoder.place(statement, target.elements[1], 0) : noPlace;
  for (size_t i = 1; i < 4; ++i)
    instruction.operands[i + 1] = decoder.place(statement, statement.operands[i], 4);
  instruction.members = decoder.place(statement, statement.operands[4], 4);
}

void decodeVote(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  if (!statement.has("sync") || statement.operands.size() != 3)
    Decoder::fail(statement, "not known to the emulator");
  instruction.execute = vote;
  instruction.variant = statement.has("all")   ? All
                        : statement.has("any") ? Any
                        : statement.has("uni") ? Uniform
                                               : Ballot;
  instruction.operands[0] = decoder.place(statement, statement.operands[0], instruction.variant == Ballot ? 4 : 0);
  instruction.operands[1] = decoder.place(statement, statement.operands[1], 0);
  instruction.members = decoder.place(statement, statement.operands[2], 4);
}

bool decodeReduction(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  static const std::pair<const char *, Execute> reductions[] = {{"redux.sync.add.s32", reduce<Sum>},
                                                                {"redux.sync.add.u32", reduce<Sum>},
                                                                {"redux.sync.min.s32", reduce<Minimum<int32_t>>},
                                                                {"redux.sync.min.u32", reduce<Minimum<uint32_t>>},
                                                                {"redux.sync.max.s32", reduce<Maximum<int32_t>>},
                                                                {"redux.sync.max.u32", reduce<Maximum<uint32_t>>},
                                                                {"redux.sync.and.b32", reduce<And>},
                                                                {"redux.sync.or.b32", reduce<Or>},
                                                                {"redux.sync.xor.b32", reduce<Xor>}};
  for (const auto &[name, execute] : reductions) {
    if (statement.mnemonic() != name)
      continue;
    instruction.execute = execute;
    instruction.operands[0] = decoder.place(statement, statement.operands.at(0), 4);
    instruction.operands[1] = decoder.place(statement, statement.operands.at(1), 4);
    instruction.members = decoder.place(statement, statement.operands.at(2), 4);
    return true;
  }
  return false;
}

}  // namespace

bool decodeExchange(Decoder &decoder, const Statement &statement, Instruction &instruction) {
  instruction.kind = InstructionClass::Exchange;
  if (statement.opcode == "activemask") {
    instruction.execute = activeMask;
    instruction.operands[0] = decoder.place(statement, statement.operands.at(0), 4);
    return true;
  }
  instruction.flow = Flow::Together;
  if (statement.opcode == "shfl")
    decodeShuffle(decoder, statement, instruction);
  else if (statement.opcode == "vote")
    decodeVote(decoder, statement, instruction);
  else if (!decodeReduction(decoder, statement, instruction)) {
    instruction.flow = Flow::Next;
    return false;
  }
  return true;
}

}  // namespace talc::ptx
