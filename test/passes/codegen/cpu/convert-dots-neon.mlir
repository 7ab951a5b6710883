// SPDX-License-Identifier: Apache-2.0
// convert-dots for 64-bit ARM: sdot where there is one, else products of words whose sums of two fit in 16 bits.
// RUN: talc-opt %s -convert-dots="instructions=dotprod" -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=DOT
// RUN: talc-opt %s -convert-dots="instructions=neon" -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=WORDS

// DOT-LABEL: @signed
// DOT-NEXT: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%arg2, %arg0, %arg1)
// DOT-NEXT: return
// WORDS-LABEL: @signed
// WORDS-DAG: %[[LOW:.*]] = vector.shuffle %arg0, %arg0 [0, 1, 2, 3, 4, 5, 6, 7]
// WORDS-DAG: %[[HIGH:.*]] = vector.shuffle %arg0, %arg0 [8, 9, 10, 11, 12, 13, 14, 15]
// WORDS-DAG: arith.extsi %[[LOW]] : vector<8xi8> to vector<8xi16>
// WORDS-DAG: %[[WIDER:.*]] = arith.extsi %[[HIGH]] : vector<8xi8> to vector<8xi16>
// WORDS-DAG: %[[PRODUCTS:.*]] = arith.muli %[[WIDER]], %{{.*}} : vector<8xi16>
// WORDS: %[[TWOS:.*]] = llvm.call_intrinsic "llvm.aarch64.neon.addp.v8i16"(%{{.*}}, %[[PRODUCTS]])
// WORDS-NEXT: %[[FOURS:.*]] = llvm.call_intrinsic "llvm.aarch64.neon.saddlp.v4i32.v8i16"(%[[TWOS]])
// WORDS-NEXT: arith.addi %arg2, %[[FOURS]] : vector<4xi32>
func.func @signed(%levels: vector<16xi8>, %x: vector<16xi8>, %sums: vector<4xi32>) -> vector<4xi32> {
  %r = kernel.dot %levels, %x plus %sums signed : vector<16xi8> -> vector<4xi32>
  return %r : vector<4xi32>
}

// Levels of seven bits have no sign to lose.
// DOT-LABEL: @seven
// DOT: sdot
// WORDS-LABEL: @seven
// WORDS: saddlp
func.func @seven(%levels: vector<16xi8>, %x: vector<16xi8>, %sums: vector<4xi32>) -> vector<4xi32> {
  %r = kernel.dot %levels, %x plus %sums : vector<16xi8> -> vector<4xi32>
  return %r : vector<4xi32>
}

// DOT-LABEL: @table
// DOT: %[[TABLE:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1]>
// DOT: llvm.call_intrinsic "llvm.aarch64.neon.tbl1.v16i8"(%[[TABLE]], %arg0)
// WORDS-LABEL: @table
// WORDS: tbl1
func.func @table(%places: vector<16xi8>) -> vector<16xi8> {
  %r = kernel.table_lookup %places in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1] : vector<16xi8>
  return %r : vector<16xi8>
}

// -----

func.func @wide(%levels: vector<16xi8>, %x: vector<16xi8>, %sums: vector<4xi32>) -> vector<4xi32> {
  // expected-error@+1 {{has 4 sums of wide codes; }}
  %r = kernel.dot %levels to 255, %x plus %sums : vector<16xi8> -> vector<4xi32>
  return %r : vector<4xi32>
}

// -----

func.func @eight(%levels: vector<32xi8>, %x: vector<32xi8>, %sums: vector<8xi32>) -> vector<8xi32> {
  // expected-error@+1 {{has 8 sums; }}
  %r = kernel.dot %levels, %x plus %sums : vector<32xi8> -> vector<8xi32>
  return %r : vector<8xi32>
}

// -----

func.func @both(%levels: vector<16xi8>, %x: vector<16xi8>, %sums: vector<4xi32>) -> vector<4xi32> {
  // expected-error@+1 {{has codes up to 255, expected 1 to 127}}
  %r = kernel.dot %levels to 255, %x plus %sums signed : vector<16xi8> -> vector<4xi32>
  return %r : vector<4xi32>
}
