// SPDX-License-Identifier: Apache-2.0
// Measures how far the polynomials of expand-math are from exp, exp2, tanh and erf, over all floats; the bounds are in expand_math.c.
// RUN: talc-opt %s -expand-math -convert-vector-to-llvm -convert-math-to-llvm -convert-arith-to-llvm -convert-func-to-llvm -reconcile-unrealized-casts -o %t.mlir
// RUN: mlir-translate -mlir-to-llvmir %t.mlir -o %t.ll
// RUN: %cc -O2 -march=x86-64-v3 -Wno-override-module %t.ll %S/expand_math.c -lm -o %t
// RUN: %t

func.func @vectorExp(%from: !llvm.ptr, %to: !llvm.ptr) {
  %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  %y = math.exp %x : vector<8xf32>
  llvm.store %y, %to {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  return
}
func.func @vectorExp2(%from: !llvm.ptr, %to: !llvm.ptr) {
  %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  %y = math.exp2 %x : vector<8xf32>
  llvm.store %y, %to {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  return
}
func.func @vectorTanh(%from: !llvm.ptr, %to: !llvm.ptr) {
  %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  %y = math.tanh %x : vector<8xf32>
  llvm.store %y, %to {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  return
}
func.func @vectorErf(%from: !llvm.ptr, %to: !llvm.ptr) {
  %x = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  %y = math.erf %x : vector<8xf32>
  llvm.store %y, %to {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
  return
}
