// SPDX-License-Identifier: Apache-2.0
// What an iteration loads for the next one stays where it is loaded while LLVM optimizes.
//
//   loop(x = load p0)                          loop(p = p0)
//     next = load p1                             x = load p
//     ... long work with x ...          -/->     ... long work with x, which has only just been loaded ...
//     loop again with next                       loop again with p1
//
// InstCombine makes a load of a phi out of a phi of loads, where nothing behind these writes memory. That is one
// instruction less, but the work then waits for memory in every iteration; no option turns it off.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace talc::nvptx {

// Marks the iterations that load ahead as writing memory: those whose loads are themselves what phis of the header
// take.
void pinHoistedLoads(llvm::Function &function);
// Takes the marks back.
void unpinHoistedLoads(llvm::Function &function);

}  // namespace talc::nvptx
