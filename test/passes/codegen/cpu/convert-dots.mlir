// SPDX-License-Identifier: Apache-2.0
// convert-dots: vpdpbusd where there is one, else instructions on words that cannot saturate.
// RUN: talc-opt %s -convert-dots="instructions=vnni" -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=VNNI
// RUN: talc-opt %s -convert-dots -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=PAIRS
// RUN: not talc-opt %s -convert-dots="instructions=other" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: unknown instructions for dot products: other

// VNNI-LABEL: @seven
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%arg2, %arg0, %arg1)
// PAIRS-LABEL: @seven
// PAIRS-DAG: %[[ONE:.*]] = arith.constant dense<1> : vector<32xi16>
// PAIRS-DAG: %[[TWO:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddubs.w.512"(%arg0, %arg1)
// PAIRS: %[[FOUR:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"(%[[TWO]], %[[ONE]])
// PAIRS: arith.addi %arg2, %[[FOUR]] : vector<16xi32>
func.func @seven(%levels: vector<64xi8>, %x: vector<64xi8>, %sums: vector<16xi32>) -> vector<16xi32> {
  %r = kernel.dot %levels, %x plus %sums : vector<64xi8> -> vector<16xi32>
  return %r : vector<16xi32>
}

// 255 * 127 + 255 * 127 would saturate a word of 16 bits.
// VNNI-LABEL: @eight
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%arg2, %arg0, %arg1)
// PAIRS-LABEL: @eight
// PAIRS-NOT: pmadd.ub
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
func.func @eight(%levels: vector<32xi8>, %x: vector<32xi8>, %sums: vector<8xi32>) -> vector<8xi32> {
  %r = kernel.dot %levels to 255, %x plus %sums : vector<32xi8> -> vector<8xi32>
  return %r : vector<8xi32>
}

// Levels give their sign to x; 128 * 127 + 128 * 127 does not saturate.
// VNNI-LABEL: @signed_levels
// VNNI-DAG: %[[LEVELS:.*]] = "llvm.intr.abs"(%arg0) <{is_int_min_poison = false}>
// VNNI-DAG: %[[X:.*]] = llvm.call_intrinsic "llvm.x86.avx2.psign.b"(%arg1, %arg0)
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%arg2, %[[LEVELS]], %[[X]])
// PAIRS-LABEL: @signed_levels
// PAIRS-DAG: %[[LEVELS:.*]] = "llvm.intr.abs"(%arg0) <{is_int_min_poison = false}>
// PAIRS-DAG: %[[X:.*]] = llvm.call_intrinsic "llvm.x86.avx2.psign.b"(%arg1, %arg0)
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"(%[[LEVELS]], %[[X]])
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
func.func @signed_levels(%levels: vector<32xi8>, %x: vector<32xi8>, %sums: vector<8xi32>) -> vector<8xi32> {
  %r = kernel.dot %levels, %x plus %sums signed : vector<32xi8> -> vector<8xi32>
  return %r : vector<8xi32>
}

// Products of levels up to 31 are added as words, four at a time: 8 * 31 * 127 fits, 10 * 31 * 127 does not. Others add to
// a sum that is used besides.
// VNNI-LABEL: @small
// VNNI-COUNT-6: vpdpbusd
// PAIRS-LABEL: @small
// PAIRS: %[[A:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"(%arg0, %arg1)
// PAIRS: %[[B:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// PAIRS: %[[AB:.*]] = arith.addi %[[A]], %[[B]] : vector<16xi16>
// PAIRS: %[[C:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// PAIRS: %[[ABC:.*]] = arith.addi %[[AB]], %[[C]] : vector<16xi16>
// PAIRS: %[[D:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// PAIRS: %[[WORDS:.*]] = arith.addi %[[ABC]], %[[D]] : vector<16xi16>
// PAIRS: %[[FOUR:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[WORDS]], %{{.*}})
// PAIRS: %[[SUM:.*]] = arith.addi %arg2, %[[FOUR]] : vector<8xi32>
// PAIRS: %[[E:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// PAIRS: %[[FIVE:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[E]], %{{.*}})
// PAIRS: %[[SUMS:.*]] = arith.addi %[[SUM]], %[[FIVE]] : vector<8xi32>
// PAIRS: pmadd.ub.sw
// PAIRS: %[[SIX:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PAIRS: %[[LAST:.*]] = arith.addi %[[SUMS]], %[[SIX]] : vector<8xi32>
// PAIRS: return %[[LAST]], %[[SUMS]]
func.func @small(%levels: vector<32xi8>, %x: vector<32xi8>, %sums: vector<8xi32>) -> (vector<8xi32>, vector<8xi32>) {
  %a = kernel.dot %levels to 31, %x plus %sums : vector<32xi8> -> vector<8xi32>
  %b = kernel.dot %levels to 31, %x plus %a : vector<32xi8> -> vector<8xi32>
  %c = kernel.dot %levels to 31, %x plus %b : vector<32xi8> -> vector<8xi32>
  %d = kernel.dot %levels to 31, %x plus %c : vector<32xi8> -> vector<8xi32>
  %e = kernel.dot %levels to 31, %x plus %d : vector<32xi8> -> vector<8xi32>
  %f = kernel.dot %levels to 31, %x plus %e : vector<32xi8> -> vector<8xi32>
  return %f, %e : vector<8xi32>, vector<8xi32>
}

