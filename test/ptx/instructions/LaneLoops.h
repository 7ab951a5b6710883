// SPDX-License-Identifier: Apache-2.0
// Loops over the lanes of a warp for functions of single values, which compilers turn into vector instructions.
#pragma once

#include "test/ptx/Decoder.h"
#include "test/ptx/Warp.h"

#include <tuple>
#include <utility>

namespace talc::ptx {

// Result = Function()(sources...), of the types of their registers. Lanes outside the mask are computed, too.
template <typename Function, typename Result, typename... Sources> struct LaneLoop {
  static void execute(Warp &warp, const Instruction &instruction, uint32_t mask) {
    loop(warp, instruction, mask, std::index_sequence_for<Sources...>());
  }

private:
  template <size_t... I>
  static void loop(Warp &warp, const Instruction &instruction, uint32_t mask, std::index_sequence<I...>) {
    std::tuple<const Sources *...> sources{warp.lanes<Sources>(instruction.operands[I + 1])...};
    Result results[warpLanes];
    for (int lane = 0; lane < warpLanes; ++lane)
      results[lane] = Function()(std::get<I>(sources)[lane]...);
    warp.store(instruction.operands[0], results, mask);
  }
};

// A predicate = Function()(sources...).
template <typename Function, typename... Sources> struct PredicateLoop {
  static void execute(Warp &warp, const Instruction &instruction, uint32_t mask) {
    loop(warp, instruction, mask, std::index_sequence_for<Sources...>());
  }

private:
  template <size_t... I>
  static void loop(Warp &warp, const Instruction &instruction, uint32_t mask, std::index_sequence<I...>) {
    std::tuple<const Sources *...> sources{warp.lanes<Sources>(instruction.operands[I + 1])...};
    uint32_t bits = 0;
    for (int lane = 0; lane < warpLanes; ++lane)
      bits |= static_cast<uint32_t>(Function()(std::get<I>(sources)[lane]...)) << lane;
    warp.storePredicate(instruction.operands[0], bits, mask);
  }
};

template <typename Function, typename Result, typename... Sources>
void addLanes(LaneTable &table, const std::string &mnemonic, InstructionClass kind) {
  table[mnemonic] = {LaneLoop<Function, Result, Sources...>::execute,
                     kind,
                     {sizeof(Result), static_cast<uint8_t>(sizeof(Sources))...}};
}

}  // namespace talc::ptx
