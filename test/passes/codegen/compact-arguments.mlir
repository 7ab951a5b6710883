// SPDX-License-Identifier: Apache-2.0
// compact-arguments: what is passed of a buffer, and what the function makes of it.
// RUN: talc-opt %s -compact-arguments | FileCheck %s

// Rows are unknown; everything else stands in the type.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[ADDRESS:.*]]: !llvm.ptr, %[[ROWS:.*]]: i64, %[[I:.*]]: index) -> f32
// CHECK: %[[EMPTY:.*]] = llvm.mlir.poison
// CHECK: %[[A:.*]] = llvm.insertvalue %[[ADDRESS]], %[[EMPTY]][0]
// CHECK: %[[B:.*]] = llvm.insertvalue %[[ADDRESS]], %[[A]][1]
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: %[[C:.*]] = llvm.insertvalue %[[NONE]], %[[B]][2]
// CHECK: %[[D:.*]] = llvm.insertvalue %[[ROWS]], %[[C]][3, 0]
// CHECK: %[[STRIDE:.*]] = llvm.mlir.constant(8 : i64)
// CHECK: %[[E:.*]] = llvm.insertvalue %[[STRIDE]], %[[D]][4, 0]
// CHECK: %[[X:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?x8xf32>
// CHECK: memref.load %[[X]][%[[I]], %[[I]]]
func.func @rows(%x: memref<?x8xf32>, %i: index) -> f32 {
  %0 = memref.load %x[%i, %i] : memref<?x8xf32>
  return %0 : f32
}

// A column of wider rows: the offset is known to both sides.
// CHECK-LABEL: func.func @part(%{{.*}}: !llvm.ptr, %{{.*}}: i64)
// CHECK: llvm.mlir.constant(3 : i64)
func.func @part(%x: memref<?x8xf32, strided<[24, 1], offset: 3>>) {
  return
}

// All is unknown: offset, size, stride, size, stride. The order is the same on both sides.
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME: %[[P:[^:]*]]: !llvm.ptr, %[[O:[^:]*]]: i64, %[[N0:[^:]*]]: i64, %[[S0:[^:]*]]: i64, %[[N1:[^:]*]]: i64, %[[S1:[^:]*]]: i64)
// CHECK: llvm.insertvalue %[[O]], %{{.*}}[2]
// CHECK: llvm.insertvalue %[[N0]], %{{.*}}[3, 0]
// CHECK: llvm.insertvalue %[[S0]], %{{.*}}[4, 0]
// CHECK: llvm.insertvalue %[[N1]], %{{.*}}[3, 1]
// CHECK: llvm.insertvalue %[[S1]], %{{.*}}[4, 1]
func.func @unknown(%x: memref<?x?xf32, strided<[?, ?], offset: ?>>) {
  return
}

// Code of a declared function comes from elsewhere, under the same convention.
// CHECK: func.func private @declared(i64, !llvm.ptr, !llvm.ptr, i64)
func.func private @declared(i64, memref<4x2xf32>, memref<?xi32>)

// CHECK-LABEL: func.func @calls(
// CHECK: %[[FIXED:.*]] = llvm.extractvalue %{{.*}}[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
// CHECK: %[[IDS:.*]] = llvm.extractvalue %{{.*}}[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
// CHECK: %[[COUNT:.*]] = llvm.extractvalue %{{.*}}[3, 0]
// CHECK: call @declared(%{{.*}}, %[[FIXED]], %[[IDS]], %[[COUNT]]) : (i64, !llvm.ptr, !llvm.ptr, i64) -> ()
func.func @calls(%n: i64, %fixed: memref<4x2xf32>, %ids: memref<?xi32>) {
  call @declared(%n, %fixed, %ids) : (i64, memref<4x2xf32>, memref<?xi32>) -> ()
  // CHECK: %[[P:.*]] = llvm.extractvalue %{{.*}}[1]
  // CHECK: %[[O:.*]] = llvm.extractvalue %{{.*}}[2]
  // CHECK: %[[N0:.*]] = llvm.extractvalue %{{.*}}[3, 0]
  // CHECK: %[[S0:.*]] = llvm.extractvalue %{{.*}}[4, 0]
  // CHECK: %[[N1:.*]] = llvm.extractvalue %{{.*}}[3, 1]
  // CHECK: %[[S1:.*]] = llvm.extractvalue %{{.*}}[4, 1]
  // CHECK: call @unknown(%[[P]], %[[O]], %[[N0]], %[[S0]], %[[N1]], %[[S1]])
  %unknown = memref.cast %fixed : memref<4x2xf32> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  call @unknown(%unknown) : (memref<?x?xf32, strided<[?, ?], offset: ?>>) -> ()
  return
}

// Other memory, and layouts that strides do not describe, are left to upstream.
// CHECK-LABEL: func.func @others(%arg0: memref<4xf32, 3>, %arg1: memref<4x4xf32, #{{.*}}>, %arg2: memref<*xf32>) {
// CHECK: call @others(%arg0, %arg1, %arg2)
func.func @others(%x: memref<4xf32, 3>, %y: memref<4x4xf32, affine_map<(i, j) -> (j floordiv 2, i)>>, %z: memref<*xf32>) {
  call @others(%x, %y, %z) : (memref<4xf32, 3>, memref<4x4xf32, affine_map<(i, j) -> (j floordiv 2, i)>>, memref<*xf32>) -> ()
  return
}