// Sums of several words are made where they are used: what comes before finds registers free.
// PAIRS-LABEL: @waiting
// PAIRS-COUNT-2: arith.addi %{{.*}} : vector<16xi16>
// PAIRS: %[[WORDS:.*]] = arith.addi %{{.*}} : vector<16xi16>
// PAIRS: %[[BESIDE:.*]] = arith.addi %arg2, %arg2
// PAIRS: %[[FOUR:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[WORDS]], %{{.*}})
// PAIRS: %[[SUM:.*]] = arith.addi %arg2, %[[FOUR]] : vector<8xi32>
// PAIRS: arith.addi %[[BESIDE]], %[[SUM]]
func.func @waiting(%levels: vector<32xi8>, %x: vector<32xi8>, %sums: vector<8xi32>) -> vector<8xi32> {
  %a = kernel.dot %levels to 15, %x plus %sums : vector<32xi8> -> vector<8xi32>
  %b = kernel.dot %levels to 15, %x plus %a : vector<32xi8> -> vector<8xi32>
  %c = kernel.dot %levels to 15, %x plus %b : vector<32xi8> -> vector<8xi32>
  %d = kernel.dot %levels to 15, %x plus %c : vector<32xi8> -> vector<8xi32>
  %other = arith.addi %sums, %sums : vector<8xi32>
  %r = arith.addi %other, %d : vector<8xi32>
  return %r : vector<8xi32>
}

// Levels of another kind begin a run of their own.
// PAIRS-LABEL: @unlike
// PAIRS: pmadd.ub.sw
// PAIRS: pmadd.wd
// PAIRS: pmadd.ub.sw
// PAIRS: pmadd.wd
// PAIRS: return
func.func @unlike(%levels: vector<32xi8>, %x: vector<32xi8>, %sums: vector<8xi32>) -> vector<8xi32> {
  %a = kernel.dot %levels to 15, %x plus %sums : vector<32xi8> -> vector<8xi32>
  %b = kernel.dot %levels to 63, %x plus %a : vector<32xi8> -> vector<8xi32>
  return %b : vector<8xi32>
}

// VNNI-LABEL: @table
// VNNI: %[[TABLE:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1, 0, 1,
// VNNI: llvm.call_intrinsic "llvm.x86.avx512.pshuf.b.512"(%[[TABLE]], %arg0)
// VNNI: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// PAIRS-LABEL: @table
// PAIRS: llvm.call_intrinsic "llvm.x86.avx512.pshuf.b.512"
func.func @table(%places: vector<64xi8>, %few: vector<32xi8>) -> (vector<64xi8>, vector<32xi8>) {
  %r = kernel.table_lookup %places in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1] : vector<64xi8>
  %f = kernel.table_lookup %few in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1] : vector<32xi8>
  return %r, %f : vector<64xi8>, vector<32xi8>
}

// By powers of two LLVM multiplies where a processor has an instruction.
// VNNI-LABEL: @power
// VNNI: llvm.call_intrinsic "llvm.ldexp"(%arg0, %arg1)
// PAIRS-LABEL: @power
// PAIRS: llvm.call_intrinsic "llvm.ldexp"
func.func @power(%number: vector<16xf32>, %power: vector<16xi32>) -> vector<16xf32> {
  %r = kernel.ldexp %number by %power : vector<16xf32>, vector<16xi32>
  return %r : vector<16xf32>
}

// -----

func.func @few(%places: vector<16xi8>) -> vector<16xi8> {
  // expected-error@+1 {{has 16 places; }}
  %r = kernel.table_lookup %places in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1] : vector<16xi8>
  return %r : vector<16xi8>
}

// -----

func.func @narrow(%levels: vector<16xi8>, %x: vector<16xi8>, %sums: vector<4xi32>) -> vector<4xi32> {
  // expected-error@+1 {{has 4 sums; }}
  %r = kernel.dot %levels, %x plus %sums : vector<16xi8> -> vector<4xi32>
  return %r : vector<4xi32>
}

// -----

func.func @signed(%levels: vector<64xi8>, %x: vector<64xi8>, %sums: vector<16xi32>) -> vector<16xi32> {
  // expected-error@+1 {{has 16 sums of signed codes; }}
  %r = kernel.dot %levels, %x plus %sums signed : vector<64xi8> -> vector<16xi32>
  return %r : vector<16xi32>
}
