// SPDX-License-Identifier: Apache-2.0
// Keeps loads for the next iteration where they are while LLVM optimizes.
//
//   loop(x = load p0)                          loop(p = p0)
//     next = load p1                             x = load p
//     ... long work with x ...          -/->     ... long work with x, which has only just been loaded ...
//     loop again with next                       loop again with p1
//
// InstCombine turns a phi of loads into a load of a phi, if nothing after the loads writes memory. That is one
// instruction less, but every iteration then waits for memory; no option turns it off.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace talc::nvptx {

// Marks loops that load for the next iteration, whose loads are operands of phis in the header, as writing memory.
void pinHoistedLoads(llvm::Function &function);
// Removes the marks.
void unpinHoistedLoads(llvm::Function &function);

}  // namespace talc::nvptx
