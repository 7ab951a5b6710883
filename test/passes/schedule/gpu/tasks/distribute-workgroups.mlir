// SPDX-License-Identifier: Apache-2.0
// distribute-workgroups: which task is whose, and how many workgroups a launch takes.
// RUN: talc-opt %s -split-input-file -verify-diagnostics -distribute-workgroups | FileCheck %s

// A row for each workgroup; the rows are those of argument 1.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 64, grid = <rows_argument = 1>>
// CHECK: %[[X:.*]] = gpu.block_id x
// CHECK: %[[END:.*]] = arith.addi %[[X]], %{{.*}}
// CHECK: call @body(%[[X]], %[[END]])
// CHECK-NOT: kernel.tasks
func.func private @rows(%s: !kernel.step, %x: memref<?x64xf32>) attributes {kernel.op = "norm", kernel.launch = #kernel.launch<threads = 64>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  kernel.tasks %s over rows by rows of(%n) {
  ^bb0(%p0: index, %p1: index):
    func.call @body(%p0, %p1) : (index, index) -> ()
  }
  return
}
func.func private @body(index, index)

// -----

// Blocks of rows by groups of panels: ceil(rows / 8) x ceil(10 / 4).
// CHECK-LABEL: func.func private @tiles(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 64, grid = <rows_argument = 1, divisor = 8, y = 3>>
// CHECK: gpu.block_id x
// CHECK: gpu.block_id y
// CHECK: call @body
func.func private @tiles(%s: !kernel.step, %x: memref<?x64xf32>) attributes {kernel.op = "matmul", kernel.launch = #kernel.launch<threads = 64>} {
  %c0 = arith.constant 0 : index
  %c10 = arith.constant 10 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  kernel.tasks %s over tiles by adaptive of(%n, %c10) grain [8, 4] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    func.call @body(%p0, %p1, %p2, %p3, %p4) : (index, index, index, index, index) -> ()
  }
  return
}
func.func private @body(index, index, index, index, index)

// -----

// Queries: a workgroup for each row and head, whose sequence is looked for.
// CHECK-LABEL: func.func private @queries(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 64, grid = <rows_argument = 1, y = 6>>
// CHECK: kernel.span_count
// CHECK: scf.for
// CHECK: kernel.span
// CHECK: call @body
func.func private @queries(%s: !kernel.step, %x: memref<?x64xf32>) attributes {kernel.op = "attention", kernel.launch = #kernel.launch<threads = 64>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  kernel.tasks %s over queries by heads of(%n, %c2, %c3) grain [1, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    func.call @body(%p0, %p1, %p2, %p3, %p4) : (index, index, index, index, index) -> ()
  }
  return
}
func.func private @body(index, index, index, index, index)

// -----

// With 24 queries of a head for each token and 16 in a task, a row has one or two tasks: rows 0, 1, 2 begin at the queries
// 0, 24, 48, tasks at 0, 16, 32, 48.
// CHECK-LABEL: func.func private @blocks(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 64, grid = <rows_argument = 1, y = 4>>
// CHECK: kernel.span
// CHECK: %[[OF_ROW:.*]] = arith.muli %{{.*}}, %c24
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c16
// CHECK: %[[NEXT:.*]] = arith.addi %[[OF_ROW]], %c24
// CHECK: %[[BEGINS:.*]] = arith.cmpi slt, %[[FIRST]], %[[NEXT]]
// CHECK: scf.if %[[BEGINS]]
// CHECK: %[[COUNT:.*]] = arith.minsi %{{.*}}, %c16
// CHECK: call @body(%{{.*}}, %{{.*}}, %{{.*}}, %[[FIRST]], %[[COUNT]])
func.func private @blocks(%s: !kernel.step, %x: memref<?x64xf32>) attributes {kernel.op = "attention", kernel.launch = #kernel.launch<threads = 64>} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c24 = arith.constant 24 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  kernel.tasks %s over queries by heads of(%n, %c2, %c24) grain [16, 1] {
  ^bb0(%p0: index, %p1: index, %p2: index, %p3: index, %p4: index):
    func.call @body(%p0, %p1, %p2, %p3, %p4) : (index, index, index, index, index) -> ()
  }
  return
}
func.func private @body(index, index, index, index, index)

// -----

// Blocks of keys: a workgroup for each that there may be, of which those do something that the row sees.
// CHECK-LABEL: func.func private @keys(
// CHECK-SAME: kernel.launch = #kernel.launch<threads = 64, grid = <plus = 5, y = 2>>
// CHECK: scf.if
// CHECK: memref.store
func.func private @keys(%s: !kernel.step, %first: index, %end: index, %parts: memref<5x96xf32>) attributes {kernel.op = "attention", kernel.launch = #kernel.launch<threads = 64>} {
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  kernel.tasks %s over keys by heads of(%first, %end, %c2) {
  ^bb0(%p0: index, %p1: index):
    memref.store %zero, %parts[%p0, %p1] : memref<5x96xf32>
  }
  return
}

// -----

func.func private @unknown(%s: !kernel.step, %n: index) attributes {kernel.op = "norm", kernel.launch = #kernel.launch<threads = 64>} {
  // expected-error @+1 {{has as many rows as no argument}}
  kernel.tasks %s over rows by rows of(%n) {
  ^bb0(%p0: index, %p1: index):
    func.call @body(%p0, %p1) : (index, index) -> ()
  }
  return
}
func.func private @body(index, index)
