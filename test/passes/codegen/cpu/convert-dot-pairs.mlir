// SPDX-License-Identifier: Apache-2.0
// convert-dot-pairs: vdpbf16ps where there is one, else two multiply-adds in its order: odd numbers first.
// RUN: talc-opt %s -convert-dot-pairs="bf16=true" | FileCheck %s --check-prefix=ONE
// RUN: talc-opt %s -convert-dot-pairs | FileCheck %s --check-prefix=TWO

// ONE-LABEL: @wide(
// ONE: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%arg2, %arg0, %arg1)
// ONE-NOT: vector.fma
// TWO-LABEL: @wide(
// TWO: %[[W:.*]] = vector.bitcast %arg0 : vector<32xbf16> to vector<16xi32>
// TWO: %[[ODD:.*]] = arith.andi %[[W]], %{{.*}}
// TWO: %[[ODDW:.*]] = arith.bitcast %[[ODD]] : vector<16xi32> to vector<16xf32>
// TWO: %[[SUM:.*]] = vector.fma %[[ODDW]], %{{.*}}, %arg2
// TWO: arith.shli
// TWO: vector.fma %{{.*}}, %{{.*}}, %[[SUM]]
func.func @wide(%weights: vector<32xbf16>, %x: vector<32xbf16>, %sums: vector<16xf32>) -> vector<16xf32> {
  %r = kernel.dot_pairs %weights, %x plus %sums : vector<32xbf16> -> vector<16xf32>
  return %r : vector<16xf32>
}

// ONE-LABEL: @narrow(
// ONE: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.256"
func.func @narrow(%weights: vector<16xbf16>, %x: vector<16xbf16>, %sums: vector<8xf32>) -> vector<8xf32> {
  %r = kernel.dot_pairs %weights, %x plus %sums : vector<16xbf16> -> vector<8xf32>
  return %r : vector<8xf32>
}

// No instruction takes vectors of 32.
// ONE-LABEL: @wider(
// ONE-COUNT-2: vector.fma
func.func @wider(%weights: vector<64xbf16>, %x: vector<64xbf16>, %sums: vector<32xf32>) -> vector<32xf32> {
  %r = kernel.dot_pairs %weights, %x plus %sums : vector<64xbf16> -> vector<32xf32>
  return %r : vector<32xf32>
}
