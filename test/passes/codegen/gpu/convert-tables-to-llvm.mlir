// SPDX-License-Identifier: Apache-2.0
// convert-tables-to-llvm: where in StepTables, and behind a state's address, kernels look.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -convert-tables-to-llvm -canonicalize | FileCheck %s

// Words 0 and 1 are counts, word 2 is the place of the ids, in words from the beginning.
// CHECK-LABEL: func.func @counts(
// CHECK-SAME: %[[S:.*]]: !llvm.ptr
// CHECK: llvm.load %[[S]] : !llvm.ptr -> i32
// CHECK: %[[SPANS:.*]] = llvm.getelementptr %[[S]][4]
// CHECK: llvm.load %[[SPANS]]
func.func @counts(%s: !kernel.step) -> (index, index) {
  %rows = kernel.token_count %s
  %spans = kernel.span_count %s
  return %rows, %spans : index, index
}

// CHECK-LABEL: func.func @id(
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[8]
// CHECK: %[[WORD:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i32
// CHECK: %[[PLACE:.*]] = llvm.sext %[[WORD]]
// CHECK: llvm.mul %[[PLACE]], %{{.*}} : i64
func.func @id(%s: !kernel.step, %t: index) -> index {
  %id = kernel.id %s[%t]
  return %id : index
}

// -----

// Values lie behind the keys: 64 tokens of 16 f32.
// CHECK-LABEL: func.func @state(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[STATE:.*]]: !llvm.ptr, %[[SLOT:.*]]: index
// CHECK-DAG: llvm.mlir.constant(12288 : i64)
// CHECK-DAG: llvm.mlir.constant(4096 : i64)
// CHECK: llvm.getelementptr %[[STATE]]
module attributes {talc.plan = {state_bytes_per_slot = 12288 : i64}} {
  func.func @state(%s: !kernel.step, %kv: !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %slot: index, %p: index) -> f32 {
    %values = kernel.values %s, %kv[%slot] : !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>> -> memref<4x1x16x16xf32>
    %v = memref.load %values[%p, %p, %p, %p] : memref<4x1x16x16xf32>
    return %v : f32
  }
}

// -----

func.func @thread(%s: !kernel.step) -> index {
  // expected-error @+1 {{has no meaning in a workgroup}}
  %t = kernel.worker %s
  return %t : index
}

// -----

func.func @unplanned(%s: !kernel.step, %kv: !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>>, %slot: index) {
  // expected-error @+1 {{has no place in memory; plan-memory gives it one}}
  %keys = kernel.keys %s, %kv[%slot] : !talc.kv_cache<1 x 16 x 64 in #kernel.kv_panels<16 x f32>> -> memref<4x1x16x16xf32>
  return
}
